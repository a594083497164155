//! Packets that the kernel has dropped in front of all sockets and programs.

use inband_linux::backlog::{self, STATISTICS};

use super::finding::{Area, Finding};
use super::kernel::System;

const COMMANDS: &[&str] = &["collect", "lab"];
const LIMIT: &str = "proc/sys/net/core/netdev_max_backlog";
/// Packets that may wait for a processor where many come at once.
const ROOMY: u64 = 16_384;

/// Reads the drops of all processors since the machine started; `None` where the kernel does not count them.
pub(super) fn look(system: &System<'_>) -> Option<Finding> {
    let text = system.text(STATISTICS.trim_start_matches('/'))?;
    let dropped = backlog::sum(&text)?;
    Some(judge(dropped, system.number(LIMIT)))
}

fn judge(dropped: u64, limit: Option<u64>) -> Finding {
    let limit_text = limit.map_or(String::new(), |limit| format!(", up to {limit} wait per processor"));
    let finding = Finding::ok(
        Area::Collector,
        "backlog",
        format!("{dropped} packets dropped since the start{limit_text}"),
        COMMANDS,
    );
    match dropped {
        0 => finding,
        _ => finding.degraded(
            "packets that the kernel drops before it knows their socket are in no program's counts: reports \
             lost here show as gaps in their sequence numbers",
            format!("sudo sysctl -w net.core.netdev_max_backlog={}", ROOMY.max(limit.unwrap_or(0) * 2)),
        ),
    }
}

#[cfg(test)]
mod tests;
