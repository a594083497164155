//! Every hop of every report is recorded, once.

mod support;

use inband_collector::{Collector, CollectorSettings};
use inband_model::{HopColumns, Nanos, NodeId, Origin};
use inband_wire::int::HopMetadata;

use support::{MdPacket, datagram, flow, hop_via, node_report, plain_packet, sender, session, sink_report};

const NOW: Nanos = Nanos(1_700_000_000_000_000_000);

fn collector() -> Collector {
    Collector::new(CollectorSettings::default()).with_records()
}

#[test]
fn hops_come_first_hop_first_with_all_they_said() {
    let mut collector = collector();
    let packet = MdPacket::new(&[hop_via(1, 10, 11, 900, 3), hop_via(2, 20, 21, 800, 4)]).bytes();
    let own = HopMetadata { egress_timestamp: Some(7_000), ..HopMetadata::default() };
    let other = plain_packet(&flow(2), 60);

    let bytes = datagram(2, 77, &[&sink_report(&packet), &node_report(&other, own)]);
    collector.handle_datagram(NOW, sender(), session(), &bytes);

    let mut hops = HopColumns::default();
    assert_eq!(collector.waiting_hops(), 3);
    assert_eq!(collector.take_records(&mut hops), 2);
    assert_eq!(collector.waiting_hops(), 0);
    let hops: Vec<_> = hops.iter().collect();
    assert_eq!(hops.len(), 3);
    for (index, (node, ingress, latency)) in [(1, 10, 900), (2, 20, 800)].into_iter().enumerate() {
        let hop = hops[index];
        assert_eq!(
            (hop.node_id, hop.ingress_interface, hop.latency),
            (NodeId(node), Some(ingress), Some(Nanos(latency)))
        );
        assert_eq!((usize::from(hop.hop_index), hop.hop_count, hop.report_index), (index, 2, 0));
        assert_eq!(
            (hop.flow, hop.origin, hop.sequence, hop.received_at),
            (Some(flow(1)), Origin::MdStack, 77, NOW)
        );
    }
    let last = hops[2];
    assert_eq!((last.flow, last.origin, last.report_index), (Some(flow(2)), Origin::XdReport, 1));
    assert_eq!((last.egress_timestamp, last.egress_utilization, last.latency), (Some(7_000), None, None));
    assert_eq!((last.reporter, last.node_id, last.hop_count), (NodeId(2), NodeId(2), 1));
}

#[test]
fn a_duplicate_is_not_kept_again_and_nothing_is_taken_twice() {
    let mut collector = collector();
    let bytes = datagram(2, 5, &[&sink_report(&plain_packet(&flow(1), 60))]);
    let mut hops = HopColumns::default();
    collector.handle_datagram(NOW, sender(), session(), &bytes);
    collector.handle_datagram(NOW, sender(), session(), &bytes);
    assert_eq!((collector.take_records(&mut hops), hops.len()), (1, 1));
    assert_eq!((collector.take_records(&mut hops), hops.len()), (0, 1));
}

#[test]
fn hops_that_nobody_takes_are_bounded_and_counted() {
    let mut collector = collector();
    let packet = plain_packet(&flow(1), 60);
    for sequence in 0..65_540 {
        collector.handle_datagram(NOW, sender(), session(), &datagram(2, sequence, &[&sink_report(&packet)]));
    }
    assert_eq!(collector.overflows().dropped_records, 4);
    assert_eq!(collector.take_records(&mut HopColumns::default()), 65_536);
}

#[test]
fn nothing_is_kept_unless_it_is_asked_for() {
    let mut collector = Collector::new(CollectorSettings::default());
    let packet = plain_packet(&flow(1), 60);
    collector.handle_datagram(NOW, sender(), session(), &datagram(2, 0, &[&sink_report(&packet)]));
    assert_eq!(collector.take_records(&mut HopColumns::default()), 0);
    assert_eq!(collector.overflows().dropped_records, 0);
}
