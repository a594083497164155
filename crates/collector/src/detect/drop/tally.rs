//! How many packets of which flows were dropped.

use hashbrown::HashSet;
use inband_model::{Flow, FlowId};

use super::dropped::Dropped;
use super::room::Room;

/// Drops at one place, added up.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) reports: u64,
    pub(super) packets: u64,
    pub(super) flows: Flows,
    /// Whether the queue was ever congested.
    pub(super) is_congested: bool,
}

/// Distinct flows: the first [`MAX_NAMED`] by name, and the number of all, up to [`MAX_COUNTED`].
#[derive(Debug, Default)]
pub(super) struct Flows {
    named: Vec<Flow>,
    /// The ids of all flows, if they are more than are named; else empty.
    ids: HashSet<FlowId>,
}

impl Tally {
    /// Adds a report.
    pub(super) fn take(&mut self, dropped: &Dropped, ids: &mut Room) {
        self.reports += 1;
        self.packets += dropped.packets;
        self.is_congested |= dropped.is_congested;
        if let Some(flow) = &dropped.flow {
            self.flows.add(flow, ids);
        }
    }

    /// Adds another tally.
    pub(super) fn merge(&mut self, other: Self, ids: &mut Room) {
        self.reports += other.reports;
        self.packets += other.packets;
        self.is_congested |= other.is_congested;
        self.flows.merge(other.flows, ids);
    }

    /// Drops the tally and frees the room of its flows.
    pub(super) fn release(self, ids: &mut Room) {
        ids.free(self.flows.ids.len());
    }
}

impl Flows {
    /// The first flows.
    pub(super) fn named(&self) -> &[Flow] {
        &self.named
    }

    /// Number of flows: exact up to [`MAX_COUNTED`] and while there is room for their ids.
    pub(super) fn count(&self) -> u64 {
        self.named.len().max(self.ids.len()) as u64
    }

    /// Adds a flow unless it is known.
    pub(super) fn add(&mut self, flow: &Flow, ids: &mut Room) {
        if self.named.contains(flow) {
            return;
        }
        if self.named.len() < MAX_NAMED {
            self.named.push(*flow);
        } else {
            self.add_id(flow.id(), ids);
        }
    }

    fn merge(&mut self, other: Self, ids: &mut Room) {
        ids.free(other.ids.len());
        for flow in &other.named {
            self.add(flow, ids);
        }
        for id in other.ids {
            self.add_id(id, ids);
        }
    }

    fn add_id(&mut self, id: FlowId, ids: &mut Room) {
        if self.ids.is_empty() {
            if !ids.take(self.named.len()) {
                return;
            }
            self.ids.extend(self.named.iter().map(Flow::id));
        }
        if self.ids.len() < MAX_COUNTED && !self.ids.contains(&id) && ids.take(1) {
            self.ids.insert(id);
        }
    }
}

/// Maximum number of flows of a place that are named.
const MAX_NAMED: usize = 32;
/// Maximum number of flows of a place that are counted.
const MAX_COUNTED: usize = 4_096;

#[cfg(test)]
mod tests;
