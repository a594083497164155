use super::Load;

const TENTH: u64 = 100_000_000;
const GIGABIT: Option<u64> = Some(1_000_000_000);
/// The bytes that a full link of 1 Gb/s sends in a tenth of a second.
const FULL_BYTES: u64 = 12_500_000;

/// The load after each tenth of a second, given the bytes sent in it.
fn after(bits_per_second: Option<u64>, sent: &[u64]) -> Vec<Option<u32>> {
    let mut load = Load::over(bits_per_second);
    let mut total = 1 << 40;
    load.note(total, 0);
    let looks = (1..).zip(sent).map(|(number, bytes)| {
        total += bytes;
        load.note(total, number * TENTH);
        load.utilization()
    });
    looks.collect()
}

#[test]
fn a_share_of_the_link_is_told_in_hundredths_of_a_percent() {
    assert_eq!(after(GIGABIT, &[FULL_BYTES / 4]), [Some(2_500)]);
    assert_eq!(after(GIGABIT, &[0, 0]), [Some(0), Some(0)]);
    assert_eq!(after(GIGABIT, &[FULL_BYTES, FULL_BYTES]), [Some(10_000), Some(10_000)]);
    // Bytes waiting in the device may leave faster than the link's speed.
    assert_eq!(after(GIGABIT, &[u64::MAX >> 20]), [Some(10_000)]);
}

#[test]
fn each_look_is_a_quarter_of_the_mean() {
    assert_eq!(after(GIGABIT, &[FULL_BYTES, 0, 0]), [Some(10_000), Some(7_500), Some(5_625)]);
    let settled = after(GIGABIT, &[&[0][..], &[FULL_BYTES / 2; 30]].concat());
    assert_eq!(settled.last(), Some(&Some(4_999)));
}

#[test]
fn a_late_look_has_the_weight_of_its_time() {
    let mut load = Load::over(GIGABIT);
    load.note(0, 0);
    load.note(FULL_BYTES, TENTH);
    // After a second, and after more than a mean covers.
    load.note(FULL_BYTES, 11 * TENTH);
    assert_eq!(load.utilization(), after(GIGABIT, &[&[FULL_BYTES][..], &[0; 10]].concat())[10]);
    assert_eq!(load.utilization(), Some(563));
    load.note(11 * FULL_BYTES, 21 * TENTH);
    assert!(load.utilization() > Some(9_400));
    load.note(11 * FULL_BYTES, u64::MAX);
    assert_eq!(load.utilization(), Some(0));
}

#[test]
fn nothing_is_known_of_a_link_without_a_rate_and_after_numbers_that_begin_anew() {
    assert_eq!(after(None, &[FULL_BYTES]), [None]);
    let mut load = Load::over(GIGABIT);
    for (sent, now) in [(1_000_000, 0), (2_000_000, TENTH)] {
        load.note(sent, now);
    }
    assert!(load.utilization().is_some());
    load.note(7, 2 * TENTH);
    assert_eq!(load.utilization(), None);
    load.note(7 + FULL_BYTES / 2, 3 * TENTH);
    assert_eq!(load.utilization(), Some(5_000));
    // The same moment twice has no effect.
    load.note(9 + FULL_BYTES, 3 * TENTH);
    assert_eq!(load.utilization(), None);
}
