//! A view of the collector's counts, and the metric families created from it.

use std::collections::BTreeMap;
use std::time::Duration;

use inband_collector::{LatencySummary, NodeView, QueueView};
use inband_export::{Family, Sample};
use inband_model::{ExportLedger, FaultCount, Ledger, Names, Nanos};
use inband_store::Tally;

use super::chosen::{Activity, Chosen};
use super::exports;
use crate::archive::Archive;
use crate::evidence::EvidenceCounts;
use crate::pipeline::{ClockView, Sight};
use crate::receive::ReceptionCounts;

/// The counts at one time.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    now: Nanos,
    ledger: Ledger,
    streams: usize,
    reception: ReceptionCounts,
    clock: ClockView,
    flows: usize,
    /// Every node; after `choose`, those with series.
    nodes: Vec<NodeView>,
    all_nodes: usize,
    /// Every queue; after `choose`, those with series.
    queues: Vec<QueueView>,
    /// Known nodes and queues without series.
    left_out: [usize; 2],
    active_events: usize,
    exports: Vec<ExportLedger>,
    malformed: Vec<FaultCount>,
    unreadable: Vec<FaultCount>,
    overflows: BTreeMap<String, u64>,
    evidence: EvidenceCounts,
}

impl Seen {
    /// Copies only what is needed, so that nothing is written or sorted on the thread where reports wait.
    pub(crate) fn of(sight: &mut Sight<'_>) -> Self {
        let nodes = sight.collector.nodes();
        let view = sight.ledger();
        Self {
            now: sight.now,
            ledger: view.total,
            streams: view.streams.len(),
            reception: sight.reception,
            clock: sight.clock,
            flows: sight.collector.overflows().flows,
            all_nodes: nodes.len(),
            nodes,
            queues: sight.collector.queues().collect(),
            left_out: [0, 0],
            active_events: sight.collector.active_events().count(),
            exports: view.exports,
            malformed: view.malformed,
            unreadable: view.unreadable,
            overflows: view.overflows,
            evidence: sight.evidence(),
        }
    }

    /// Removes the nodes and queues without series; `uptime` is the time since the reader's start.
    pub(super) fn choose(mut self, chosen: &mut Chosen, uptime: Duration) -> Self {
        let key = |queue: &QueueView| (queue.node_id, queue.egress_interface, queue.queue_id);
        let Chosen { nodes, queues } = chosen;
        nodes.look(uptime, self.nodes.iter().map(|node| (node.node_id, Activity::of_node(node))));
        let now = self.now;
        queues.look(uptime, self.queues.iter().map(|queue| (key(queue), Activity::of_queue(queue, now))));
        self.left_out = [nodes.left_out(), queues.left_out()];
        self.nodes.retain(|node| nodes.has(&node.node_id));
        self.queues.retain(|queue| queues.has(&key(queue)));
        self.queues.sort_by_key(key);
        self
    }

    /// Every family.
    pub(super) fn families(&self, names: &Names, archive: Option<&dyn Archive>) -> Vec<Family> {
        let tally = archive.map(|archive| archive.tally());
        let mut families = self.of_ledger(tally.as_ref());
        families.extend(self.of_clock());
        families.extend(self.of_faults());
        families.extend(self.of_tables());
        families.extend(self.of_evidence());
        families.extend(exports::families(&self.exports));
        families.extend(self.of_nodes());
        families.extend(self.of_queues());
        let named = self.nodes.iter().filter_map(|node| {
            let labels =
                [("node", node.node_id.0.to_string()), ("name", names.node(node.node_id)?.to_owned())];
            Some(Sample::new(labels, 1_u64))
        });
        let help = "What people call a node; always 1.";
        families.push(Family::gauge("inband_node_info", help).with(named));
        if let Some((archive, tally)) = archive.zip(tally) {
            families.extend(of_store(&tally, archive.trouble().is_none()));
        }
        families
    }

    fn of_ledger(&self, tally: Option<&Tally>) -> Vec<Family> {
        let (ledger, reception) = (&self.ledger, &self.reception);
        // The ledger moves reports between these two when their directory is lost or returns.
        let [stored, store_failed] = tally.map_or([ledger.stored, ledger.store_failed], |tally| {
            [tally.stored + tally.gone, refused(tally) + tally.shed]
        });
        let counters = [
            ("inband_datagrams_received_total", "Datagrams taken off the sockets.", ledger.received),
            ("inband_datagrams_kernel_dropped_total", "Datagrams the kernel dropped.", ledger.kernel_dropped),
            (
                "inband_datagrams_refused_total",
                "Datagrams from addresses that may not report.",
                ledger.refused,
            ),
            ("inband_datagrams_malformed_total", "Datagrams that are no telemetry report.", ledger.malformed),
            ("inband_datagrams_shed_total", "Datagrams dropped because a queue was full.", ledger.shed),
            ("inband_datagrams_accepted_total", "Datagrams understood and counted once.", ledger.accepted),
            (
                "inband_datagrams_duplicate_total",
                "Datagrams that had been accepted before.",
                ledger.duplicate,
            ),
            (
                "inband_datagrams_reordered_total",
                "Accepted datagrams that came after a later one.",
                ledger.reordered,
            ),
            ("inband_datagrams_late_total", "Accepted datagrams that came too late to judge.", ledger.late),
            (
                "inband_reports_accepted_total",
                "Individual reports in accepted datagrams.",
                ledger.accepted_reports,
            ),
            ("inband_reports_stored_total", "Individual reports the store has written.", stored),
            ("inband_reports_store_failed_total", "Individual reports the store did not take.", store_failed),
            ("inband_receive_failures_total", "Times a socket could not be read.", reception.failures),
            (
                "inband_losses_unknown_total",
                "Times an unknown number of datagrams was lost.",
                ledger.lost_unknown,
            ),
        ];
        let counters = counters.map(|(name, help, value)| Family::counter(name, help).of(value));
        let mut families = Vec::from(counters);
        let help = "Datagrams that were sent and did not arrive; falls when one arrives after all.";
        families.push(Family::gauge("inband_datagrams_lost", help).of(ledger.lost));
        families
    }

    fn of_clock(&self) -> [Family; 2] {
        let last =
            "By how much the time of day was set the last time while the collector ran; back is below 0.";
        [
            Family::counter(
                "inband_clock_steps_total",
                "Times the time of day was set while the collector ran.",
            )
            .of(self.clock.steps),
            Family::gauge("inband_clock_last_step_seconds", last).of(signed_seconds(self.clock.last_step_ns)),
        ]
    }

    /// Families of unparsable reports and of full tables.
    fn of_faults(&self) -> [Family; 3] {
        let samples = |faults: &[FaultCount]| -> Vec<Sample> {
            let sample = |FaultCount { header, fault, count }: &FaultCount| {
                Sample::new([("header", header.clone()), ("fault", fault.clone())], *count)
            };
            faults.iter().map(sample).collect()
        };
        let help = "Malformed datagrams by what was wrong with them.";
        let malformed = Family::counter("inband_datagrams_malformed_by_fault_total", help);
        let help = "Reported packets that are marked as INT and cannot be read; their reports are accepted.";
        let unreadable = Family::counter("inband_packets_unreadable_total", help);
        let help = "What was forgotten or passed over because a table was full; flows also for their age.";
        let overflows =
            self.overflows.iter().map(|(name, count)| Sample::new([("what", name.clone())], *count));
        [
            malformed.with(samples(&self.malformed)),
            unreadable.with(samples(&self.unreadable)),
            Family::counter("inband_overflows_total", help).with(overflows),
        ]
    }

    fn of_tables(&self) -> [Family; 5] {
        let help = "Nodes and queues that are known and have no series; at most 1000 of each have.";
        let [nodes, queues] = self.left_out;
        let left_out = [("nodes", nodes), ("queues", queues)];
        let left_out = left_out.map(|(of, count)| Sample::new([("of", of.to_owned())], count));
        [
            Family::gauge("inband_streams", "Streams of reports that are known.").of(self.streams),
            Family::gauge("inband_flows", "Flows that reports told of lately.").of(self.flows),
            Family::gauge("inband_nodes", "Nodes that are known; at most 1000 have metrics.")
                .of(self.all_nodes),
            Family::gauge("inband_events_active", "Events that go on.").of(self.active_events),
            Family::gauge("inband_series_left_out", help).with(left_out),
        ]
    }

    fn of_evidence(&self) -> [Family; 2] {
        let EvidenceCounts { kept, gone, shed, recent_bytes } = self.evidence;
        let outcomes = [("kept", kept), ("gone", gone), ("shed", shed)];
        let outcomes = outcomes.map(|(of, count)| Sample::new([("outcome", of.to_owned())], count));
        let help = "Reports that events rest on: their bytes went to history, were not among the newest datagrams any more, \
                    or were more than history takes.";
        let recent = "Memory of the newest datagrams, bytes.";
        [
            Family::counter("inband_evidence_reports_total", help).with(outcomes),
            Family::gauge("inband_recent_bytes", recent).of(recent_bytes),
        ]
    }

    fn of_nodes(&self) -> [Family; 4] {
        let label = |node: &NodeView| [("node", node.node_id.0.to_string())];
        let reports = self.nodes.iter().map(|node| Sample::new(label(node), node.reports));
        let lost = self.nodes.iter().map(|node| Sample::new(label(node), node.lost));
        let latency = |of: fn(&LatencySummary) -> Nanos| {
            let known = self.nodes.iter().filter_map(|node| Some((label(node), node.latency?)));
            let samples = known.map(|(label, latency)| Sample::new(label, seconds(of(&latency))));
            samples.collect::<Vec<_>>()
        };
        let median = "Median hop latency of a node over the last million packets or so, to 3.2 %.";
        let p99 = "What 99 of 100 hop latencies of a node stay below, to 3.2 %.";
        let help = "Datagrams of a node that did not arrive; falls when one arrives after all.";
        [
            Family::counter("inband_node_reports_total", "Individual reports of a node.").with(reports),
            Family::gauge("inband_node_datagrams_lost", help).with(lost),
            Family::gauge("inband_node_hop_latency_median_seconds", median)
                .with(latency(|latency| latency.p50)),
            Family::gauge("inband_node_hop_latency_p99_seconds", p99).with(latency(|latency| latency.p99)),
        ]
    }

    fn of_queues(&self) -> [Family; 1] {
        let samples = self.queues.iter().map(|queue| {
            let QueueView { node_id, egress_interface, queue_id, recent, .. } = queue;
            let interface = egress_interface.map_or_else(String::new, |id| id.to_string());
            let labels =
                [("node", node_id.0.to_string()), ("interface", interface), ("queue", queue_id.to_string())];
            Sample::new(labels, *recent)
        });
        let help = "Highest occupancy of the last seconds, in the node's unit.";
        [Family::gauge("inband_queue_occupancy", help).with(samples)]
    }
}

/// Families of the store.
fn of_store(tally: &Tally, is_written: bool) -> Vec<Family> {
    let help = "Whether history is being written: 1, or 0 while the disk does not take it.";
    let up = Family::gauge("inband_store_up", help).of(is_written);
    let lost = [("disk", refused(tally)), ("queue", tally.shed)];
    let lost = lost.map(|(reason, count)| Sample::new([("reason", reason.to_owned())], count));
    let help = "Individual reports the store lost: the disk did not take them, or too much was waiting.";
    let lost = Family::counter("inband_store_lost_reports_total", help).with(lost);
    let help = "Individual reports stored in a directory that is removed or replaced, until it returns.";
    let gone = Family::gauge("inband_store_gone_reports", help).of(tally.gone);
    let others = [("disk", tally.others_failed), ("queue", tally.others_shed)];
    let others = others.map(|(reason, count)| Sample::new([("reason", reason.to_owned())], count));
    let help = "Paths, events, ledgers and reports behind events that the store lost, by the same reasons.";
    let others = Family::counter("inband_store_lost_rows_total", help).with(others);
    let help = "Individual reports that are on their way to the disk.";
    let waiting = Family::gauge("inband_store_waiting_reports", help).of(tally.waiting);
    let counters = [
        (
            "inband_store_flush_failures_total",
            "Times segments could not be written; it is tried again.",
            tally.flush_failures,
        ),
        (
            "inband_store_removed_segments_total",
            "Segments removed for their age or for want of room.",
            tally.removed_segments,
        ),
        (
            "inband_store_recovered_reports_total",
            "Individual reports found in logs at the start.",
            tally.recovered,
        ),
        ("inband_store_torn_bytes_total", "Bytes of torn ends cut off logs at the start.", tally.torn_bytes),
        (
            "inband_store_damaged_blocks_total",
            "Damaged blocks of logs found at the start; what cannot be read of them is left out.",
            tally.damaged_blocks,
        ),
        (
            "inband_store_damaged_places_total",
            "Damaged places of segments that questions met.",
            tally.damaged_places,
        ),
        (
            "inband_store_merged_segments_total",
            "Segments of roll-ups that were replaced by one for their hour.",
            tally.merged_segments,
        ),
        (
            "inband_store_decoded_blocks_total",
            "Blocks of logs that were decoded for questions.",
            tally.decoded_blocks,
        ),
    ];
    let counters = counters.map(|(name, help, value)| Family::counter(name, help).of(value));
    let help = "Memory of the logs that questions share, decoded, bytes.";
    let decoded = Family::gauge("inband_store_decoded_bytes", help).of(tally.decoded_bytes);
    let help = "Memory of the footers of segments that questions share, bytes.";
    let footers = Family::gauge("inband_store_footer_bytes", help).of(tally.footer_bytes);
    [up, lost, gone, others, waiting, decoded, footers].into_iter().chain(counters).collect()
}

/// Reports that the disk did not take, without those that it took and lost.
fn refused(tally: &Tally) -> u64 {
    tally.failed.saturating_sub(tally.gone)
}

#[allow(clippy::cast_precision_loss, reason = "a gauge is a 64-bit float")]
fn signed_seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

#[allow(clippy::cast_precision_loss, reason = "latencies are far below 2^52 nanoseconds")]
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}
