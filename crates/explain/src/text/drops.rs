//! Why a packet was reported, and why it was dropped.

use std::fmt::{self, Write};

use super::block::Block;
use crate::packet::Report;

/// Prints the drop reason, with its description in the table.
pub(super) fn write_drop_reason<W: Write>(report: &Report, block: &mut Block<'_, W>) -> fmt::Result {
    let Some(drop) = report.drop else { return Ok(()) };
    let name = report.drop_reason.as_ref().map_or("not in the table", |reason| &reason.name);
    block.line(2, format_args!("Drop reason: {} ({name}), in queue {}", drop.reason, drop.queue_id))?;
    let Some(reason) = &report.drop_reason else { return Ok(()) };
    let lines = [("Meaning", &reason.meaning), ("To check", &reason.check)];
    for (title, text) in lines.into_iter().filter(|(_, text)| !text.is_empty()) {
        block.line(3, format_args!("{title}: {text}"))?;
    }
    Ok(())
}

/// Why the node sent the report, by its tracking bits.
pub(super) fn reasons(report: &Report) -> String {
    let flags = report.flags;
    let bits = [
        (flags.dropped, "a packet was dropped (D)"),
        (flags.congested_queue, "the queue is congested (Q)"),
        (flags.tracked_flow, "the flow is tracked (F)"),
        (flags.intermediate, "intermediate, metadata removed on the way (I)"),
    ];
    let set: Vec<&str> = bits.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
    if set.is_empty() { "none given".to_owned() } else { set.join(", ") }
}
