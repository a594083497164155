use std::net::IpAddr;

use super::Prefix;

#[test]
fn holds_the_addresses_up_to_both_of_its_ends() {
    for (prefix, inside, outside) in [
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]),
        ("10.1.2.3/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]),
        ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127", "192.0.3.128"]),
        ("192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
        ("fd00::/8", ["fd00::", "fdff::1"], ["fc00::", "10.0.0.1"]),
        ("::1/128", ["::1", "::1"], ["::", "::2"]),
    ] {
        let parsed: Prefix = prefix.parse().unwrap();
        assert!(inside.map(address).iter().all(|inside| parsed.contains(*inside)), "{prefix}");
        assert!(!outside.map(address).iter().any(|outside| parsed.contains(*outside)), "{prefix}");
    }
}

#[test]
fn a_length_of_zero_holds_every_address_of_its_family() {
    let all: Prefix = "0.0.0.0/0".parse().unwrap();

    assert!(all.contains(address("255.255.255.255")));
    assert!(!all.contains(address("::1")));
}

#[test]
fn what_is_no_prefix_is_refused() {
    for text in
        ["", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0/8", "all", "1.2.3.4/8/8"]
    {
        assert!(text.parse::<Prefix>().is_err(), "{text}");
    }
}

#[test]
fn is_written_as_it_is_read() {
    for text in ["10.0.0.0/8", "0.0.0.0/0", "fd00::/8", "::1/128"] {
        assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}
