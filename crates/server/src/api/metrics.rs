//! What does Prometheus see? Counts and latencies with labels of a bounded number, no flows.

mod exports;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::{Arc, Weak};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use inband_collector::{LatencySummary, NodeView, QueueView};
use inband_model::{ExportLedger, FaultCount, Ledger, Nanos};
use inband_store::{Store, Tally};

use super::Shared;
use super::problem::Problem;
use crate::names::Names;
use crate::pipeline::{Asker, Sight};
use crate::receive::ReceptionCounts;

pub(super) async fn metrics(State(state): State<Shared>) -> Result<Response, Problem> {
    let text = state.look(Seen::of).await?.write(&state.names, state.store.as_deref());
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Who is asked for what Prometheus sees, so that outputs can send the same.
#[derive(Debug)]
pub(crate) struct MetricsSource {
    pub(crate) asker: Asker,
    pub(crate) names: Arc<Names>,
    /// Who asks does not keep the store open.
    pub(crate) store: Option<Weak<Store>>,
}

impl MetricsSource {
    /// What Prometheus sees at this time; `None` where the collector does not answer.
    pub(crate) fn text(&self) -> Option<String> {
        let seen = self.asker.ask(Seen::of).ok()?;
        let store = self.store.as_ref().and_then(Weak::upgrade);
        Some(seen.write(&self.names, store.as_deref()))
    }
}

/// What is counted, at one time.
struct Seen {
    ledger: Ledger,
    streams: usize,
    reception: ReceptionCounts,
    flows: usize,
    nodes: Vec<NodeView>,
    all_nodes: usize,
    queues: Vec<QueueView>,
    active_events: usize,
    exports: Vec<ExportLedger>,
    malformed: Vec<FaultCount>,
    unreadable: Vec<FaultCount>,
    overflows: BTreeMap<String, u64>,
}

impl Seen {
    fn of(sight: &mut Sight<'_>) -> Seen {
        let mut nodes = sight.collector.nodes();
        let all_nodes = nodes.len();
        nodes.truncate(MOST_NODES);
        let view = sight.ledger();
        Seen {
            ledger: view.total,
            streams: view.streams.len(),
            reception: sight.reception,
            flows: sight.collector.flows().count(),
            nodes,
            all_nodes,
            queues: sight.collector.deepest_queues(sight.now, MOST_QUEUES),
            active_events: sight.collector.active_events().count(),
            exports: view.exports,
            malformed: view.malformed,
            unreadable: view.unreadable,
            overflows: view.overflows,
        }
    }

    fn write(&self, names: &Names, store: Option<&Store>) -> String {
        let mut out = String::new();
        self.write_ledger(&mut out);
        self.write_faults(&mut out);
        let gauge =
            |out: &mut String, name, help, value: usize| family(out, name, "gauge", help, [("", value)]);
        gauge(&mut out, "inband_streams", "Streams of reports that are known.", self.streams);
        gauge(&mut out, "inband_flows", "Flows that reports told of lately.", self.flows);
        gauge(&mut out, "inband_nodes", "Nodes that are known; at most 1000 have metrics.", self.all_nodes);
        gauge(&mut out, "inband_events_active", "Events that go on.", self.active_events);
        exports::write(&mut out, &self.exports);
        self.write_nodes(&mut out);
        let queues = self.queues.iter().map(|queue| {
            let interface = queue.egress_interface.map_or_else(String::new, |id| id.to_string());
            let QueueView { node_id, queue_id, recent, .. } = queue;
            (format!("{{node=\"{}\",interface=\"{interface}\",queue=\"{queue_id}\"}}", node_id.0), recent)
        });
        let help = "Highest occupancy of the last seconds, in the node's unit, of the 1000 deepest queues.";
        family(&mut out, "inband_queue_occupancy", "gauge", help, queues);
        let named = self.nodes.iter().filter_map(|node| Some((node.node_id.0, names.node(node.node_id)?)));
        let named = named.map(|(id, name)| (format!("{{node=\"{id}\",name=\"{}\"}}", escaped(name)), 1));
        family(&mut out, "inband_node_info", "gauge", "What people call a node; always 1.", named);
        if let Some(store) = store {
            write_store(&mut out, &store.tally(), store.trouble().is_none());
        }
        out
    }

    fn write_ledger(&self, out: &mut String) {
        let (ledger, reception) = (&self.ledger, &self.reception);
        let counters = [
            ("datagrams_received", "Datagrams taken off the sockets.", ledger.received),
            ("datagrams_kernel_dropped", "Datagrams the kernel dropped.", ledger.kernel_dropped),
            ("datagrams_refused", "Datagrams from addresses that may not report.", ledger.refused),
            ("datagrams_malformed", "Datagrams that are no telemetry report.", ledger.malformed),
            ("datagrams_shed", "Datagrams dropped because a queue was full.", ledger.shed),
            ("datagrams_accepted", "Datagrams understood and counted once.", ledger.accepted),
            ("datagrams_duplicate", "Datagrams that had been accepted before.", ledger.duplicate),
            ("datagrams_reordered", "Accepted datagrams that came after a later one.", ledger.reordered),
            ("datagrams_late", "Accepted datagrams that came too late to judge.", ledger.late),
            ("reports_accepted", "Individual reports in accepted datagrams.", ledger.accepted_reports),
            ("reports_stored", "Individual reports in the store.", ledger.stored),
            ("reports_store_failed", "Individual reports the store did not take.", ledger.store_failed),
            ("receive_failures", "Times a socket could not be read.", reception.failures),
            ("losses_unknown", "Times an unknown number of datagrams was lost.", ledger.lost_unknown),
        ];
        for (name, help, value) in counters {
            family(out, &format!("inband_{name}_total"), "counter", help, [("", value)]);
        }
        let help = "Datagrams that were sent and did not arrive; falls when one arrives after all.";
        family(out, "inband_datagrams_lost", "gauge", help, [("", ledger.lost)]);
    }

    /// Why something was not understood, and what no table had room for.
    fn write_faults(&self, out: &mut String) {
        let samples = |faults: &[FaultCount]| -> Vec<(String, u64)> {
            let label = |FaultCount { header, fault, .. }: &FaultCount| {
                format!("{{header=\"{}\",fault=\"{}\"}}", escaped(header), escaped(fault))
            };
            faults.iter().map(|fault| (label(fault), fault.count)).collect()
        };
        let help = "Malformed datagrams by what was wrong with them.";
        family(out, "inband_datagrams_malformed_by_fault_total", "counter", help, samples(&self.malformed));
        let help = "Reported packets that are marked as INT and cannot be read; their reports are accepted.";
        family(out, "inband_packets_unreadable_total", "counter", help, samples(&self.unreadable));
        let help = "What was forgotten or passed over because a table was full; flows also for their age.";
        let overflows = self.overflows.iter().map(|(name, count)| (format!("{{what=\"{name}\"}}"), count));
        family(out, "inband_overflows_total", "counter", help, overflows);
    }

    fn write_nodes(&self, out: &mut String) {
        let label = |node: &NodeView| format!("{{node=\"{}\"}}", node.node_id.0);
        let reports = self.nodes.iter().map(|node| (label(node), node.reports));
        family(out, "inband_node_reports_total", "counter", "Individual reports of a node.", reports);
        let lost = self.nodes.iter().map(|node| (label(node), node.lost));
        let help = "Datagrams of a node that did not arrive; falls when one arrives after all.";
        family(out, "inband_node_datagrams_lost", "gauge", help, lost);
        let latency = |of: fn(&LatencySummary) -> Nanos| {
            let known = self.nodes.iter().filter_map(move |node| Some((label(node), node.latency?)));
            known.map(move |(label, latency)| (label, seconds(of(&latency))))
        };
        let help = "Median hop latency of a node over the last million packets or so, to 3.2 %.";
        let median = latency(|latency| latency.p50);
        family(out, "inband_node_hop_latency_median_seconds", "gauge", help, median);
        let help = "What 99 of 100 hop latencies of a node stay below, to 3.2 %.";
        let p99 = latency(|latency| latency.p99);
        family(out, "inband_node_hop_latency_p99_seconds", "gauge", help, p99);
    }
}

/// A text as it stands in a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// How history is kept.
fn write_store(out: &mut String, tally: &Tally, is_written: bool) {
    let help = "Whether history is being written: 1, or 0 while the disk does not take it.";
    family(out, "inband_store_up", "gauge", help, [("", u8::from(is_written))]);
    let lost = [("{reason=\"disk\"}", tally.failed), ("{reason=\"queue\"}", tally.shed)];
    let help = "Individual reports the store lost: the disk did not take them, or too much was waiting.";
    family(out, "inband_store_lost_reports_total", "counter", help, lost);
    let help = "Individual reports that are on their way to the disk.";
    family(out, "inband_store_waiting_reports", "gauge", help, [("", tally.waiting)]);
    let counters = [
        ("flush_failures", "Times segments could not be written; it is tried again.", tally.flush_failures),
        ("removed_segments", "Segments removed for their age or for want of room.", tally.removed_segments),
        ("recovered_reports", "Individual reports found in logs at the start.", tally.recovered),
        ("torn_bytes", "Bytes of torn ends cut off logs at the start.", tally.torn_bytes),
    ];
    for (name, help, value) in counters {
        family(out, &format!("inband_store_{name}_total"), "counter", help, [("", value)]);
    }
}

/// One metric with its samples: labels and value.
fn family<L: Display, V: Display>(
    out: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    samples: impl IntoIterator<Item = (L, V)>,
) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = writeln!(out, "{name}{labels} {value}");
    }
}

#[allow(clippy::cast_precision_loss, reason = "latencies are far below 2^52 nanoseconds")]
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

/// Most nodes with metrics of their own.
const MOST_NODES: usize = 1_000;
/// Most queues with metrics of their own.
const MOST_QUEUES: usize = 1_000;
