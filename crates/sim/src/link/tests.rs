use super::{LinkConfig, Utilization};
use crate::time::MILLISECOND;

#[test]
fn a_full_size_frame_takes_its_time_on_gigabit_ethernet() {
    let link = LinkConfig { bits_per_second: 1_000_000_000, propagation_ns: 500 };

    // 1514 bytes of frame and 24 bytes around it, 8 ns a byte: the well-known 81 274 frames a second.
    assert_eq!(link.transmission_ns(1514), 12_304);
}

#[test]
fn a_transmission_is_rounded_up_to_the_next_nanosecond() {
    let link = LinkConfig { bits_per_second: 100_000_000_000, propagation_ns: 0 };

    assert_eq!(link.transmission_ns(64), 8); // 88 bytes, 7.04 ns
}

#[test]
fn utilization_settles_at_the_load_offered_and_decays_when_the_port_falls_silent() {
    let mut utilization = Utilization::default();
    let mut now = 0;
    for _ in 0..2_000 {
        utilization.add(now, 2_500);
        now += 10_000;
    }

    let loaded = utilization.hundredths_of_percent(now);
    let silent = utilization.hundredths_of_percent(now + MILLISECOND);

    assert!((2_400..=2_600).contains(&loaded), "a quarter of the time is 2500, not {loaded}");
    assert_eq!(silent, 0);
}

#[test]
fn a_saturated_port_is_used_to_100_percent() {
    let mut utilization = Utilization::default();
    for frame in 0..1_000 {
        utilization.add(frame * 12_304, 12_304);
    }

    let full = utilization.hundredths_of_percent(1_000 * 12_304);

    assert!((9_800..=10_000).contains(&full), "{full}");
}
