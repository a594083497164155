//! Five-tuples: as text, and spread over 32 bits.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;
use std::string::ToString;

use super::FiveTuple;

const FLOW: FiveTuple = FiveTuple {
    source: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
    destination: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
    protocol: 6,
    source_port: 1234,
    destination_port: 80,
};

#[test]
fn a_flow_reads_as_addresses_with_ports() {
    assert_eq!(FLOW.to_string(), "10.0.0.1:1234 > 10.0.0.2:80 protocol 6");
}

#[test]
fn every_field_changes_the_entropy() {
    let other = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let changed = [
        FLOW,
        FiveTuple { source: other, ..FLOW },
        FiveTuple { destination: other, ..FLOW },
        FiveTuple { protocol: 17, ..FLOW },
        FiveTuple { source_port: 1235, ..FLOW },
        FiveTuple { destination_port: 81, ..FLOW },
    ];
    let values: BTreeSet<u32> = changed.iter().map(FiveTuple::entropy).collect();
    assert_eq!(values.len(), changed.len());
}

#[test]
fn entropy_of_neighbouring_ports_fills_the_low_bits_evenly() {
    // int-2.1/l4-08: it is the source port of a new UDP header, and only a few of its bits choose the path.
    let mut counts = [0; 16];
    for source_port in 0..16_000 {
        let low = FiveTuple { source_port, ..FLOW }.entropy() & 0xf;
        counts[usize::try_from(low).unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
}
