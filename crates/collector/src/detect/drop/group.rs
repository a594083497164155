//! Drops at one place for one reason.

use inband_model::{Flow, Nanos, NodeId, ReportReference};

/// Where and why packets were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) node_id: NodeId,
    pub(super) reason: Option<u8>,
    pub(super) ingress: Option<u16>,
    pub(super) egress: Option<u16>,
    pub(super) queue_id: Option<u8>,
}

/// One report of a drop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dropped {
    pub(super) now: Nanos,
    pub(super) report: ReportReference,
    /// Number of packets the report covers.
    pub(super) packets: u64,
    pub(super) flow: Option<Flow>,
    /// TTL of the packet.
    pub(super) ttl: Option<u8>,
    /// Whether the queue it was to enter is congested.
    pub(super) is_congested: bool,
}

/// Drops at one place within a second.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) first: ReportReference,
    pub(super) last: ReportReference,
    pub(super) reports: u64,
    pub(super) packets: u64,
    /// Distinct flows with the TTL of their packets, at most [`MAX_FLOWS`].
    pub(super) flows: Vec<Victim>,
    pub(super) is_congested: bool,
}

/// A flow whose packets are dropped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Victim {
    pub(super) flow: Flow,
    pub(super) ttl: Option<u8>,
}

impl Group {
    pub(super) fn new(report: ReportReference) -> Self {
        Self { first: report, last: report, reports: 0, packets: 0, flows: Vec::new(), is_congested: false }
    }

    /// Adds a report.
    pub(super) fn take(&mut self, dropped: &Dropped) {
        self.last = dropped.report;
        self.reports += 1;
        self.packets += dropped.packets;
        self.is_congested |= dropped.is_congested;
        let Some(flow) = dropped.flow else { return };
        let is_known = self.flows.iter().any(|victim| victim.flow == flow);
        if !is_known && self.flows.len() < MAX_FLOWS {
            self.flows.push(Victim { flow, ttl: dropped.ttl });
        }
    }
}

impl Place {
    pub(super) fn key(&self) -> String {
        let text = |id: Option<u32>| id.map_or("?".to_owned(), |id| id.to_string());
        let interface = |id: Option<u16>| text(id.map(u32::from));
        format!(
            "node {} reason {} ingress {} egress {} queue {}",
            self.node_id,
            text(self.reason.map(u32::from)),
            interface(self.ingress),
            interface(self.egress),
            text(self.queue_id.map(u32::from))
        )
    }
}

/// Maximum number of distinct flows in a group.
const MAX_FLOWS: usize = 32;
