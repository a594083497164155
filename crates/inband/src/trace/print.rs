//! Traces as text and as JSON.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use anyhow::{Context, Error};
use serde_json::{Value, json};

use super::groups::{Group, groups};
use super::outcome::Outcome;
use super::routers::{Handling, Router};
use super::stack::{Ended, Hop, Seen};
use super::summary::Summary;

/// The JSON line of a probe.
pub(super) fn json(result: &Outcome) -> Result<String, Error> {
    let seen = &result.seen;
    let mut line = json!({
        "probe": result.number,
        "flow": result.flow,
        "hops": seen.hops,
        "ended": seen.ended,
    });
    if let Value::Object(line) = &mut line {
        if seen.hidden_hops > 0 {
            line.insert("hidden_hops".into(), seen.hidden_hops.into());
        }
        if let Some(at) = seen.at {
            line.insert("last_router".into(), at.to_string().into());
            line.extend(seen.reason.map(|reason| ("reason".into(), reason.into())));
        }
    }
    Ok(serde_json::to_string(&line).context("cannot write a probe down")? + "\n")
}

/// The JSON line of all probes; `routers`: those of the first flow, unless they were not looked for.
pub(super) fn json_summary(summary: &Summary, routers: Option<&[Router]>) -> String {
    let Summary { sent, lost, paths, .. } = summary;
    let mut line = json!({ "sent": sent, "lost": lost, "jitter": summary.jitter(), "paths": paths });
    if let (Some(routers), Value::Object(line)) = (routers, &mut line) {
        line.insert("routers".into(), json!(routers));
    }
    format!("{}\n", json!({ "summary": line }))
}

/// Each path with the results of its probes; `routers`: those of the first probe's flow.
pub(super) fn text(results: &[Outcome], routers: &[Router], ecmp: bool) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_text(&mut out, results, routers, ecmp);
    out
}

/// A text that follows others: in place of them on a terminal.
pub(super) fn next(text: &str, is_terminal: bool) -> String {
    if is_terminal { format!("\x1b[H\x1b[2J{text}") } else { format!("{text}\n") }
}

fn write_text(out: &mut String, results: &[Outcome], routers: &[Router], ecmp: bool) -> fmt::Result {
    let groups = groups(results);
    let has_swept = |group: &Group<'_>| {
        group.outcomes.iter().any(|outcome| results.first().is_some_and(|first| first.flow == outcome.flow))
    };
    let last_swept = groups.iter().rposition(has_swept);
    for (at, group) in groups.iter().enumerate() {
        let mut share = String::new();
        if ecmp {
            share += &format!(", {}", counted(group.source_ports().len(), "flow"));
        }
        if groups.len() > 1 {
            share += &format!(", {} of {}", group.outcomes.len(), counted(results.len(), "probe"));
        }
        write_group(out, group, &share)?;
        if ecmp && group.is_lost() {
            write_source_ports(out, group)?;
        }
        if Some(at) == last_swept {
            write_routers(out, routers)?;
        }
    }
    let paths: BTreeSet<_> =
        groups.iter().map(|group| &group.first.seen).filter(|seen| seen.has_path()).map(Seen::path).collect();
    let summary = Summary::of(results);
    let jitter = summary.jitter().map_or("-".into(), microseconds);
    let (probes, paths) = (counted(results.len(), "probe"), counted(paths.len(), "path"));
    writeln!(out, "{probes}, {} lost, {paths}, jitter {jitter} us", summary.lost)
}

/// The flow of a group's first probe, the hops of all of its probes, and where INT ended.
fn write_group(out: &mut String, group: &Group<'_>, share: &str) -> fmt::Result {
    let Outcome { flow, seen, .. } = group.first;
    writeln!(out, "{flow}{share}")?;
    if !seen.hops.is_empty() {
        writeln!(
            out,
            "  hop  node              in > out  latency us (least, mean, most)  link us  queue  bytes  utilization"
        )?;
    }
    if seen.hidden_hops > 0 {
        writeln!(
            out,
            "       {} before these, which the quote does not show",
            counted(seen.hidden_hops, "hop")
        )?;
    }
    for at in 0..seen.hops.len() {
        write_hop(out, at, group)?;
    }
    writeln!(out, "  ended: {}", ending(seen))
}

fn write_source_ports(out: &mut String, group: &Group<'_>) -> fmt::Result {
    let ports = group.source_ports();
    let shown: Vec<String> = ports.iter().take(MAX_PORTS).map(u16::to_string).collect();
    let more = ports.len().saturating_sub(MAX_PORTS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(out, "  source ports: {}{more}", shown.join(" "))
}

fn write_hop(out: &mut String, at: usize, group: &Group<'_>) -> fmt::Result {
    let seen = &group.first.seen;
    let Some(hop) = seen.hops.get(at) else { return Ok(()) };
    let latencies: Vec<u64> =
        group.outcomes.iter().filter_map(|outcome| outcome.seen.hops.get(at)?.hop_latency).collect();
    let latency = match (latencies.iter().min(), latencies.iter().max()) {
        (Some(least), Some(most)) => {
            let mean = latencies.iter().sum::<u64>() / latencies.len() as u64;
            format!("{} {} {}", microseconds(*least), microseconds(mean), microseconds(*most))
        }
        _ => "-".into(),
    };
    let name = name(hop);
    let interface = |id: Option<u16>| id.map_or("-".into(), |id| id.to_string());
    let link = hop.link_latency.map_or("-".into(), |link| {
        let uncertainty = hop.link_uncertainty.map_or(String::new(), |by| format!("±{}", microseconds(by)));
        format!("{:.1}{uncertainty}", link as f64 / 1e3)
    });
    let number = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
    writeln!(
        out,
        "  {:>3}  {name:16} {:>3} > {:<3}  {latency:30}  {link:>7}  {:>5}  {:>5}  {:>5}",
        seen.hidden_hops + at + 1,
        interface(hop.ingress_interface),
        interface(hop.egress_interface),
        number(hop.queue_id.map(u64::from)),
        number(hop.queue_occupancy.map(u64::from)),
        number(hop.egress_utilization.map(u64::from)),
    )
}

/// Where INT ended, in words.
fn ending(seen: &Seen) -> String {
    let last = seen.hops.last().map(name);
    let sink = last.clone().unwrap_or_else(|| "a sink".into());
    let last = last.unwrap_or_else(|| "the source".into());
    let reason = seen.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let at = seen.at.map(|at| format!("; the last that answered is {at}{reason}")).unwrap_or_default();
    match seen.ended {
        Ended::Sink => format!("{sink} took INT out and reported it"),
        Ended::HopsExceeded => format!("behind {last} no more hops were allowed (E)"),
        Ended::MtuExceeded => format!("behind {last} the link had no room for more (M)"),
        Ended::MarkCleared => format!("behind {last} the mark of INT was cleared{at}"),
        Ended::NoSink => format!("behind {last} no sink took INT out: it came to the destination{at}"),
        Ended::Lost => format!("lost behind {last}{at}"),
    }
}

/// Writes the routers that handled a probe without adding INT, and those that did not answer.
fn write_routers(out: &mut String, routers: &[Router]) -> fmt::Result {
    for Router { ttl, address, int } in routers {
        let address = address.map_or("-".into(), |address| address.to_string());
        match int {
            Handling::NoAnswer => {
                writeln!(out, "  TTL {ttl}: no answer; a router without ICMP, or a probe that was lost")?;
            }
            Handling::Unmarked => {
                writeln!(out, "  TTL {ttl}: {address} got the probe without the mark of INT")?;
            }
            Handling::None => writeln!(out, "  TTL {ttl}: {address} is a hop without INT")?,
            Handling::Added | Handling::Unknown => {}
        }
    }
    Ok(())
}

fn name(hop: &Hop) -> String {
    hop.node.clone().unwrap_or_else(|| format!("node {}", hop.node_id))
}

/// `1 path`, `2 paths`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 / 1e3)
}

/// Most source ports that are listed for a group.
const MAX_PORTS: usize = 16;

#[cfg(test)]
mod tests;
