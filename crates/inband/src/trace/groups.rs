//! Probes with the same path and the same end.

use std::collections::BTreeSet;

use super::outcome::Outcome;
use super::stack::{Ended, Seen};

/// Probes with the same path and the same end, at least one.
pub(super) struct Group<'a> {
    /// The first of them.
    pub(super) first: &'a Outcome,
    pub(super) outcomes: Vec<&'a Outcome>,
}

impl Group<'_> {
    /// The source ports of its flows.
    pub(super) fn source_ports(&self) -> BTreeSet<u16> {
        self.outcomes.iter().map(|outcome| outcome.flow.source_port).collect()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.first.seen.ended == Ended::Lost
    }
}

/// The probes in groups, in the order of their first probes; groups of lost probes come last.
pub(super) fn groups(outcomes: &[Outcome]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for outcome in outcomes {
        match groups.iter_mut().find(|group| is_same(&group.first.seen, &outcome.seen)) {
            Some(group) => group.outcomes.push(outcome),
            None => groups.push(Group { first: outcome, outcomes: vec![outcome] }),
        }
    }
    groups.sort_by_key(Group::is_lost);
    groups
}

fn is_same(one: &Seen, other: &Seen) -> bool {
    (one.ended, one.at, one.reason, one.hidden_hops)
        == (other.ended, other.at, other.reason, other.hidden_hops)
        && one.path() == other.path()
}
