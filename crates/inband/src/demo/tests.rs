use std::time::Duration;

use super::words::{count, occupancy, shares, span};
use super::{LONGEST, parse_duration, parse_loopback};
use inband_model::{CulpritFlow, Flow, Nanos};

#[test]
fn durations_have_a_unit_or_are_seconds() {
    assert_eq!(parse_duration("20"), Ok(Duration::from_secs(20)));
    assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1_500)));
    assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
    assert_eq!(parse_duration("1m"), Ok(Duration::from_secs(60)));
    assert_eq!(parse_duration("1day"), Ok(LONGEST));
    for wrong in ["", "0", "-1", "nan", "inf", "1x", "2days", "1e300"] {
        assert!(parse_duration(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_are_said_for_people() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(
        [0, 1_250, 999_999, 1_000_000, 24_960_000].map(|nanos| span(Nanos(nanos))),
        ["0.0 us", "1.2 us", "999.9 us", "1.0 ms", "24.9 ms"]
    );
    assert_eq!([0, 1_023, 1_024, 325_632].map(occupancy), ["0 B", "1023 B", "1.0 KiB", "318.0 KiB"]);
}

#[test]
fn questions_are_answered_on_a_loopback_address_only() {
    for address in ["127.0.0.1:8080", "127.9.9.9:0", "[::1]:1"] {
        assert_eq!(parse_loopback(address).unwrap().to_string(), address);
    }
    for wrong in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:1", "127.0.0.1", "here:1", ""] {
        assert!(parse_loopback(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn culprits_are_said_by_the_largest_share_and_how_many_more() {
    let culprit = |share_permille| CulpritFlow { flow: Flow::default(), bytes: 1, share_permille };
    let flow = Flow::default().to_string();
    assert_eq!(shares(&[]), "");
    assert_eq!(shares(&[culprit(1_000)]), format!("100 % {flow}"));
    assert_eq!(shares(&[culprit(379), culprit(370), culprit(61)]), format!("37 % {flow}, and 2 more"));
}
