//! The interface between the streams of nodes and the flows.

use std::net::SocketAddr;

use inband_model::{Flow, Nanos, NodeId, ReportReference};
use serde::{Deserialize, Serialize};

use crate::ledger::Arrival;
use crate::report::{HopReading, Reading};
use crate::share::Share;
use crate::sighting::Sighting;

/// One report, counted and read, as passed from a [`StreamShard`](crate::StreamShard) to a
/// [`FlowShard`](crate::FlowShard).
///
/// It contains everything needed to follow flows, so both may run in different processes, with any format of
/// `serde` between them. It is written and read by the same version of this crate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    report: ReportReference,
    from: SocketAddr,
    session: SocketAddr,
    arrival: Arrival,
    reading: Reading,
    hops: Vec<HopReading>,
}

impl Handover {
    pub(crate) fn of(sighting: &Sighting<'_>) -> Self {
        let Sighting { report, from, session, arrival, reading, hops, .. } = *sighting;
        Self { report, from, session, arrival, reading: *reading, hops: hops.to_vec() }
    }

    pub(crate) fn sighting(&self, share: Share) -> Sighting<'_> {
        let Self { report, from, session, arrival, reading, hops } = self;
        Sighting {
            now: report.received_at,
            report: *report,
            from: *from,
            session: *session,
            arrival: *arrival,
            reading,
            hops,
            share,
        }
    }

    /// When the report was received.
    #[must_use]
    pub fn received_at(&self) -> Nanos {
        self.report.received_at
    }

    /// The node that sent it.
    #[must_use]
    pub fn node_id(&self) -> NodeId {
        self.report.node_id
    }

    /// The flow of the reported packet; `None` when the report does not contain it.
    #[must_use]
    pub fn flow(&self) -> Option<Flow> {
        self.reading.flow
    }

    /// Whether the report concerns the shard with this share: that of its flow, that of the node that sent
    /// it, and those of the nodes on its metadata stack.
    #[must_use]
    pub fn concerns(&self, share: Share) -> bool {
        self.reading.flow.is_some_and(|flow| share.has_flow(&flow))
            || share.has_node(self.report.node_id)
            || self.hops.iter().any(|reading| share.has_node(reading.hop.node_id))
    }
}
