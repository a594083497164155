//! Counts of what was dropped or evicted because a table was full.

use crate::correlate::Correlator;
use crate::ledger::ReportLedger;
use crate::outbox::Outbox;

/// What was dropped or evicted because a table was full, and how full some tables are.
///
/// None of it is missing in the ledger: these datagrams and reports count as accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overflows {
    /// Streams evicted to make room for new ones.
    pub forgotten_streams: u64,
    /// Datagrams of streams for which there was no room: their losses are unknown.
    pub unfollowed_datagrams: u64,
    /// Datagrams of node ids beyond the limit of one source address.
    pub refused_node_ids: u64,
    /// Flows followed at present.
    pub flows: usize,
    /// Distinct paths of these flows.
    pub paths: usize,
    /// Flows evicted to make room for new ones.
    pub evicted_flows: u64,
    /// Flows expired for lack of reports.
    pub aged_flows: u64,
    /// Paths there was no room for, counted at each occurrence.
    pub refused_paths: u64,
    /// Links that were not learned, counted at each occurrence.
    pub unlearned_links: u64,
    /// Egress interfaces and queues without statistics, counted at each occurrence.
    pub unfollowed_ports: u64,
    /// Drop reports outside any group.
    pub ungrouped_drops: u64,
    /// Reports on packets older than the latest of their flow, which say nothing of its path.
    pub late_reports: u64,
    /// Reports of nodes beyond the 16 through which single reports of a flow are followed.
    pub unplaced_nodes: u64,
    /// Active events that are not tracked.
    pub untracked_events: u64,
    /// Outputs that were not polled in time.
    pub dropped_outputs: u64,
    /// Reports whose hops were not taken in time.
    pub dropped_records: u64,
}

impl Overflows {
    /// The counts of dropped and evicted items under the names shown to users; table sizes are not included.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 14] {
        [
            ("forgotten_streams", self.forgotten_streams),
            ("unfollowed_datagrams", self.unfollowed_datagrams),
            ("refused_node_ids", self.refused_node_ids),
            ("evicted_flows", self.evicted_flows),
            ("aged_flows", self.aged_flows),
            ("refused_paths", self.refused_paths),
            ("unlearned_links", self.unlearned_links),
            ("unfollowed_ports", self.unfollowed_ports),
            ("ungrouped_drops", self.ungrouped_drops),
            ("late_reports", self.late_reports),
            ("unplaced_nodes", self.unplaced_nodes),
            ("untracked_events", self.untracked_events),
            ("dropped_outputs", self.dropped_outputs),
            ("dropped_records", self.dropped_records),
        ]
    }

    pub(super) fn of(ledger: &ReportLedger, correlator: &Correlator, outbox: &Outbox) -> Overflows {
        let occupancy = correlator.occupancy();
        Overflows {
            forgotten_streams: ledger.forgotten_streams(),
            unfollowed_datagrams: ledger.unfollowed(),
            refused_node_ids: ledger.refused_node_ids(),
            flows: occupancy.flows,
            paths: occupancy.paths,
            evicted_flows: occupancy.evicted_flows,
            aged_flows: occupancy.aged_flows,
            refused_paths: occupancy.refused_paths,
            unlearned_links: occupancy.unlearned_links,
            unfollowed_ports: occupancy.unfollowed_ports,
            ungrouped_drops: occupancy.ungrouped_drops,
            late_reports: occupancy.late_reports,
            unplaced_nodes: occupancy.unplaced_nodes,
            untracked_events: outbox.book.untracked(),
            dropped_outputs: outbox.dropped(),
            dropped_records: 0,
        }
    }
}
