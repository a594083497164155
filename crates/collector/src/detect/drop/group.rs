//! Drops at one place for one reason.

use inband_model::{NodeId, ReportReference};

use super::dropped::Dropped;
use super::room::Room;
use super::suspects::Suspects;
use super::tally::Tally;

/// Where and why packets were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) node_id: NodeId,
    pub(super) reason: Option<u8>,
    pub(super) ingress: Option<u16>,
    pub(super) egress: Option<u16>,
    pub(super) queue_id: Option<u8>,
}

/// Drops at one place within a second.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) first: ReportReference,
    pub(super) last: ReportReference,
    pub(super) tally: Tally,
    /// The flows that may be blackholed; empty for other reasons.
    pub(super) suspects: Suspects,
}

/// Room for the state of all flows.
#[derive(Debug)]
pub(super) struct Rooms {
    /// For ids of flows that are counted.
    pub(super) ids: Room,
    /// For flows that may be blackholed.
    pub(super) suspects: Room,
}

impl Group {
    pub(super) fn new(report: ReportReference) -> Self {
        Self { first: report, last: report, tally: Tally::default(), suspects: Suspects::default() }
    }

    /// Adds a report; a flow that the node could not forward is a suspect.
    pub(super) fn take(&mut self, dropped: &Dropped, is_miss: bool, rooms: &mut Rooms) {
        self.last = dropped.report;
        self.tally.take(dropped, &mut rooms.ids);
        if is_miss && let Some(flow) = dropped.flow {
            self.suspects.take(flow, dropped, &mut rooms.suspects);
        }
    }
}

impl Rooms {
    pub(super) const fn new() -> Self {
        Self { ids: Room::new(MAX_IDS), suspects: Room::new(MAX_SUSPECTS) }
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

/// Maximum number of ids of flows, of all places together: about 3 MB.
const MAX_IDS: usize = 131_072;
/// Maximum number of flows that may be blackholed, of all places together: about 5 MB.
const MAX_SUSPECTS: usize = 32_768;
