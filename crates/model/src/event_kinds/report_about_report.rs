//! The detail of a `report-about-report` event.

use serde::{Deserialize, Serialize};

use crate::{Flow, NodeId};

/// A node watches the telemetry reports themselves: each report may cause another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAboutReport {
    /// The node that reports them.
    pub node_id: NodeId,
    /// The flow of the reports.
    pub flow: Flow,
}

impl ReportAboutReport {
    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        vec![self.node_id]
    }
}
