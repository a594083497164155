//! Every datagram is counted in one place, and every stream separately.

use std::net::SocketAddr;

use inband_model::{Confidence, EventDetail, Nanos, NodeId, Output, Phase, ReportLoss};
use inband_wire::report::ReportVersion;

use super::{LedgerSettings, ReportLedger, StreamKey};
use crate::book::Book;
use crate::detect::health::HealthSettings;
use crate::detect::report_loss::LossSettings;
use crate::outbox::Outbox;

#[test]
fn each_node_part_of_a_node_and_destination_has_its_own_sequence() {
    // report-2.0/group-03. One counter for all of them would see gaps and late reports here.
    let mut ledger = Fixture::new();
    let keys = [key(1, 0, 1), key(2, 0, 1), key(1, 5, 1), key(1, 0, 2)];
    for step in 0..10 {
        for (index, key) in keys.iter().enumerate() {
            ledger.datagram(*key, 1_000 * u32::try_from(index).unwrap() + step);
        }
    }

    let total = ledger.at_the_end();

    assert_eq!((total.received, total.accepted), (40, 40));
    assert_eq!((total.lost, total.reordered, total.late, total.duplicate), (0, 0, 0, 0));
    assert_eq!(ledger.ledger.view().streams.len(), 4);
}

#[test]
fn totals_are_the_sums_of_the_streams() {
    let mut ledger = Fixture::new();
    for number in [0, 4, 2, 2, 5] {
        ledger.datagram(key(1, 0, 1), number);
    }
    for number in [7, 9] {
        ledger.datagram(key(2, 0, 1), number);
    }

    let total = ledger.at_the_end();

    assert!(total.balances());
    assert_eq!((total.accepted, total.duplicate, total.reordered, total.lost), (6, 1, 1, 3));
    let streams = ledger.ledger.view().streams;
    assert_eq!(streams.iter().map(|stream| stream.lost).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(streams.iter().map(|stream| stream.accepted).sum::<u64>(), total.accepted);
}

#[test]
fn a_full_table_leaves_a_new_stream_unfollowed_while_the_others_speak() {
    let mut ledger = Fixture::with(LedgerSettings { max_streams: 2, ..LedgerSettings::default() });
    ledger.datagram(key(1, 0, 1), 0);
    ledger.datagram(key(2, 0, 1), 0);
    ledger.now = ledger.now + Nanos(299_999_990_000);

    ledger.datagram(key(3, 0, 1), 0);

    assert_eq!(ledger.ledger.unfollowed(), 1);
    assert_eq!(ledger.ledger.forgotten_streams(), 0);
    assert!(ledger.at_the_end().balances());
}

#[test]
fn a_full_table_forgets_the_longest_silent_stream_and_keeps_its_losses() {
    let mut ledger = Fixture::with(LedgerSettings { max_streams: 2, ..LedgerSettings::default() });
    ledger.datagram(key(1, 0, 1), 0);
    ledger.datagram(key(1, 0, 1), 5);
    ledger.datagram(key(2, 0, 1), 0);
    ledger.now = ledger.now + Nanos::from_secs(300);

    ledger.datagram(key(3, 0, 1), 0);

    assert_eq!(ledger.ledger.unfollowed(), 0);
    assert_eq!(ledger.ledger.forgotten_streams(), 1);
    let nodes: Vec<NodeId> = ledger.ledger.view().streams.iter().map(|stream| stream.node_id).collect();
    assert_eq!(nodes, [NodeId(3), NodeId(2)]);
    assert_eq!(ledger.at_the_end().lost, 4);
}

#[test]
fn a_sender_that_makes_up_node_ids_leaves_room_for_a_node_elsewhere() {
    let settings =
        LedgerSettings { max_streams: 64, max_streams_per_source: 16, ..LedgerSettings::default() };
    let mut ledger = Fixture::with(settings);
    for made_up in 100..10_000 {
        ledger.datagram_from(66, key(made_up, 0, 1), made_up);
    }

    for number in [0, 1, 4] {
        ledger.datagram(key(7, 0, 1), number);
    }

    let total = ledger.at_the_end();
    assert_eq!((total.lost, total.accepted), (2, 9_900 + 3));
    let view = ledger.ledger.view();
    assert_eq!(view.streams.len(), 17);
    assert_eq!(ledger.ledger.refused_node_ids(), 9_900 - 16);
    let refused = &view.refused_sources[..];
    assert_eq!((refused.len(), refused[0].datagrams, refused[0].node_id), (1, 9_900 - 16, NodeId(9_999)));
    assert_eq!(refused[0].address, std::net::IpAddr::from([10, 0, 0, 66]));
}

#[test]
fn in_a_full_table_a_new_node_takes_the_place_of_one_of_the_sender_with_most() {
    let settings = LedgerSettings { max_streams: 64, ..LedgerSettings::default() };
    let mut ledger = Fixture::with(settings);
    ledger.datagram(key(7, 0, 1), 0);
    for made_up in 100..1_000 {
        ledger.datagram_from(66, key(made_up, 0, 1), made_up);
    }

    ledger.datagram_from(2, key(8, 0, 1), 0);
    for made_up in 1_000..2_000 {
        ledger.datagram_from(66, key(made_up, 0, 1), made_up);
    }
    ledger.datagram(key(7, 0, 1), 3);
    ledger.datagram_from(2, key(8, 0, 1), 5);

    assert_eq!(ledger.at_the_end().lost, 2 + 4);
    assert_eq!(ledger.ledger.view().streams.len(), 64);
    assert_eq!((ledger.ledger.forgotten_streams(), ledger.ledger.unfollowed()), (1, 1_900 - 63));
}

#[test]
fn a_spoofed_sender_of_a_known_node_id_never_drives_the_losses_up() {
    let version = ReportVersion::V1_0;
    let known = StreamKey { version, ..key(1, 0, 1) };
    let mut ledger = Fixture::new();
    let mut random = 1_u32;
    for number in 0..2_000 {
        ledger.now = ledger.now + Nanos::from_millis(10);
        ledger.datagram(known, number);
        if number > 500 {
            for _ in 0..100 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ledger.datagram_from(66, known, random);
                // Growing steps, as if each were explained by the previous one.
                ledger.datagram_from(66, known, random.wrapping_add(60_000));
            }
        }
    }

    let total = ledger.at_the_end();
    // 65,536, and 65,536 more in the 20 seconds with a rate of 100 a second eight times over.
    assert!(total.lost < 65_536 * 2 + 8 * 100 * 20, "{}", total.lost);
    assert!(total.balances());
}

#[test]
fn a_loss_at_the_start_of_a_stream_is_a_share_of_a_whole_window() {
    let mut ledger = Fixture::new();
    for number in (0..27).chain(28..278) {
        ledger.now = ledger.now + Nanos::from_millis(20);
        ledger.datagram(key(1, 0, 1), number);
    }
    ledger.at_the_end();
    assert_eq!(ledger.losses(), []);

    // The node becomes slower, so that it is 1 of 301 when the window is full.
    ledger.now = ledger.now + Nanos::from_secs(30);
    for number in 278..302 {
        ledger.datagram(key(1, 0, 1), number);
    }
    ledger.at_the_end();
    assert_eq!(ledger.losses(), []);
    ledger.now = ledger.now + Nanos::from_secs(24);
    ledger.at_the_end();
    assert_eq!(ledger.losses().len(), 1);
}

#[test]
fn losses_up_to_a_thousandth_raise_no_event_and_one_more_does() {
    let mut ledger = Fixture::new();
    for number in (0..1_000).chain([1_001]) {
        ledger.datagram(key(1, 0, 1), number);
        ledger.now = ledger.now + Nanos::from_micros(59_000);
    }
    ledger.at_the_end();
    assert_eq!(ledger.losses(), []);

    ledger.datagram(key(1, 0, 1), 1_003);
    ledger.at_the_end();

    let expected = ReportLoss {
        node_id: NodeId(1),
        hw_id: 0,
        session: session(1),
        lost: 2,
        accepted: 1_002,
        lost_unknown: 0,
        window: Nanos::from_secs(60),
    };
    assert_eq!(ledger.losses(), [expected]);
}

#[test]
fn a_loss_that_goes_on_is_one_event_and_ends_a_window_later() {
    let mut ledger = Fixture::new();
    for number in 0..100 {
        ledger.datagram(key(1, 0, 1), number * 2);
        ledger.now = ledger.now + Nanos::from_secs(1);
        ledger.at_the_end();
    }
    assert_eq!(ledger.phases(), [Phase::Begin]);

    ledger.now = ledger.now + Nanos::from_secs(60);
    ledger.at_the_end();
    assert_eq!(ledger.phases(), [Phase::End]);
    ledger.datagram(key(1, 0, 1), 250);
    ledger.at_the_end();

    assert_eq!(ledger.phases(), [Phase::Begin]);
}

#[test]
fn an_unknown_loss_raises_an_event_at_once() {
    let mut ledger = Fixture::new();
    for number in 0..100 {
        ledger.datagram(key(1, 0, 1), number);
    }
    // 2^22 reports at 100 a second.
    ledger.now = ledger.now + Nanos::from_secs(41_944);

    ledger.datagram(key(1, 0, 1), 100);

    let losses = ledger.losses();
    assert_eq!(losses.len(), 1);
    assert_eq!((losses[0].lost, losses[0].lost_unknown), (0, 1));
    assert_eq!(ledger.at_the_end().lost_unknown, 1);
}

#[test]
fn a_restart_is_announced_and_is_no_loss() {
    let mut ledger = Fixture::new();
    ledger.datagram(key(1, 0, 1), 50_000);
    ledger.now = ledger.now + Nanos::from_secs(6);

    ledger.datagram(key(1, 0, 1), 3);

    let Some(Output::Event(event)) = ledger.outbox.pop() else { panic!("an event is due") };
    assert!(matches!(&event.detail, EventDetail::SequenceReset(reset) if reset.expected == 50_001));
    assert_eq!(event.confidence, Confidence::Probable);
    assert_eq!(event.evidence[0].sequence, 3);
    assert_eq!(ledger.at_the_end().lost, 0);
}

#[test]
fn restarts_that_somebody_makes_up_are_announced_once_a_second() {
    let mut ledger = Fixture::new();
    let resets = |ledger: &mut Fixture| std::iter::from_fn(|| ledger.outbox.pop()).count();
    for round in 0..100 {
        ledger.datagram(key(1, 0, 1), round * 1_400_000);
    }
    assert_eq!(resets(&mut ledger), 1);

    ledger.now = ledger.now + Nanos::from_secs(1);
    for round in 0..100 {
        ledger.datagram(key(1, 0, 1), round * 1_400_000);
    }

    assert_eq!(resets(&mut ledger), 1);
}

/// A ledger and a clock that advances a microsecond with every datagram.
struct Fixture {
    ledger: ReportLedger,
    outbox: Outbox,
    now: Nanos,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture::with(LedgerSettings::default())
    }

    fn with(settings: LedgerSettings) -> Fixture {
        let now = Nanos::from_secs(1_700_000_000);
        Fixture {
            ledger: ReportLedger::new(settings, LossSettings::default(), HealthSettings::default()),
            outbox: Outbox::new(100, Book::new(100, 100, &[])),
            now,
        }
    }

    fn datagram(&mut self, key: StreamKey, sequence: u32) {
        self.now = self.now + Nanos::from_micros(1);
        self.datagram_from(1, key, sequence);
    }

    fn datagram_from(&mut self, host: u8, key: StreamKey, sequence: u32) {
        self.ledger.receive();
        let noted = self.ledger.note(self.now, key, [10, 0, 0, host].into(), sequence, &mut self.outbox);
        self.ledger.count(self.now, noted, 1);
    }

    /// The totals once every gap has been confirmed.
    fn at_the_end(&mut self) -> inband_model::Ledger {
        self.now = self.now + Nanos::from_millis(300);
        self.ledger.handle_timeout(self.now, &mut self.outbox);
        self.outbox.handle_timeout(self.now);
        self.ledger.total()
    }

    /// The phases of the events announced since the last call.
    fn phases(&mut self) -> Vec<Phase> {
        let outputs = std::iter::from_fn(|| self.outbox.pop());
        outputs
            .map(|output| match output {
                Output::Event(event) => event.phase,
                Output::Observation(other) => panic!("not an event: {other:?}"),
            })
            .collect()
    }

    /// The losses announced since the last call.
    fn losses(&mut self) -> Vec<ReportLoss> {
        let events = std::iter::from_fn(|| self.outbox.pop());
        events
            .map(|output| match output {
                Output::Event(event) => match event.detail {
                    EventDetail::ReportLoss(loss) => loss,
                    other => panic!("not a loss: {other:?}"),
                },
                Output::Observation(other) => panic!("not an event: {other:?}"),
            })
            .collect()
    }
}

fn key(node_id: u32, hw_id: u8, session_number: u16) -> StreamKey {
    let version = ReportVersion::V2_0;
    let (node_id, session) = (NodeId(node_id), session(session_number));
    StreamKey { node_id, source: None, hw_id, session, version, has_padded_numbers: false }
}

fn session(number: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], number))
}
