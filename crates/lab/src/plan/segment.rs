//! Segments: parts of the network where packets pass no router.

use super::parts::{Kind, Plan, Segment};

/// Each link is a segment; learning switches join those at their interfaces.
pub(super) fn segments(plan: &Plan) -> Vec<Segment> {
    // The segment of each link, identified by its lowest link.
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
