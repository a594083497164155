//! The lines for flows, queues, packets, reports and events; each fits 80 columns.

use std::time::Duration;

use inband_collector::QueueView;
use inband_model::{Event, Ledger as ReportLedger};

use super::monitor::KnownFlow;
use super::scenario::Scenario;
use super::words::{count, latencies, occupancy, path, queue_name, seconds, sentence};

/// The heading above flows.
pub(super) fn flow_heading() -> String {
    format!("{:<36} {:<19} {:>12} {:>9}", "Flow", "Path", "Hops, us", "Reports")
}

/// A flow with its path, the latest latency of each hop, and how often it was reported.
pub(super) fn flow(flow: &KnownFlow, scenario: &Scenario) -> String {
    let path = path(&flow.path, scenario);
    let (latencies, reports) = (latencies(&flow.hop_latency), count(flow.reports));
    format!("{:<36} {path:<19} {latencies:>12} {reports:>9}", flow.flow.to_string())
}

/// A queue with its recent depth and the greatest of the run.
pub(super) fn queue(queue: &QueueView, scenario: &Scenario) -> String {
    let (recent, max) = (occupancy(queue.recent), occupancy(queue.max));
    let mark = if queue.congested { "  congested" } else { "" };
    format!("{:<20} {recent:>10}, at most {max:>10}{mark}", queue_name(queue, scenario))
}

/// What became of the packets.
pub(super) fn packets(scenario: &Scenario) -> String {
    let ledger = scenario.packets();
    let changed = ledger.mismatched_total();
    format!(
        "Packets: {} sent, {} intact, {} changed, {} dropped, {} under way",
        count(ledger.sent),
        count(ledger.delivered - changed),
        count(changed),
        count(ledger.dropped_total()),
        count(scenario.packets_under_way()),
    )
}

/// What became of the reports; counts that are zero on a healthy machine are shown only when they are not.
pub(super) fn reports(ledger: &ReportLedger) -> String {
    let mut line = format!(
        "Reports: {} received, {} accepted, {} lost, {} malformed",
        count(ledger.received),
        count(ledger.accepted),
        count(ledger.lost),
        count(ledger.malformed),
    );
    for (number, name) in [(ledger.duplicate, "duplicate"), (ledger.shed, "shed")] {
        if number > 0 {
            line.push_str(&format!(", {} {name}", count(number)));
        }
    }
    line
}

/// An event with its time; what does not fit the first line goes on a second.
pub(super) fn event(at: Duration, event: &Event, scenario: &Scenario, width: usize) -> Vec<String> {
    let (subject, detail) = sentence(event, scenario);
    let start = format!("{:>7}  {}: {subject}", seconds(at), event.kind());
    if detail.is_empty() {
        return vec![start];
    }
    let line = format!("{start}: {detail}");
    if line.chars().count() <= width { vec![line] } else { vec![start, format!("{:9}{detail}", "")] }
}
