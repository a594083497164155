//! Did a packet come to the same place twice?

use inband_model::{Confidence, Event, EventDetail, Flow, Hop, Loop, Nanos, NodeId, Path, Phase, Severity};

use crate::report::StackState;

use super::Sighting;

/// Finds a place that stands twice in one metadata stack.
///
/// The same node and ingress interface twice is a loop for certain. The same node by different interfaces,
/// or by interfaces it does not tell, may be a hairpin: that counts when the packet also ran out of hops.
pub(super) fn detect(flow: Flow, sighting: &Sighting<'_>) -> Option<Event> {
    let ran_out = matches!(sighting.reading.stack, StackState::Partial { max_hop_count_exceeded: true });
    let (hop, confidence) = repeated(sighting, |a, b| {
        a.ingress_interface.is_some() && a.ingress_interface == b.ingress_interface
    })
    .map(|hop| (hop, Confidence::Certain))
    .or_else(|| {
        let hop = repeated(sighting, |_, _| true).filter(|_| ran_out)?;
        Some((Hop { ingress_interface: None, ..hop }, Confidence::Probable))
    })?;
    let hops: Vec<Hop> = sighting.hops.iter().map(|reading| reading.hop).collect();
    let detail =
        Loop { flow, node_id: hop.node_id, ingress_interface: hop.ingress_interface, path: Path::new(&hops) };
    Some(Event {
        detail: EventDetail::Loop(detail),
        severity: Severity::Critical,
        key: flow.to_string(),
        first: sighting.now,
        last: sighting.now,
        count: 1,
        confidence,
        evidence: vec![sighting.report],
        phase: Phase::Once,
        silenced: false,
    })
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

/// A loop has ended when no packet of the flow looped for so long.
pub(super) const QUIET: Nanos = Nanos::from_secs(60);
/// So often it is looked whether the packets of a flow still loop.
pub(super) const PAUSE: Nanos = Nanos::from_secs(1);
