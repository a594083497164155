//! Latency changes at their thresholds.

use crate::config::LatencyChange;

use super::{Latencies, Sensitivity, Step};

fn sensitivity(hop_ns: u32, one_way_ns: u32) -> Sensitivity {
    Sensitivity { hop: Step::Difference(hop_ns), one_way: Step::Difference(one_way_ns) }
}

fn latencies(hop: u32, one_way: u32) -> Latencies {
    Latencies { hop, one_way }
}

#[test]
fn the_quantum_is_that_of_sd_fabric() {
    for (least_change_ns, mask) in [
        (0, 0xffff_ffff),
        (1, 0xffff_ffff),
        (2, 0xffff_fffe),
        (255, 0xffff_ff80),
        (256, 0xffff_ff00),
        (300, 0xffff_ff00),
        (511, 0xffff_ff00),
        (512, 0xffff_fe00),
        (u32::MAX, 0x8000_0000),
    ] {
        assert_eq!(Step::new(LatencyChange::Quantum, least_change_ns), Step::Quantum(mask));
    }
}

#[test]
fn a_difference_is_a_change_from_one_nanosecond_over_the_threshold() {
    for least in [0, 1, 256, 300, u32::MAX - 1] {
        let sensitivity = sensitivity(least, least);
        for (other, is_change) in [(least, false), (least + 1, true)] {
            assert_eq!(sensitivity.have_changed(latencies(0, 0), latencies(other, 0)), is_change, "{least}");
            assert_eq!(sensitivity.have_changed(latencies(other, 0), latencies(0, 0)), is_change, "{least}");
            assert_eq!(sensitivity.have_changed_upstream(&[7, other], &[7, 0]), is_change, "{least}");
        }
    }
}

#[test]
fn a_clock_around_the_sources_is_no_change_of_one_way_latency() {
    let sensitivity = sensitivity(256, 1000);
    assert!(!sensitivity.have_changed(latencies(0, 500), latencies(0, 500_u32.wrapping_sub(1000))));
    assert!(sensitivity.have_changed(latencies(0, 500), latencies(0, 500_u32.wrapping_sub(1001))));
}

#[test]
fn another_number_of_hops_with_latencies_is_a_change() {
    assert!(sensitivity(u32::MAX, 0).have_changed_upstream(&[1], &[1, 1]));
}
