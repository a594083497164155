//! Least changes of latency are rounded down to a power of two.

use crate::config::SmartConfig;

use super::{check, latency_mask};

#[test]
fn the_latency_mask_is_that_of_sd_fabric() {
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
        assert_eq!(latency_mask(least_change_ns), mask, "{least_change_ns}");
    }
}

#[test]
fn sizes_and_intervals_out_of_range_are_refused_by_their_key() {
    for (text, key) in [
        ("interval_ms = 0", "smart.interval_ms"),
        ("flows = 16777217", "smart.flows"),
        ("drops = 16777217", "smart.drops"),
    ] {
        assert_eq!(check(&toml::from_str::<SmartConfig>(text).unwrap()).unwrap_err().key(), key);
    }
    assert_eq!(check(&toml::from_str::<SmartConfig>("interval_ms = 1\nflows = 16777216").unwrap()), Ok(()));
}
