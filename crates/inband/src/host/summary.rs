//! What became of the packets, as text and as JSON.

use std::fmt::Write;

use inband_host::{Tally, Traffic};
use serde_json::{Map, Value, json};

/// A table of the counts, with the share of the watched traffic that had INT.
pub(super) fn text(tally: &Tally) -> String {
    let mut text = String::new();
    let rows = tally.outcomes.iter().filter(|(_, count)| *count > 0);
    for (outcome, count) in rows {
        let _ = writeln!(text, "{:<22}{count:>14} packets", outcome.name());
    }
    let of = |traffic| tally.traffic(traffic);
    for (what, with_int, all) in [
        ("packets", of(Traffic::IntPackets), of(Traffic::WatchedPackets)),
        ("bytes", of(Traffic::IntBytes), of(Traffic::WatchedBytes)),
    ] {
        if all > 0 {
            let share = percent(with_int, all);
            let _ = writeln!(text, "with INT: {with_int} of {all} watched {what}, {share} %");
        }
    }
    for (reason, count) in &tally.drops {
        let _ = writeln!(text, "dropped by the kernel {count:>14} packets: {reason}");
    }
    if tally.drops_not_held > 0 {
        let _ =
            writeln!(text, "dropped by the kernel {:>14} packets that no count holds", tally.drops_not_held);
    }
    let _ = writeln!(
        text,
        "reports: {} sent, {} refused, {} failed, {} withheld, {} limited, {} shed",
        tally.reports_sent,
        tally.reports_refused,
        tally.reports_failed,
        tally.reports_withheld,
        tally.reports_limited,
        tally.reports_shed
    );
    if tally.path_packets > 0 {
        let (lost, packets) = (tally.path_lost, tally.path_packets);
        let _ = writeln!(
            text,
            "lost on the way: {lost} of {packets} packets with INT, {} %",
            percent(lost, packets)
        );
    }
    text
}

/// The counts as JSON.
pub(super) fn json(tally: &Tally) -> Value {
    let outcomes: Map<_, _> =
        tally.outcomes.iter().map(|(outcome, count)| (outcome.name().to_owned(), json!(count))).collect();
    json!({
        "outcomes": outcomes,
        "watched": {
            "packets": tally.traffic(Traffic::WatchedPackets),
            "bytes": tally.traffic(Traffic::WatchedBytes),
            "int_packets": tally.traffic(Traffic::IntPackets),
            "int_bytes": tally.traffic(Traffic::IntBytes),
        },
        "reports": {
            "sent": tally.reports_sent,
            "refused": tally.reports_refused,
            "failed": tally.reports_failed,
            "withheld": tally.reports_withheld,
            "limited": tally.reports_limited,
            "shed": tally.reports_shed,
        },
        "leases": { "held": tally.leases_held, "granted": tally.leases_granted },
        "probes": {
            "sent": tally.probes_sent,
            "failed": tally.probes_failed,
            "withheld": {
                "per_second": tally.probes_withheld.per_second,
                "per_minute": tally.probes_withheld.per_minute,
                "refused": tally.probes_withheld.refused,
                "full": tally.probes_withheld.full,
            },
        },
        "paths": { "packets": tally.path_packets, "lost": tally.path_lost },
        "peers": {
            "known": tally.peers[0],
            "with_comparable_clock": tally.peers[1],
            "with_this_node_id": tally.peers[2],
        },
        "map_bytes": tally.map_bytes,
        "drops": tally.drops,
        "drops_not_held": tally.drops_not_held,
        "clock_uncertainty_ns": tally.clock_uncertainty_ns,
    })
}

/// A share with one decimal, rounded down: 100 means all.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}
