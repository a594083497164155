//! A full outbox keeps what matters and counts the rest.

use inband_model::{
    Confidence, Event, EventDetail, Flow, Hop, HopLatencyObservation, Nanos, NodeId, Observation, Origin,
    Phase, SequenceReset, Severity,
};

use super::{Outbox, Output};
use crate::book::Book;

#[test]
fn outputs_come_out_in_the_order_they_went_in() {
    let mut outbox = Outbox::new(10, Book::new(100, 100, &[]));
    outbox.announce(event());
    outbox.observe(observation());

    assert!(matches!(outbox.pop(), Some(Output::Event(_))));
    assert!(matches!(outbox.pop(), Some(Output::Observation(_))));
    assert_eq!(outbox.pop(), None);
    assert_eq!(outbox.dropped(), 0);
}

#[test]
fn observations_leave_half_of_the_room_to_events_and_what_is_dropped_is_counted() {
    let mut outbox = Outbox::new(4, Book::new(100, 100, &[]));
    for _ in 0..5 {
        outbox.observe(observation());
    }
    assert_eq!(outbox.dropped(), 3);

    for _ in 0..5 {
        outbox.announce(event());
    }

    assert_eq!(outbox.dropped(), 6);
    let outputs: Vec<Output> = std::iter::from_fn(|| outbox.pop()).collect();
    assert_eq!(outputs.iter().filter(|output| matches!(output, Output::Event(_))).count(), 2);
    assert_eq!(outputs.len(), 4);
}

fn observation() -> Observation {
    Observation::HopLatency(HopLatencyObservation {
        flow: Flow::default(),
        hop: Hop::default(),
        latency: Nanos(1),
        received_at: Nanos(2),
        origin: Origin::MdStack,
    })
}

fn event() -> Event {
    let session = std::net::SocketAddr::from(([127, 0, 0, 1], 32766));
    let reset = SequenceReset { node_id: NodeId(1), hw_id: 0, session, expected: 9, sequence: 1 };
    Event {
        detail: EventDetail::SequenceReset(reset),
        severity: Severity::Info,
        key: String::new(),
        first: Nanos(1),
        last: Nanos(1),
        count: 1,
        confidence: Confidence::Probable,
        evidence: Vec::new(),
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}
