//! The verdicts of path rules.

use inband_model::{Flow, Hop, Violation};

use super::prefix::Prefix;
use super::settings::PathRule;

/// The verdict of a rule on the path of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The path follows the rule.
    Complies,
    /// The path violates the rule.
    Violates(Violation),
    /// The path is not known in whole, or that of the reverse flow is not.
    Unverifiable,
}

/// The verdicts of a path rule on all flows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RuleView {
    /// Name of the rule.
    pub rule: String,
    /// Flows whose path complies with the rule.
    pub complying: u64,
    /// Flows whose path violates the rule.
    pub violating: u64,
    /// Flows whose path cannot be verified.
    pub unverifiable: u64,
}

/// The path of a flow, as far as rules need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownPath<'a> {
    pub(super) hops: &'a [Hop],
    /// Whether these are all hops.
    pub(super) is_complete: bool,
}

impl PathRule {
    /// Whether the rule covers a flow.
    pub(super) fn covers(&self, flow: &Flow) -> bool {
        let within = |prefix: Option<Prefix>, address| prefix.is_none_or(|prefix| prefix.contains(address));
        within(self.source, flow.source)
            && within(self.destination, flow.destination)
            && self.protocol.is_none_or(|protocol| protocol == flow.protocol)
            && self.destination_port.is_none_or(|port| port == flow.destination_port)
    }

    /// Judges the path of a flow; `back` is the path of the reverse flow.
    pub(super) fn judge(&self, path: Option<KnownPath<'_>>, back: Option<KnownPath<'_>>) -> Verdict {
        let Some(path) = path.filter(|path| path.is_complete) else { return Verdict::Unverifiable };
        if let Some(violation) = self.violation(path.hops) {
            return Verdict::Violates(violation);
        }
        if !self.symmetric {
            return Verdict::Complies;
        }
        let Some(back) = back.filter(|back| back.is_complete) else { return Verdict::Unverifiable };
        let there = path.hops.iter().map(|hop| hop.node_id);
        if there.eq(back.hops.iter().rev().map(|hop| hop.node_id)) {
            Verdict::Complies
        } else {
            Verdict::Violates(Violation::Asymmetric)
        }
    }

    fn violation(&self, hops: &[Hop]) -> Option<Violation> {
        let passes = |node: &u32| hops.iter().any(|hop| hop.node_id.0 == *node);
        let takes =
            |link: &[u32; 2]| hops.windows(2).any(|pair| [pair[0].node_id.0, pair[1].node_id.0] == *link);
        let missed = self.require_nodes.iter().find(|node| !passes(node));
        let passed = self.forbid_nodes.iter().find(|node| passes(node));
        let missed_link = self.require_links.iter().find(|link| !takes(link));
        let taken = self.forbid_links.iter().find(|link| takes(link));
        let hop_count = u8::try_from(hops.len()).unwrap_or(u8::MAX);
        let ends = |link: &[u32; 2]| (link[0].into(), link[1].into());
        let too_many = self.max_hops.filter(|most| hop_count > *most);
        None.or(missed.map(|node| Violation::MissesNode((*node).into())))
            .or(passed.map(|node| Violation::PassesNode((*node).into())))
            .or(missed_link.map(ends).map(|(from, to)| Violation::MissesLink(from, to)))
            .or(taken.map(ends).map(|(from, to)| Violation::TakesLink(from, to)))
            .or(too_many.map(|_| Violation::TooManyHops(hop_count)))
    }
}
