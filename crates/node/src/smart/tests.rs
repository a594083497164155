//! Valid and invalid `[smart]` settings.

use crate::config::SmartConfig;

use super::check;

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
