//! Do the tables of ports stay small, whatever happens in a queue?

use inband_model::{Hop, Nanos, NodeId, ReportReference};
use inband_wire::int::HopMetadata;

use super::{PortEventSettings, PortSettings, Ports, Sample};
use crate::book::Book;
use crate::outbox::Outbox;
use crate::report::HopReading;

#[test]
fn episodes_in_quick_succession_set_one_deadline() {
    let mut ports = Ports::new(PortSettings::default(), PortEventSettings::default());
    let mut outbox = Outbox::new(10_000, Book::new(100, 100, &[]));
    let port = ports.open(Nanos(0), NodeId(5), Some(2)).unwrap();

    for step in 0..1_000 {
        let now = Nanos(step);
        let latency = if step % 2 == 0 { 200_000 } else { 0 };
        let reading = reading(latency);
        let report = ReportReference { node_id: NodeId(5), received_at: now, ..ReportReference::default() };
        let sample = Sample {
            now,
            report,
            port,
            reading: &reading,
            congested_queue: false,
            flow: None,
            packet_bytes: 0,
        };
        ports.record_queue(&sample, &mut outbox);
    }

    assert_eq!(ports.calm.len(), 1);
    ports.handle_timeout(Nanos::from_secs(1), &mut outbox);
    assert_eq!(ports.calm.len(), 1);
    ports.handle_timeout(Nanos::from_secs(3), &mut outbox);
    assert_eq!(ports.next_timeout(), None);
}

fn reading(latency: u64) -> HopReading {
    HopReading {
        hop: Hop { node_id: NodeId(5), ingress_interface: Some(1), egress_interface: Some(2) },
        latency: Some(Nanos(latency)),
        has_wide_clock: true,
        metadata: HopMetadata::default(),
    }
}
