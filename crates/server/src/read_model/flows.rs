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
    /// The places of flows in the order of their reports, created on first use.
    busiest: OnceLock<Vec<u32>>,
}

impl Flows {
    pub(super) fn new(snapshot: FlowSnapshot) -> Self {
        Self { snapshot, places: OnceLock::new(), busiest: OnceLock::new() }
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

    /// The flows, those with the most reports first.
    pub(crate) fn busiest(&self) -> impl Iterator<Item = FlowView<'_>> {
        let places = self.busiest.get_or_init(|| {
            // Few numbers of each flow are compared: views of all are far larger.
            let rank = |(flow, at): (FlowView<'_>, u32)| (Reverse(flow.reports), flow.id, at);
            let mut ranks: Vec<_> = self.snapshot.flows().zip(0..).map(rank).collect();
            ranks.sort_unstable();
            ranks.into_iter().map(|(.., at)| at).collect()
        });
        places.iter().map(|at| self.snapshot.flow(*at as usize))
    }
}
