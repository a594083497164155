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
        let rank = |flow: &FlowView<'_>| (Reverse(flow.reports), flow.id);
        let mut flows: Vec<FlowView<'_>> = self.snapshot.flows().collect();
        if count < flows.len() {
            flows.select_nth_unstable_by_key(count, rank);
            flows.truncate(count);
        }
        flows.sort_by_key(rank);
        flows
    }
}
