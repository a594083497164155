//! The picture of a collector's state.

use std::cmp::Reverse;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use inband_model::{Event, FaultCount, Ledger, Nanos, Occupancy, Phase, Severity};

use super::client::{Flow, Interface, Latency, Queue, Seen, TitledEvent};
use crate::demo::words::{count, span};

/// One line of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) is_heading: bool,
}

/// Reports per second, measured between two snapshots.
#[derive(Debug, Default)]
pub(super) struct Rate(Option<(Instant, u64)>);

impl Rate {
    /// The rate since the last snapshot; `None` at the first.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are small and not negative"
    )]
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    pub(super) fn next(&mut self, seen: &Seen) -> Option<u64> {
        let reports = seen.ledger.total.accepted_reports;
        let (at, before) = self.0.replace((seen.at, reports))?;
        let seconds = seen.at.saturating_duration_since(at).as_secs_f64();
        (seconds > 0.0).then(|| (reports.saturating_sub(before) as f64 / seconds) as u64)
    }
}

/// The lines that fit a terminal of this size.
pub(super) fn picture(seen: &Seen, rate: Option<u64>, (_, height): (usize, usize)) -> Vec<Line> {
    let mut lines = vec![title(seen, rate)];
    lines.extend(ledger(&seen.ledger.total).map(plain));
    lines.extend(malformed(&seen.ledger.malformed).map(plain));
    // The rest is shared: hops and queues get a sixth each, events and flows a third.
    let room = height.saturating_sub(lines.len() + 4 * 2);
    part(
        &mut lines,
        &hop_row("Slowest hops", ["Now", "Median", "p99", "Highest"].map(str::to_owned)),
        hops(&seen.interfaces),
        room / 6,
    );
    part(&mut lines, &queue_row("Deepest queues", "Lately", "Highest"), queues(&seen.queues), room / 6);
    part(&mut lines, "Events, what goes on first", events(&seen.events), room / 3);
    // Flows get what the other parts left.
    let rest = height.saturating_sub(lines.len() + 2);
    part(
        &mut lines,
        &flow_row("Flows with the most reports", "Reports", "Path (hops in us)"),
        seen.flows.iter().map(flow),
        rest,
    );
    lines
}

fn title(seen: &Seen, rate: Option<u64>) -> Line {
    let rate = rate.map_or_else(|| "-".to_owned(), count);
    let streams = seen.ledger.streams.len();
    let text = format!("inband top: {}, {} streams, {rate} reports/s", seen.collector, count(streams as u64));
    Line { text, is_heading: true }
}

/// Every place where a datagram or report can be; counts that should be zero are shown only when they are
/// not.
fn ledger(total: &Ledger) -> impl Iterator<Item = String> {
    let datagrams =
        format!("Datagrams: {} received, {} accepted", count(total.received), count(total.accepted));
    let reports =
        format!("Reports:   {} accepted, {} stored", count(total.accepted_reports), count(total.stored));
    let faults = |start: String, faults: &[(u64, &str)]| {
        let faults = faults.iter().filter(|(number, _)| *number > 0);
        faults.fold(start, |line, (number, name)| format!("{line}, {} {name}", count(*number)))
    };
    let datagrams = faults(
        datagrams,
        &[
            (total.lost, "lost"),
            (total.lost_unknown, "times an unknown number lost"),
            (total.kernel_dropped, "dropped by the kernel"),
            (total.refused, "from addresses that may not report"),
            (total.shed, "shed"),
            (total.malformed, "malformed"),
            (total.duplicate, "duplicate"),
            (total.reordered, "reordered"),
            (total.late, "late"),
        ],
    );
    let reports = faults(
        reports,
        &[(total.store_failed, "not stored"), (total.export_failed, "messages not exported")],
    );
    [datagrams, reports].into_iter()
}

/// The most frequent faults of malformed datagrams; `None` if there are none.
fn malformed(faults: &[FaultCount]) -> Option<String> {
    let mut faults: Vec<&FaultCount> = faults.iter().collect();
    faults.sort_by_key(|fault| Reverse(fault.count));
    let told = |fault: &&FaultCount| format!("{} {}: {}", count(fault.count), fault.header, fault.fault);
    let told: Vec<String> = faults.iter().take(MAX_FAULTS).map(told).collect();
    (!told.is_empty()).then(|| format!("Malformed: {}", told.join(", ")))
}

fn part(lines: &mut Vec<Line>, heading: &str, rows: impl Iterator<Item = String>, most: usize) {
    lines.push(plain(String::new()));
    lines.push(Line { text: heading.to_owned(), is_heading: true });
    let before = lines.len();
    lines.extend(rows.take(most.clamp(1, MAX_ROWS)).map(plain));
    if lines.len() == before {
        lines.push(plain("none".to_owned()));
    }
}

/// The hops with the highest 99th percentile of latency.
fn hops(interfaces: &[Interface]) -> impl Iterator<Item = String> {
    let mut hops: Vec<(&Interface, Latency)> =
        interfaces.iter().filter_map(|hop| Some((hop, hop.latency?))).collect();
    hops.sort_by_key(|(_, latency)| Reverse(latency.p99));
    hops.into_iter()
        .map(|(hop, latency)| {
            let [last, p50, p99, max] =
                [latency.last, latency.p50, latency.p99, latency.max].map(|time| span(Nanos(time)));
            let name = place(&hop.node_name, hop.node_id, &hop.interface_name, hop.egress_interface);
            hop_row(&name, [last, p50, p99, max])
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn queues(queues: &[Queue]) -> impl Iterator<Item = String> {
    queues.iter().filter(|queue| queue.max > 0).map(|queue| {
        let place = place(&queue.node_name, queue.node_id, &queue.interface_name, queue.egress_interface);
        let name = format!("{place} q{}", queue.queue_id);
        let mark = if queue.congested { "  congested" } else { "" };
        let depth = |value: u32, bytes| match queue.unit {
            None => count(value.into()),
            unit => Occupancy { value, unit, bytes }.to_string(),
        };
        let [recent, max] = [depth(queue.recent, queue.recent_bytes), depth(queue.max, queue.max_bytes)];
        queue_row(&name, &recent, &max) + mark
    })
}

/// Active events that matter first, then the latest.
fn events(events: &[TitledEvent]) -> impl Iterator<Item = String> {
    let matters = |event: &Event| event.phase == Phase::Begin && event.severity > Severity::Info;
    let mut events: Vec<&TitledEvent> = events.iter().collect();
    events.sort_by_key(|TitledEvent { view, .. }| Reverse((matters(&view.event), view.event.last)));
    events.into_iter().map(event).collect::<Vec<_>>().into_iter()
}

fn event(TitledEvent { view, title }: &TitledEvent) -> String {
    let event = &view.event;
    let severity = match event.severity {
        Severity::Info => "",
        Severity::Warning => "warning",
        Severity::Critical => "CRITICAL",
    };
    let phase = match event.phase {
        Phase::Once => "",
        Phase::Begin => " begins",
        Phase::End => " ends",
    };
    let marks = match (&view.acknowledged, event.silenced) {
        (Some(acknowledged), _) => format!("  (known to {})", acknowledged.by),
        (None, true) => "  (silenced)".to_owned(),
        (None, false) => String::new(),
    };
    format!("{}  {severity:<8}  {}{phase}: {title}{marks}", clock(event.last), event.kind())
}

fn flow(flow: &Flow) -> String {
    let hops = flow.path.as_ref().map(inband_model::Path::hops).unwrap_or_default();
    let names = flow.path_names.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let path: Vec<String> = hops
        .iter()
        .zip(names)
        .map(|(hop, name)| name.map_or_else(|| hop.node_id.0.to_string(), |name| short(name)))
        .collect();
    let micros = flow.hop_latency.iter().map(|latency| match latency {
        Some(latency) => latency.div_ceil(1_000).to_string(),
        None => "?".to_owned(),
    });
    let micros: Vec<String> = micros.collect();
    let name = match (&flow.source_name, &flow.destination_name) {
        (None, None) => flow.flow.to_string(),
        (source, destination) => named_flow(&flow.flow, source.as_deref(), destination.as_deref()),
    };
    flow_row(&name, &count(flow.reports), &format!("{} ({})", path.join(" > "), micros.join(" ")))
}

fn hop_row(name: &str, [last, p50, p99, max]: [String; 4]) -> String {
    format!("{name:<20} {last:>12} {p50:>12} {p99:>12} {max:>12}")
}

fn queue_row(name: &str, recent: &str, max: &str) -> String {
    format!("{name:<20} {recent:>12} {max:>12}")
}

fn flow_row(name: &str, reports: &str, path: &str) -> String {
    format!("{name:<44} {reports:>9}  {path}")
}

/// A node and its interface, by name where they have one.
fn place(
    node_name: &Option<String>,
    node: u32,
    interface_name: &Option<String>,
    interface: Option<u16>,
) -> String {
    let node = node_name.as_deref().map_or_else(|| format!("node {node}"), short);
    let interface = interface_name.clone().or_else(|| interface.map(|id| id.to_string()));
    interface.map_or_else(|| node.clone(), |interface| format!("{node} if {interface}"))
}

/// `tcp web:443 > lab:1234`.
fn named_flow(flow: &inband_model::Flow, source: Option<&str>, destination: Option<&str>) -> String {
    let text = flow.to_string();
    let protocol = text.split_once(' ').map_or("", |(protocol, _)| protocol);
    let end = |name: Option<&str>, address: IpAddr, port: u16| match name {
        Some(name) => format!("{}:{port}", short(name)),
        None => SocketAddr::new(address, port).to_string(),
    };
    let source = end(source, flow.source, flow.source_port);
    format!("{protocol} {source} > {}", end(destination, flow.destination, flow.destination_port))
}

/// The part of a name that fits a column; ONOS calls devices `device:leaf1`.
fn short(name: &str) -> String {
    name.strip_prefix("device:").unwrap_or(name).chars().take(MAX_NAME).collect()
}

/// The time of day, UTC.
fn clock(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn plain(text: String) -> Line {
    Line { text, is_heading: false }
}

/// Most faults of malformed datagrams that are shown.
const MAX_FAULTS: usize = 3;
/// Longest name that is shown, characters.
const MAX_NAME: usize = 16;
/// Most lines of one part when nothing else limits them.
const MAX_ROWS: usize = 20;

#[cfg(test)]
mod tests;
