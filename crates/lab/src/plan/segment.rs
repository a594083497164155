//! Segments: where packets go without passing a router.

use super::parts::{Kind, Plan, Segment};

/// Each link is a segment; switches that learn join those at their interfaces.
pub(super) fn segments(plan: &Plan) -> Vec<Segment> {
    // The segment of each link, by the lowest link of it.
    let mut of: Vec<usize> = (0..plan.links.len()).collect();
    for node in plan.nodes.iter().filter(|node| matches!(node.kind, Kind::Bridge { .. })) {
        let joined: Vec<usize> = node.interfaces.iter().map(|interface| of[interface.link]).collect();
        let Some(lowest) = joined.iter().min().copied() else { continue };
        for segment in &mut of {
            if joined.contains(segment) {
                *segment = lowest;
            }
        }
    }
    let mut segments = Vec::new();
    for link in (0..plan.links.len()).filter(|link| of[*link] == *link) {
        let mut members = Vec::new();
        for (at, node) in plan.nodes.iter().enumerate() {
            if matches!(node.kind, Kind::Bridge { .. }) {
                continue;
            }
            let here = node.interfaces.iter().enumerate().filter(|(_, interface)| of[interface.link] == link);
            members.extend(here.map(|(interface, _)| (at, interface)));
        }
        segments.push(Segment { members });
    }
    segments
}
