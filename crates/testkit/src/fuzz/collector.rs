//! Fuzz target for the collector.

use std::net::{Ipv4Addr, SocketAddr};

use inband_collector::{Collector, CollectorSettings};
use inband_model::Nanos;

/// Maximum number of datagrams of one input.
const MAX_DATAGRAMS: usize = 64;

/// Datagrams, each preceded by its length in two bytes and the milliseconds since the previous one in one
/// byte.
///
/// # Panics
/// A ledger that does not balance, or a timeout that does not advance.
pub fn collector(mut input: &[u8]) {
    let mut collector = Collector::new(CollectorSettings::default());
    let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 40000));
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, 32766));
    let mut now = 1_700_000_000_000_000_000_u64;
    let mut received = 0;
    for _ in 0..MAX_DATAGRAMS {
        let Some(([high, low, later], rest)) = input.split_first_chunk() else { break };
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (datagram, rest) = rest.split_at(length);
        input = rest;
        now += u64::from(*later) * 1_000_000;
        collector.handle_datagram(Nanos(now), from, to, datagram);
        received += 1;
        while collector.poll_output().is_some() {}
    }
    while let Some(due) = collector.poll_timeout().filter(|due| *due <= Nanos(now + 60_000_000_000)) {
        collector.handle_timeout(due);
        while collector.poll_output().is_some() {}
        assert!(
            collector.poll_timeout().is_none_or(|next| next > due),
            "a timeout that was handled is due again"
        );
    }
    let total = collector.ledger();
    assert_eq!(total.received, received);
    assert_eq!(total.received, total.malformed + total.shed + total.duplicate + total.accepted);
}
