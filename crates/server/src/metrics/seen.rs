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
use crate::pipeline::{ClockView, ProcessorTime, Sight};
use crate::receive::ReceptionCounts;

/// The counts at one time.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    now: Nanos,
    ledger: Ledger,
    streams: usize,
    reception: ReceptionCounts,
    clock: ClockView,
    processor: ProcessorTime,
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
            processor: sight.processor,
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
        families.push(self.of_processor());
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
        let help = "Configured name of a node, as a label; always 1.";
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
            ("inband_datagrams_received_total", "Datagrams read from the sockets.", ledger.received),
            (
                "inband_datagrams_kernel_dropped_total",
                "Datagrams dropped by the kernel because the socket's buffer was full.",
                ledger.kernel_dropped,
            ),
            (
                "inband_datagrams_refused_total",
                "Datagrams from addresses that are not allowed to report.",
                ledger.refused,
            ),
            (
                "inband_datagrams_malformed_total",
                "Datagrams that are not telemetry reports.",
                ledger.malformed,
            ),
            ("inband_datagrams_shed_total", "Datagrams dropped because a queue was full.", ledger.shed),
            ("inband_datagrams_accepted_total", "Datagrams decoded and counted once.", ledger.accepted),
            (
                "inband_datagrams_duplicate_total",
                "Datagrams that had been accepted before.",
                ledger.duplicate,
            ),
            (
                "inband_datagrams_reordered_total",
                "Accepted datagrams that arrived after a later one.",
                ledger.reordered,
            ),
            (
                "inband_datagrams_late_total",
                "Accepted datagrams that arrived too late to be classified.",
                ledger.late,
            ),
            (
                "inband_reports_accepted_total",
                "Individual reports in accepted datagrams.",
                ledger.accepted_reports,
            ),
            ("inband_reports_stored_total", "Individual reports written to history.", stored),
            (
                "inband_reports_store_failed_total",
                "Individual reports that could not be written to history.",
                store_failed,
            ),
            ("inband_receive_failures_total", "Failed reads of a socket.", reception.failures),
            ("inband_losses_unknown_total", "Losses of an unknown number of datagrams.", ledger.lost_unknown),
        ];
        let counters = counters.map(|(name, help, value)| Family::counter(name, help).of(value));
        let mut families = Vec::from(counters);
        let help = "Datagrams that were sent and have not arrived; falls when one arrives later.";
        families.push(Family::gauge("inband_datagrams_lost", help).of(ledger.lost));
        families
    }

    fn of_clock(&self) -> [Family; 2] {
        let last = "Last step of the time of day while the collector ran; negative: backwards.";
        [
            Family::counter("inband_clock_steps_total", "Steps of the time of day while the collector ran.")
                .of(self.clock.steps),
            Family::gauge("inband_clock_last_step_seconds", last).of(signed_seconds(self.clock.last_step_ns)),
        ]
    }

    fn of_processor(&self) -> Family {
        let ProcessorTime { reports, queries } = self.processor;
        let times = [("reports", reports), ("queries", queries)];
        let times = times.map(|(of, time)| Sample::new([("for", of.to_owned())], time.as_secs_f64()));
        let help = "Processor time of the thread that processes reports, spent on them or on queries.";
        Family::counter("inband_processing_seconds_total", help).with(times)
    }

    /// Families of unparsable reports and of full tables.
    fn of_faults(&self) -> [Family; 3] {
        let samples = |faults: &[FaultCount]| -> Vec<Sample> {
            let sample = |FaultCount { header, fault, count }: &FaultCount| {
                Sample::new([("header", header.clone()), ("fault", fault.clone())], *count)
            };
            faults.iter().map(sample).collect()
        };
        let help = "Malformed datagrams, by header and fault.";
        let malformed = Family::counter("inband_datagrams_malformed_by_fault_total", help);
        let help =
            "Reported packets that are marked as INT and cannot be parsed; their reports are accepted.";
        let unreadable = Family::counter("inband_packets_unreadable_total", help);
        let help = "Entries removed or not added because a table was full; flows also because of their age.";
        let overflows =
            self.overflows.iter().map(|(name, count)| Sample::new([("what", name.clone())], *count));
        [
            malformed.with(samples(&self.malformed)),
            unreadable.with(samples(&self.unreadable)),
            Family::counter("inband_overflows_total", help).with(overflows),
        ]
    }

    fn of_tables(&self) -> [Family; 5] {
        let help = "Known nodes and queues without series; at most 1,000 of each have them.";
        let [nodes, queues] = self.left_out;
        let left_out = [("nodes", nodes), ("queues", queues)];
        let left_out = left_out.map(|(of, count)| Sample::new([("of", of.to_owned())], count));
        [
            Family::gauge("inband_streams", "Known streams of reports.").of(self.streams),
            Family::gauge("inband_flows", "Flows in recent reports.").of(self.flows),
            Family::gauge("inband_nodes", "Known nodes; at most 1,000 have series.").of(self.all_nodes),
            Family::gauge("inband_events_active", "Active events.").of(self.active_events),
            Family::gauge("inband_series_left_out", help).with(left_out),
        ]
    }

    fn of_evidence(&self) -> [Family; 2] {
        let EvidenceCounts { kept, gone, shed, recent_bytes } = self.evidence;
        let outcomes = [("kept", kept), ("gone", gone), ("shed", shed)];
        let outcomes = outcomes.map(|(of, count)| Sample::new([("outcome", of.to_owned())], count));
        let help = "Reports that are the evidence of events: `kept` in history, `gone` from memory before, or `shed` because \
                    there were too many.";
        let recent = "Memory of the most recent datagrams, bytes.";
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
        let median = "Median hop latency of a node over about the last million packets, at most 3.2 % off.";
        let p99 = "99th percentile of the hop latency of a node, at most 3.2 % off.";
        let help = "Datagrams of a node that have not arrived; falls when one arrives later.";
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
        let help = "Maximum occupancy of a queue in the last seconds, in the node's unit.";
        [Family::gauge("inband_queue_occupancy", help).with(samples)]
    }
}

/// Families of the store.
fn of_store(tally: &Tally, is_written: bool) -> Vec<Family> {
    let help = "1: history is being written; 0: the disk refuses it.";
    let up = Family::gauge("inband_store_up", help).of(is_written);
    let lost = [("disk", refused(tally)), ("queue", tally.shed)];
    let lost = lost.map(|(reason, count)| Sample::new([("reason", reason.to_owned())], count));
    let help = "Individual reports lost by the store: refused by the disk, or more than its queue holds.";
    let lost = Family::counter("inband_store_lost_reports_total", help).with(lost);
    let help =
        "Individual reports in a directory of the store that was removed or replaced, until it returns.";
    let gone = Family::gauge("inband_store_gone_reports", help).of(tally.gone);
    let others = [("disk", tally.others_failed), ("queue", tally.others_shed)];
    let others = others.map(|(reason, count)| Sample::new([("reason", reason.to_owned())], count));
    let help = "Paths, events, ledgers and evidence lost by the store, by the same reasons.";
    let others = Family::counter("inband_store_lost_rows_total", help).with(others);
    let help = "Individual reports that wait to be written.";
    let waiting = Family::gauge("inband_store_waiting_reports", help).of(tally.waiting);
    let counters = [
        (
            "inband_store_flush_failures_total",
            "Failed attempts to write a segment; each is repeated.",
            tally.flush_failures,
        ),
        (
            "inband_store_removed_segments_total",
            "Segments removed because of their age or the size of the store.",
            tally.removed_segments,
        ),
        (
            "inband_store_recovered_reports_total",
            "Individual reports found in logs at the start.",
            tally.recovered,
        ),
        (
            "inband_store_torn_bytes_total",
            "Bytes of incomplete ends of logs, removed at the start.",
            tally.torn_bytes,
        ),
        (
            "inband_store_damaged_blocks_total",
            "Damaged blocks of logs found at the start; their unreadable parts are skipped.",
            tally.damaged_blocks,
        ),
        (
            "inband_store_damaged_places_total",
            "Damaged places of segments found by queries.",
            tally.damaged_places,
        ),
        (
            "inband_store_merged_segments_total",
            "Segments of roll-ups merged into one for their hour.",
            tally.merged_segments,
        ),
        ("inband_store_decoded_blocks_total", "Blocks of logs decoded for queries.", tally.decoded_blocks),
    ];
    let counters = counters.map(|(name, help, value)| Family::counter(name, help).of(value));
    let help = "Memory of decoded logs, shared by queries, bytes.";
    let decoded = Family::gauge("inband_store_decoded_bytes", help).of(tally.decoded_bytes);
    let help = "Memory of footers of segments, shared by queries, bytes.";
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
