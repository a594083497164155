//! The packets of a congested queue, and those that a delayed packet waited for.

use std::collections::BTreeMap;

use inband_model::{
    Confidence, CulpritFlow, CulpritPattern, Culprits, Event, EventDetail, Flow, Nanos, Phase,
    ReportReference, Severity,
};

use crate::detect::congestion;
use crate::ports::Place;

use super::settings::CulpritSettings;

/// The latest packets that left a queue while it was congested, at most [`MAX_DEPARTURES`].
#[derive(Debug, Default)]
pub(super) struct Departures {
    departures: Vec<Departure>,
    next: usize,
}

/// A packet of a flow that left a queue.
#[derive(Debug, Clone, Copy)]
struct Departure {
    flow: Flow,
    bytes: u64,
    came_at: u64,
    left_at: u64,
    is_delayed: bool,
    is_dropped: bool,
    report: ReportReference,
}

impl Departures {
    /// Records a packet that left the queue, if its flow is known.
    pub(super) fn record(&mut self, departure: &congestion::Departure) {
        let Some(flow) = departure.flow else { return };
        let congestion::Departure { bytes, came_at, left_at, is_delayed, is_dropped, report, .. } =
            *departure;
        let departure = Departure { flow, bytes, came_at, left_at, is_delayed, is_dropped, report };
        if self.departures.len() < MAX_DEPARTURES {
            self.departures.push(departure);
        } else {
            self.departures[self.next] = departure;
            self.next = (self.next + 1) % MAX_DEPARTURES;
        }
    }

    /// Removes all packets but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.departures.clear();
        self.next = 0;
    }

    /// Names the flows whose packets the most delayed packet waited for; `None` when it waited for no
    /// reported packet.
    pub(super) fn culprits(&self, settings: &CulpritSettings, place: Place) -> Option<Event> {
        let residence = |departure: &&Departure| departure.left_at.saturating_sub(departure.came_at);
        let left = self.departures.iter().filter(|departure| !departure.is_dropped);
        let worst = left.max_by_key(residence)?;
        let is_before = |other: &&Departure| {
            let is_within = (worst.came_at..=worst.left_at).contains(&other.left_at);
            is_within && !other.is_dropped && !std::ptr::eq(*other, worst)
        };
        let before: Vec<&Departure> = self.departures.iter().filter(is_before).collect();
        let mut by_flow: BTreeMap<Flow, u64> = BTreeMap::new();
        for departure in &before {
            *by_flow.entry(departure.flow).or_default() += departure.bytes;
        }
        let bytes: u64 = by_flow.values().sum();
        if bytes == 0 {
            return None;
        }
        let mut flows: Vec<CulpritFlow> =
            by_flow.into_iter().map(|(flow, own)| share(flow, own, bytes)).collect();
        flows.sort_by_key(|flow| std::cmp::Reverse(flow.bytes));
        let residence = worst.left_at.saturating_sub(worst.came_at);
        let coverage = settings.link_bits_per_second.map(|rate| {
            let sendable = u128::from(rate) * u128::from(residence) / 8 / 1_000_000_000;
            u64::try_from((u128::from(bytes) * 1_000).checked_div(sendable).unwrap_or(0)).unwrap_or(u64::MAX)
        });
        let detail = Culprits {
            node_id: place.node_id,
            egress_interface: place.egress_interface,
            queue_id: place.queue_id,
            pattern: pattern(settings, &flows),
            residence: Nanos(residence),
            culprits: listed(settings, &flows),
            victims: self.victims(settings, &flows, bytes),
            flows: flows.len() as u64,
            reported_packets: before.len() as u64,
            reported_bytes: bytes,
            coverage_permille: coverage,
        };
        Some(event(detail, place, worst, &before))
    }

    /// The delayed flows that sent hardly anything.
    fn victims(&self, settings: &CulpritSettings, flows: &[CulpritFlow], bytes: u64) -> Vec<CulpritFlow> {
        let mut victims: Vec<CulpritFlow> = Vec::new();
        for delayed in self.departures.iter().filter(|departure| departure.is_delayed) {
            let own = flows.iter().find(|flow| flow.flow == delayed.flow);
            let victim = own.copied().unwrap_or_else(|| share(delayed.flow, 0, bytes));
            let is_listed = victims.iter().any(|known| known.flow == victim.flow);
            if victim.share_permille < settings.victim_permille && !is_listed && victims.len() < MAX_LISTED {
                victims.push(victim);
            }
        }
        victims
    }
}

fn share(flow: Flow, own: u64, all: u64) -> CulpritFlow {
    CulpritFlow { flow, bytes: own, share_permille: own.saturating_mul(1_000).checked_div(all).unwrap_or(0) }
}

/// The largest flows, until their shares add up to enough.
fn listed(settings: &CulpritSettings, flows: &[CulpritFlow]) -> Vec<CulpritFlow> {
    let mut together = 0;
    let needed = flows.iter().take_while(|flow| {
        let is_needed = together < settings.list_permille;
        together += flow.share_permille;
        is_needed
    });
    needed.filter(|flow| flow.share_permille >= settings.least_permille).take(MAX_LISTED).copied().collect()
}

fn pattern(settings: &CulpritSettings, flows: &[CulpritFlow]) -> CulpritPattern {
    let largest = flows.first().map_or(0, |flow| flow.share_permille);
    if largest >= settings.elephant_permille {
        return CulpritPattern::Elephant;
    }
    let mut sources: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for CulpritFlow { flow, .. } in flows {
        let to = sources.entry(flow.destination).or_default();
        if !to.contains(&flow.source) {
            to.push(flow.source);
        }
    }
    let most = sources.values().map(Vec::len).max().unwrap_or(0);
    if most >= settings.incast_sources && largest <= settings.incast_permille {
        CulpritPattern::Incast
    } else {
        CulpritPattern::Mixed
    }
}

fn event(detail: Culprits, place: Place, worst: &Departure, before: &[&Departure]) -> Event {
    let first = before.iter().map(|departure| departure.report.received_at).min();
    let mut evidence = vec![worst.report];
    for departure in before.iter().take(MAX_EVIDENCE) {
        if !evidence.contains(&departure.report) {
            evidence.push(departure.report);
        }
    }
    Event {
        detail: EventDetail::Culprits(detail),
        severity: Severity::Info,
        key: place.key(),
        first: first.unwrap_or(worst.report.received_at).min(worst.report.received_at),
        last: worst.report.received_at,
        count: before.len() as u64 + 1,
        confidence: Confidence::Probable,
        evidence,
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}

/// Maximum number of packets remembered for one congested queue.
const MAX_DEPARTURES: usize = 512;
/// Maximum number of flows listed.
const MAX_LISTED: usize = 16;
/// Maximum number of reports cited beside that of the delayed packet.
const MAX_EVIDENCE: usize = 7;
