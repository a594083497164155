//! The ledger against a small model: loss, duplication, reordering, wrap, restart, spoofed senders and forged
//! nodes.

mod support;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use inband_collector::{CollectorSettings, LedgerSettings};
use inband_model::Nanos;
use inband_wire::report::earlier::DraftVersion;
use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use support::{Lab, datagram, flow, hop, node_report, older_datagram, plain_packet, sender};

/// The effect of the network on one datagram.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    Lost { count: u32 },
    Twice { again_after: usize },
    Delayed { by: usize },
}

/// A node: the fate of its datagrams from one restart to the next.
#[derive(Debug, Clone)]
struct Node {
    is_2_0: bool,
    /// The first number of the first run, counted back from the end of the sequence space. A restarting node
    /// does not come near the end: there a restart looks like a loss.
    before_wrap: u32,
    runs: Vec<Vec<Fate>>,
}

/// The counts of an observer of both ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Truth {
    lost: u64,
    duplicate: u64,
    reordered: u64,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_ledger_balances_and_its_losses_are_exact(
        nodes in prop::collection::vec(node(), 1..5),
        made_up in prop::collection::vec(any::<u32>(), 0..200),
        spoofed in prop::collection::vec(any::<u32>(), 0..200),
    ) {
        let mut lab = Lab::with(settings());
        let mut truth = Truth::default();
        let mut sent = 0;
        let runs = nodes.iter().map(|node| node.runs.len()).max().unwrap_or(0);
        for run in 0..runs {
            let arrivals: Vec<Vec<u32>> =
                nodes.iter().map(|node| node.runs.get(run).map_or(Vec::new(), |fates| deliver(fates))).collect();
            arrivals.iter().for_each(|arrivals| truth.add(arrivals));
            for step in 0..arrivals.iter().map(Vec::len).max().unwrap_or(0) {
                for (place, node) in nodes.iter().enumerate() {
                    let Some(offset) = arrivals[place].get(step) else { continue };
                    lab.datagram(&node.datagram(place, run, *offset));
                    sent += 1;
                }
                for (made_up, host) in made_up.get(step).into_iter().zip([66]) {
                    // Different from the ids of the nodes.
                    lab.datagram_from(from(host), &report(made_up | 0x8000_0000, *made_up, true));
                    sent += 1;
                }
                if let Some(number) = spoofed.get(step) {
                    lab.datagram_from(from(67), &report(VICTIM, *number, false));
                    sent += 1;
                }
                lab.wait(Nanos::from_millis(1));
            }
            lab.wait(Nanos::from_secs(6));
        }

        let view = lab.collector.ledger_view();
        prop_assert!(view.balances());
        prop_assert_eq!(view.total.received, sent);
        let victim: Vec<_> = view.streams.iter().filter(|stream| stream.node_id.0 == VICTIM).collect();
        prop_assert!(victim.iter().all(|stream| stream.lost < 2 * 65_536), "{:?}", victim);
        let own = || view.streams.iter().filter(|stream| stream.node_id.0 <= 5);
        prop_assert_eq!(own().count(), nodes.len());
        let found = Truth {
            lost: own().map(|stream| stream.lost).sum(),
            duplicate: own().map(|stream| stream.duplicate).sum(),
            reordered: own().map(|stream| stream.reordered).sum(),
        };
        prop_assert_eq!(found, truth);
        prop_assert!(own().all(|stream| stream.lost_unknown == 0 && stream.late == 0));
        let ids: BTreeSet<u32> = made_up.iter().map(|id| id | 0x8000_0000).collect();
        let refused = view.overflows["refused_node_ids"];
        prop_assert_eq!(refused > 0, ids.len() > 20 && lab_ran_long_enough(&nodes, &made_up));
        prop_assert_eq!(refused, view.refused_sources.iter().map(|source| source.datagrams).sum::<u64>());
    }
}

/// Number of networks; `cargo xtask long ledger` sets more.
fn cases() -> u32 {
    std::env::var("INBAND_LEDGERS").ok().and_then(|text| text.parse().ok()).unwrap_or(48)
}

/// Small tables, and a reorder window that covers the losses while a datagram is delayed.
fn settings() -> CollectorSettings {
    let ledger = LedgerSettings {
        max_streams: 40,
        max_streams_per_source: 20,
        reorder_window: 65_536,
        ..LedgerSettings::default()
    };
    CollectorSettings { ledger, ..CollectorSettings::default() }
}

/// Whether more than 20 of the forged ids were sent.
fn lab_ran_long_enough(nodes: &[Node], made_up: &[u32]) -> bool {
    let steps = nodes.iter().flat_map(|node| &node.runs).map(|fates| deliver(fates).len()).max().unwrap_or(0);
    made_up.iter().take(steps).map(|id| id | 0x8000_0000).collect::<BTreeSet<_>>().len() > 20
}

fn node() -> impl Strategy<Value = Node> {
    let fate = prop_oneof![
        16 => prop::strategy::Just(Fate::Arrives),
        1 => (1_u32..500).prop_map(|count| Fate::Lost { count }),
        1 => (1_usize..60).prop_map(|again_after| Fate::Twice { again_after }),
        1 => (1_usize..60).prop_map(|by| Fate::Delayed { by }),
    ];
    // The first datagram of a run arrives in its place: the ledger cannot know of those sent before it.
    let run = prop::collection::vec(fate, 1..400).prop_map(|mut fates| {
        fates[0] = Fate::Arrives;
        fates
    });
    (any::<bool>(), 2_000_u32..20_000, prop::collection::vec(run, 1..4)).prop_map(
        |(is_2_0, before_wrap, runs)| {
            let far = if runs.len() > 1 { 1 << 20 } else { 0 };
            Node { is_2_0, before_wrap: before_wrap + far, runs }
        },
    )
}

impl Node {
    fn datagram(&self, place: usize, run: usize, offset: u32) -> Vec<u8> {
        let bits = if self.is_2_0 { 22 } else { 32 };
        // A restarted node begins at zero.
        let first = if run == 0 { 0_u32.wrapping_sub(self.before_wrap) } else { 0 };
        let number = first.wrapping_add(offset) & (u32::MAX >> (32 - bits));
        report(u32::try_from(place).expect("a few nodes") + 1, number, self.is_2_0)
    }
}

/// The offsets of the datagrams in the order they arrive.
fn deliver(fates: &[Fate]) -> Vec<u32> {
    let (mut arrivals, mut number) = (Vec::new(), 0);
    for (place, fate) in fates.iter().enumerate() {
        match *fate {
            Fate::Arrives => arrivals.push((place, number)),
            Fate::Lost { count } => number += count - 1,
            Fate::Twice { again_after } => arrivals.extend([(place, number), (place + again_after, number)]),
            Fate::Delayed { by } => arrivals.push((place + by, number)),
        }
        number += 1;
    }
    arrivals.sort_by_key(|(arrives_at, _)| *arrives_at);
    arrivals.into_iter().map(|(_, number)| number).collect()
}

impl Truth {
    /// Adds one run, given the offsets in the order they arrived.
    fn add(&mut self, arrivals: &[u32]) {
        let mut seen = BTreeSet::new();
        for number in arrivals {
            let is_behind = seen.last().is_some_and(|newest| number < newest);
            let is_new = seen.insert(*number);
            self.duplicate += u64::from(!is_new);
            self.reordered += u64::from(is_new && is_behind);
        }
        // What was sent after the last datagram that arrived leaves no trace.
        let sent = seen.last().map_or(0, |newest| u64::from(*newest) + 1);
        self.lost += sent - seen.len() as u64;
    }
}

fn report(node_id: u32, number: u32, is_2_0: bool) -> Vec<u8> {
    let packet = plain_packet(&flow(1), 64);
    let draft = node_report(&packet, hop(node_id, 900, 0));
    if is_2_0 {
        datagram(node_id, number & 0x3f_ffff, &[&draft])
    } else {
        older_datagram(node_id, DraftVersion::V1_0, number, &draft)
    }
}

fn from(host: u8) -> SocketAddr {
    assert_ne!(sender().ip().to_string(), format!("10.0.0.{host}"));
    SocketAddr::from(([10, 0, 0, host], 6_000))
}

/// A node id that is spoofed.
const VICTIM: u32 = 77;
