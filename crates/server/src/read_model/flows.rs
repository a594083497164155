//! The flows of a snapshot, indexed by id.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use inband_collector::{FlowSnapshot, FlowView};
use inband_model::FlowId;

/// The flows at one time.
#[derive(Debug)]
pub(crate) struct Flows {
    snapshot: FlowSnapshot,
    /// The index, created on first use.
    places: OnceLock<HashMap<FlowId, usize>>,
}

impl Flows {
    pub(super) fn new(snapshot: FlowSnapshot) -> Self {
        Self { snapshot, places: OnceLock::new() }
    }

    /// All flows.
    pub(crate) fn all(&self) -> &FlowSnapshot {
        &self.snapshot
    }

    /// The flow with an id.
    pub(crate) fn by_id(&self, id: FlowId) -> Option<FlowView<'_>> {
        let places = self.places.get_or_init(|| {
            self.snapshot.flows().enumerate().map(|(place, flow)| (flow.id, place)).collect()
        });
        places.get(&id).map(|place| self.snapshot.flow(*place))
    }

    /// The `count` flows with the most reports, busiest first.
    pub(crate) fn busiest(&self, count: usize) -> Vec<FlowView<'_>> {
        // Few numbers of each flow are compared: views of all are far larger.
        let rank = |(flow, at): (FlowView<'_>, usize)| (Reverse(flow.reports), flow.id, at);
        let mut ranks: Vec<_> = self.snapshot.flows().zip(0..).map(rank).collect();
        if count < ranks.len() {
            ranks.select_nth_unstable(count);
            ranks.truncate(count);
        }
        ranks.sort_unstable();
        ranks.into_iter().map(|(_, _, at)| self.snapshot.flow(at)).collect()
    }
}
