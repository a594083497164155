//! Hostile reports do not break the collector.

mod support;

use inband_collector::{CollectorSettings, PathSettings, PortSettings};
use inband_model::Nanos;
use inband_wire::report::Draft;
use inband_wire::report::earlier::DraftVersion;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use support::{
    Lab, MdPacket, datagram, flow, hop_via, mx_packet, node_report, older_datagram, plain_packet, sink_report,
};

/// A report that is well-formed before it is damaged.
#[derive(Debug, Clone)]
struct Sent {
    node_id: u32,
    sequence: u32,
    /// Nodes and egress interfaces on the stack; none for a report without INT-MD.
    stack: Vec<(u32, u16)>,
    flow: u32,
    ttl: u8,
    flags: [bool; 4],
    latency: u32,
    mx: bool,
    /// 1.0, 0.5, else 2.0.
    version: u8,
}

/// The damage to a datagram in transit.
#[derive(Debug, Clone)]
enum Damage {
    None,
    Cut(prop::sample::Index),
    Flipped(Vec<(prop::sample::Index, u8)>),
    Garbage(Vec<u8>),
}

proptest! {
    #[test]
    fn any_reports_balance_and_stay_within_the_bounds(
        datagrams in prop::collection::vec((sent(), damage(), 0_u64..2_000_000_000), 1..120),
    ) {
        let mut lab = Lab::with(small_tables());
        let count = datagrams.len() as u64;
        for (sent, damage, pause) in datagrams {
            lab.datagram(&damage.apply(sent.bytes()));
            lab.wait(Nanos(pause));
        }

        let ledger = lab.collector.ledger();
        prop_assert!(ledger.balances());
        prop_assert_eq!(ledger.received, count);
        let overflows = lab.collector.overflows();
        prop_assert!(lab.collector.flows().count() <= 4);
        prop_assert!(overflows.paths <= 6);
        prop_assert!(lab.collector.ports().count() <= 5);
        prop_assert!(lab.collector.deepest_queues(100).len() <= 6);
        prop_assert!(lab.collector.ledger_view().streams.len() <= 3);
        // Once every flow has expired, nothing is left behind.
        lab.wait(Nanos::from_secs(200));
        let overflows = lab.collector.overflows();
        prop_assert_eq!((overflows.flows, overflows.paths), (0, 0));
        prop_assert_eq!(lab.collector.poll_timeout(), None);
    }
}

fn small_tables() -> CollectorSettings {
    let mut settings = CollectorSettings {
        paths: PathSettings { max_flows: 4, max_paths: 6, max_links: 5, ..PathSettings::default() },
        ports: PortSettings { max_ports: 5, max_queues: 6 },
        max_outputs: 8,
        ..CollectorSettings::default()
    };
    settings.ledger.max_streams = 3;
    settings
}

fn sent() -> impl Strategy<Value = Sent> {
    let stack = prop::collection::vec((0_u32..4, 0_u16..3), 0..6);
    let numbers = (0_u32..5, 0_u32..40, 0_u32..6, 60_u8..65, 0_u32..300_000);
    (numbers, stack, any::<[bool; 4]>(), any::<bool>(), 0_u8..4).prop_map(
        |(numbers, stack, flags, mx, version)| {
            let (node_id, sequence, flow, ttl, latency) = numbers;
            Sent { node_id, sequence, stack, flow, ttl, flags, latency, mx, version }
        },
    )
}

fn damage() -> impl Strategy<Value = Damage> {
    let flip = (any::<prop::sample::Index>(), any::<u8>());
    prop_oneof![
        6 => Just(Damage::None),
        1 => any::<prop::sample::Index>().prop_map(Damage::Cut),
        2 => prop::collection::vec(flip, 1..4).prop_map(Damage::Flipped),
        1 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Damage::Garbage),
    ]
}

impl Sent {
    fn bytes(&self) -> Vec<u8> {
        let flow = flow(self.flow);
        let own = hop_via(self.node_id, 1, 2, self.latency, self.latency / 1_000);
        let hops: Vec<_> = self
            .stack
            .iter()
            .map(|(node_id, egress)| hop_via(*node_id, 1, *egress, self.latency, 9))
            .collect();
        let packet = match (hops.is_empty(), self.mx) {
            (true, true) => mx_packet(&flow, self.ttl),
            (true, false) => plain_packet(&flow, self.ttl),
            (false, _) => MdPacket { flow, ..MdPacket::new(&hops) }.bytes(),
        };
        let report = if self.mx { node_report(&packet, own) } else { sink_report(&packet) };
        let [dropped, congested_queue, tracked_flow, intermediate] = self.flags;
        let report = Draft { dropped, congested_queue, tracked_flow, intermediate, ..report };
        match self.version {
            1 => older_datagram(self.node_id, DraftVersion::V1_0, self.sequence, &report),
            2 => older_datagram(self.node_id, DraftVersion::V0_5, self.sequence, &report),
            _ => datagram(self.node_id, self.sequence, &[&report, &report]),
        }
    }
}

impl Damage {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Damage::None => {}
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Flipped(flips) => {
                for (at, mask) in flips {
                    let at = at.index(bytes.len());
                    bytes[at] ^= mask;
                }
            }
            Damage::Garbage(garbage) => bytes.clone_from(garbage),
        }
        bytes
    }
}
