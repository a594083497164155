//! Quantities in the notation of topologies.

use std::time::Duration;

use super::{Network, Rate, Span};

#[test]
fn rates_have_a_unit_and_are_written_as_they_are_read() {
    for (text, bits) in [("100Mbit", 100_000_000), ("1Gbit", 1_000_000_000), ("1.5Mbit", 1_500_000), ("0", 0)]
    {
        assert_eq!(text.parse(), Ok(Rate(bits)), "{text}");
    }
    assert_eq!(Rate(1_500_000).to_string(), "1500kbit");
    for wrong in ["", "100", "fast", "-1Mbit", "1Tbit", "1bit", "500Gbit", "1e9bit"] {
        assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
    }
}

#[test]
fn times_may_have_a_fraction_of_a_second() {
    assert_eq!("50us".parse(), Ok(Span(Duration::from_micros(50))));
    assert_eq!("2.5s".parse(), Ok(Span(Duration::from_millis(2_500))));
    for wrong in ["", "5", "-1s", "soon", "2days", "1e300s", "NaNs"] {
        assert!(wrong.parse::<Span>().is_err(), "{wrong}");
    }
}

#[test]
fn a_network_knows_its_addresses() {
    let network: Network = "10.0.1.7/24".parse().unwrap();
    assert_eq!(network.network().to_string(), "10.0.1.0/24");
    assert_eq!(network.last().to_string(), "10.0.1.254");
    assert!(network.contains("10.0.1.200".parse().unwrap()));
    assert!(!network.contains("10.0.2.1".parse().unwrap()));
    assert!(!network.contains("fd00::1".parse().unwrap()));
    let network: Network = "fd00:1::1/64".parse().unwrap();
    assert_eq!(network.last().to_string(), "fd00:1::ffff:ffff:ffff:fffe");
    assert_eq!("10.0.0.0/31".parse::<Network>().unwrap().last().to_string(), "10.0.0.1");
    assert_eq!("0.0.0.0/0".parse::<Network>().unwrap().network().to_string(), "0.0.0.0/0");
    for wrong in ["10.0.1.1", "10.0.1.1/33", "fd00::/129", "h1/24", "10.0.1.1/-1"] {
        assert!(wrong.parse::<Network>().is_err(), "{wrong}");
    }
}
