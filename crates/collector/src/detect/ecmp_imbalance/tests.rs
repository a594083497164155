//! Are the measures of balance what their definitions say?

use super::{highest_to_mean, jain};

#[test]
fn equal_rates_are_one_and_one_of_n_is_n_and_its_inverse() {
    assert_eq!((highest_to_mean(&[5, 5, 5]), jain(&[5, 5, 5])), (1_000, 1_000));
    assert_eq!((highest_to_mean(&[9, 0, 0]), jain(&[9, 0, 0])), (3_000, 333));
    assert_eq!((highest_to_mean(&[0, 0]), jain(&[0, 0])), (0, 1_000));
}

#[test]
fn measures_lie_on_both_sides_of_their_defaults() {
    // The mean is 100.
    assert_eq!(highest_to_mean(&[130, 70]), 1_300);
    assert_eq!(highest_to_mean(&[131, 69]), 1_310);
    assert_eq!(jain(&[100, 50]), 900);
    assert_eq!(jain(&[100, 49]), 895);
}

#[test]
fn rates_beyond_all_measure_do_no_harm() {
    assert_eq!(jain(&[u64::MAX; 32]), 1_000);
    assert_eq!(highest_to_mean(&[u64::MAX; 32]), 1_000);
}
