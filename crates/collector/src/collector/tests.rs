//! Every datagram is counted in exactly one place.

use std::net::SocketAddr;

use inband_model::Nanos;
use inband_wire::report::GroupHeader;
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use zerocopy::IntoBytes;

use super::Collector;
use crate::settings::CollectorSettings;

/// A report without contents: a bare notification.
const EMPTY_REPORT: [u8; 4] = [0, 0, 0, 0];

#[test]
fn a_malformed_datagram_is_counted_by_its_fault_and_is_not_lost() {
    let mut collector = collector();
    collector.handle_datagram(now(0), sender(), session(), &datagram(1, 0, &EMPTY_REPORT));
    collector.handle_datagram(now(1), sender(), session(), &datagram(1, 1, &[0x00, 0xfe, 0x00, 0x00]));
    collector.handle_datagram(now(2), sender(), session(), &datagram(1, 2, &EMPTY_REPORT));
    collector.handle_datagram(now(3), sender(), session(), &[0x20, 0, 0]);

    collector.handle_timeout(now(1_000_000_000));

    let ledger = collector.ledger();
    assert_eq!((ledger.received, ledger.accepted, ledger.malformed, ledger.lost), (4, 2, 2, 0));
    let faults: Vec<_> =
        collector.malformed().map(|fault| (fault.header, fault.fault, fault.count)).collect();
    assert_eq!(
        faults,
        [("individual report", "value out of range", 1), ("report group header", "cut short", 1)]
    );
}

#[test]
fn a_group_counts_as_one_datagram_and_as_many_reports() {
    // report-2.0/group-06
    let mut collector = collector();

    collector.handle_datagram(now(0), sender(), session(), &datagram(1, 0, &EMPTY_REPORT.repeat(3)));

    let ledger = collector.ledger();
    assert_eq!((ledger.accepted, ledger.accepted_reports), (1, 3));
}

#[test]
fn what_never_reached_the_collector_is_counted_too() {
    let mut collector = collector();
    collector.handle_datagram(now(0), sender(), session(), &datagram(1, 0, &EMPTY_REPORT));

    collector.count_shed(3);
    collector.count_kernel_dropped(5);

    let ledger = collector.ledger();
    assert_eq!((ledger.received, ledger.shed, ledger.kernel_dropped), (4, 3, 5));
    assert!(ledger.balances());
}

#[test]
fn a_gap_is_a_loss_when_no_report_may_be_so_late() {
    let mut collector = collector();
    collector.handle_datagram(now(0), sender(), session(), &datagram(1, 0, &EMPTY_REPORT));
    assert_eq!(collector.poll_timeout(), None);

    collector.handle_datagram(now(7), sender(), session(), &datagram(1, 2, &EMPTY_REPORT));

    // 500 ms, by `paths.settle_ms`; `ledger.confirm_after_ms` alone would be less.
    assert_eq!(collector.poll_timeout(), Some(now(500_000_007)));
    collector.handle_timeout(now(500_000_007));
    assert_eq!(collector.ledger().lost, 1);
    // The remaining output is the end of the event.
    assert_eq!(collector.poll_timeout(), Some(now(60_500_000_007)));
}

proptest! {
    #[test]
    fn any_bytes_balance_and_do_not_panic(
        datagrams in prop::collection::vec(
            (0..3_u32, 0..64_u32, prop::collection::vec(any::<u8>(), 0..64), any::<bool>()),
            0..64,
        ),
    ) {
        let mut collector = collector();
        let count = datagrams.len() as u64;
        for (step, (node_id, sequence, bytes, has_header)) in datagrams.into_iter().enumerate() {
            let bytes = if has_header { datagram(node_id, sequence, &bytes) } else { bytes };
            let now = now(step as u64 * 50_000_000);
            collector.handle_datagram(now, sender(), session(), &bytes);
            collector.handle_timeout(now);
            while collector.poll_output().is_some() {}
        }

        let ledger = collector.ledger();
        prop_assert!(ledger.balances());
        prop_assert_eq!(ledger.received, count);
        prop_assert_eq!(collector.malformed().map(|fault| fault.count).sum::<u64>(), ledger.malformed);
        let streams = collector.ledger_view().streams;
        prop_assert_eq!(streams.iter().map(|stream| stream.accepted).sum::<u64>(), ledger.accepted);
        prop_assert_eq!(streams.iter().map(|stream| stream.duplicate).sum::<u64>(), ledger.duplicate);
    }
}

fn collector() -> Collector {
    Collector::new(CollectorSettings::default())
}

fn datagram(node_id: u32, sequence: u32, reports: &[u8]) -> Vec<u8> {
    let mut bytes = GroupHeader::new(0, sequence, node_id).as_bytes().to_vec();
    bytes.extend_from_slice(reports);
    bytes
}

fn now(nanos: u64) -> Nanos {
    Nanos(1_700_000_000_000_000_000 + nanos)
}

fn sender() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 6000))
}

fn session() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 32766))
}
