//! The JSON and text forms of flows.

use std::net::IpAddr;

use super::Flow;

#[test]
fn json_keys_and_addresses_are_those_of_the_public_interface() {
    let flow = flow("10.0.0.1", "10.0.0.2", 6);

    let json = serde_json::to_string(&flow).unwrap();

    assert_eq!(
        json,
        r#"{"source":"10.0.0.1","destination":"10.0.0.2","protocol":6,"source_port":1234,"destination_port":80}"#
    );
    assert_eq!(serde_json::from_str::<Flow>(&json).unwrap(), flow);
}

#[test]
fn text_names_the_protocol_and_brackets_ipv6() {
    assert_eq!(flow("10.0.0.1", "10.0.0.2", 6).to_string(), "tcp 10.0.0.1:1234 > 10.0.0.2:80");
    assert_eq!(
        flow("2001:db8::1", "2001:db8::2", 17).to_string(),
        "udp [2001:db8::1]:1234 > [2001:db8::2]:80"
    );
    assert_eq!(flow("10.0.0.1", "10.0.0.2", 132).to_string(), "protocol 132 10.0.0.1:1234 > 10.0.0.2:80");
}

fn flow(source: &str, destination: &str, protocol: u8) -> Flow {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    Flow {
        source: address(source),
        destination: address(destination),
        protocol,
        source_port: 1234,
        destination_port: 80,
    }
}
