use inband_linux::device::Device;

use super::{Facts, Obstacle, exceeds};

#[test]
fn queues_that_cannot_be_listed_are_an_obstacle_unless_the_fast_path_is_demanded() {
    let devices = [Device { index: 1, ..Device::default() }];
    let facts = |is_demanded| Facts { devices: &devices, is_demanded, qdiscs: None, everywhere: None };

    assert_eq!(facts(false).against_leaving(1), Some(Obstacle::Filters));
    assert!(facts(false).has_filters(1));
    assert_eq!(facts(true).against_leaving(1), None);
}

#[test]
fn a_setting_that_cannot_be_read_exceeds_every_number() {
    assert!(!exceeds("ipv4/no_such_setting", 0));
    // A folder has no number.
    assert!(exceeds("ipv4", 0));
}
