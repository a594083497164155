//! Reports of versions before 2.0.

use std::fmt::{self, Write};

use inband_wire::report::earlier::{DropSummary, ReportKind};

use super::block::{Block, date, plural};
use super::drops::{reasons, write_drop_reason};
use super::metadata;
use crate::packet::{Earlier, Report};

/// Prints the node's own data; the packet follows.
pub(super) fn write<W: Write>(earlier: &Earlier, report: &Report, block: &mut Block<'_, W>) -> fmt::Result {
    let kind = match earlier.kind {
        ReportKind::Packet => "a packet, whose INT may say more",
        ReportKind::Local => "what the node saw of a packet",
        ReportKind::Drop => "a packet that the node dropped",
        ReportKind::Latency => "the INT headers of a packet, with the sink's own hop",
        ReportKind::DropSummary => "packets that a flow has lost",
    };
    block.line(2, format_args!("Report: {kind}"))?;
    block.line(2, format_args!("Reason: {}", reasons(report)))?;
    if let Some(seconds) = earlier.reported_at_s {
        block.line(2, format_args!("Made: {seconds} s ({})", date(nanoseconds(seconds))))?;
    }
    if !report.metadata.is_empty() {
        block.line(2, "Metadata")?;
        metadata::write(&report.metadata, 3, block)?;
    }
    write_drop_reason(report, block)?;
    earlier.drop_summary.as_ref().map_or(Ok(()), |summary| write_summary(summary, block))
}

fn write_summary<W: Write>(summary: &DropSummary, block: &mut Block<'_, W>) -> fmt::Result {
    let gap = summary.gap();
    let (source, sink) = (summary.source_node_id(), summary.sink_node_id());
    let count = usize::try_from(gap.count).unwrap_or(usize::MAX);
    block.line(2, format_args!("Lost between node {source} and node {sink}: {}", plural(count, "packet")))?;
    block.line(2, format_args!("Source ingress interface: {}", summary.ingress_port()))?;
    block.line(2, format_args!("Sink egress interface: {}", summary.egress_port()))?;
    block.line(2, format_args!("Last number in order before the gap: {}", gap.sequence))?;
    block.line(2, format_args!("First seen: {} s ({})", gap.seen_at_s, date(nanoseconds(gap.seen_at_s))))
}

fn nanoseconds(seconds: u32) -> u64 {
    u64::from(seconds) * 1_000_000_000
}
