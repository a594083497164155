//! Packets that come to the same place twice.

use inband_model::{
    Confidence, Event, EventDetail, Flow, Hop, Loop, LoopSupport, Nanos, NodeId, Path, Severity,
};

use crate::flows::FlowIndex;
use crate::outbox::Outbox;
use crate::paths::Postcard;
use crate::report::StackState;

use super::settings::LoopSettings;
use super::{Correlator, Sighting};

impl Correlator {
    /// Announces that the same packet has come to a node again.
    pub(super) fn detect_return(&mut self, flow: FlowIndex, sighting: &Sighting<'_>, outbox: &mut Outbox) {
        let entry = &mut self.flows[flow];
        let course = self.loop_settings.course();
        let Some(known) = entry.postcards.of(sighting.report.node_id) else { return };
        if let Some(found) = came_again(known, sighting)
            && let Some(count) = entry.loops.take(sighting.now, course)
        {
            outbox.begin(Event { count, ..found.event(entry.flow, sighting) }, course);
        }
    }
}

/// A place that a packet came to twice.
#[derive(Debug)]
pub(super) struct Found {
    hop: Hop,
    support: Vec<LoopSupport>,
    confidence: Confidence,
}

/// Finds a place that stands twice in one metadata stack.
///
/// The same node and ingress interface twice is a loop for certain. The same node by different interfaces, or by
/// interfaces it does not tell, may be a hairpin: nodes where that is so are listed in the settings.
pub(super) fn find(settings: &LoopSettings, sighting: &Sighting<'_>, ttl_ran_out: bool) -> Option<Found> {
    let ran_out = matches!(sighting.reading.stack, StackState::Partial { max_hop_count_exceeded: true });
    let mut support = Vec::new();
    support.extend(ran_out.then_some(LoopSupport::MaxHopsExceeded));
    support.extend(ttl_ran_out.then_some(LoopSupport::TtlZeroDrop));
    let is_allowed = |hop: &Hop| settings.allow_nodes.contains(&hop.node_id.0);
    let (hop, confidence) = repeated(sighting, |a, b| {
        a.ingress_interface.is_some() && a.ingress_interface == b.ingress_interface
    })
    .map(|hop| (hop, Confidence::Certain))
    .or_else(|| {
        let hop = repeated(sighting, |hop, _| ran_out || !is_allowed(hop))?;
        Some((Hop { ingress_interface: None, ..hop }, Confidence::Probable))
    })?;
    Some(Found { hop, support, confidence })
}

/// Finds that the same packet has come to a node again, and has passed routers in between.
fn came_again(known: &Postcard, sighting: &Sighting<'_>) -> Option<Found> {
    let is_same = known.identity.is_some() && known.identity == sighting.reading.identity;
    let is_soon = sighting.now.since(known.received_at) <= SAME_PACKET;
    let (before, after) = known.ttl.zip(sighting.reading.ttl)?;
    if !is_same || !is_soon || after >= before {
        return None;
    }
    let hop = sighting.hops.first()?.hop;
    let again = Hop {
        ingress_interface: hop.ingress_interface.filter(|id| Some(*id) == known.hop.ingress_interface),
        ..hop
    };
    let support = vec![LoopSupport::SmallerTtl];
    Some(Found { hop: again, support, confidence: Confidence::Certain })
}

impl Found {
    /// The event that the packet of a report shows.
    pub(super) fn event(self, flow: Flow, sighting: &Sighting<'_>) -> Event {
        let Self { hop, support, confidence } = self;
        let is_sure = confidence == Confidence::Certain || !support.is_empty();
        let hops: Vec<Hop> = sighting.hops.iter().map(|reading| reading.hop).collect();
        let Hop { node_id, ingress_interface, .. } = hop;
        let detail = Loop { flow, node_id, ingress_interface, path: Path::new(&hops), support };
        let severity = if is_sure { Severity::Critical } else { Severity::Warning };
        Event::of_report(EventDetail::Loop(detail), severity, flow.to_string(), confidence, sighting.report)
    }
}

/// The first hop whose node comes again further on, where both hops are also `alike`.
fn repeated(sighting: &Sighting<'_>, alike: impl Fn(&Hop, &Hop) -> bool) -> Option<Hop> {
    let hops = sighting.hops;
    hops.iter().enumerate().find_map(|(place, reading)| {
        let hop = reading.hop;
        let is_known = hop.node_id != NodeId::NOT_AVAILABLE;
        let comes_again = |later: &Hop| later.node_id == hop.node_id && alike(&hop, later);
        let is_repeated = hops[place + 1..].iter().any(|later| comes_again(&later.hop));
        (is_known && is_repeated).then_some(hop)
    })
}

/// For so long equal numbers and checksums mean the same packet.
const SAME_PACKET: Nanos = Nanos::from_secs(10);
