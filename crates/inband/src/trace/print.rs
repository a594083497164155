//! Traces as text and as JSON.

use std::fmt::{self, Write as _};

use anyhow::{Context, Error};
use serde_json::{Value, json};

use super::outcome::Outcome;
use super::raw::Quote;
use super::stack::{Ended, Hop};
use super::summary::Summary;

/// The JSON line of a probe.
pub(super) fn json(result: &Outcome) -> Result<String, Error> {
    let mut line = json!({
        "probe": result.number,
        "flow": result.flow,
        "hops": result.seen.hops,
        "ended": result.seen.ended,
    });
    if let (Some(at), Value::Object(line)) = (result.seen.at, &mut line) {
        line.insert("last_router".into(), at.to_string().into());
        line.extend(result.seen.reason.map(|reason| ("reason".into(), reason.into())));
    }
    Ok(serde_json::to_string(&line).context("cannot write a probe down")? + "\n")
}

/// The JSON line of all probes.
pub(super) fn json_summary(summary: &Summary) -> String {
    let Summary { sent, lost, paths, .. } = summary;
    let summary = json!({ "sent": sent, "lost": lost, "jitter": summary.jitter(), "paths": paths });
    format!("{}\n", json!({ "summary": summary }))
}

/// Each path with the results of its probes.
pub(super) fn text(results: &[Outcome], routers: &[Option<Quote>], ecmp: bool) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_text(&mut out, results, routers, ecmp);
    out
}

fn write_text(out: &mut String, results: &[Outcome], routers: &[Option<Quote>], ecmp: bool) -> fmt::Result {
    let mut shown = Vec::new();
    for result in results.iter().filter(|result| !result.seen.hops.is_empty()) {
        let path = result.seen.path();
        if shown.contains(&path) {
            continue;
        }
        shown.push(path.clone());
        let own: Vec<&Outcome> = results.iter().filter(|other| other.seen.path() == path).collect();
        let flows = own.iter().map(|it| it.flow.source_port).collect::<std::collections::BTreeSet<_>>().len();
        let share = if ecmp { format!(", {flows} flows") } else { String::new() };
        writeln!(out, "{}{share}", result.flow)?;
        writeln!(
            out,
            "  hop  node              in > out  latency us (least, mean, most)  link us  queue  bytes  utilization"
        )?;
        for (at, hop) in result.seen.hops.iter().enumerate() {
            write_hop(out, at, hop, &own)?;
        }
    }
    if let Some(last) = results.last() {
        writeln!(out, "  ended: {}", ending(last))?;
    }
    write_routers(out, routers, results)?;
    let summary = Summary::of(results);
    let jitter = summary.jitter().map_or("-".into(), microseconds);
    let Summary { sent, lost, .. } = summary;
    writeln!(out, "{sent} probes, {lost} lost, {} paths, jitter {jitter} us", shown.len())
}

fn write_hop(out: &mut String, at: usize, hop: &Hop, results: &[&Outcome]) -> fmt::Result {
    let latencies: Vec<u64> =
        results.iter().filter_map(|result| result.seen.hops.get(at)?.hop_latency).collect();
    let latency = match (latencies.iter().min(), latencies.iter().max()) {
        (Some(least), Some(most)) => {
            let mean = latencies.iter().sum::<u64>() / latencies.len() as u64;
            format!("{} {} {}", microseconds(*least), microseconds(mean), microseconds(*most))
        }
        _ => "-".into(),
    };
    let name = hop.node.clone().unwrap_or_else(|| format!("node {}", hop.node_id));
    let interface = |id: Option<u16>| id.map_or("-".into(), |id| id.to_string());
    let link = hop.link_latency.map_or("-".into(), |link| {
        let uncertainty = hop.link_uncertainty.map_or(String::new(), |by| format!("±{}", microseconds(by)));
        format!("{:.1}{uncertainty}", link as f64 / 1e3)
    });
    let number = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
    writeln!(
        out,
        "  {:>3}  {name:16} {:>3} > {:<3}  {latency:30}  {link:>7}  {:>5}  {:>5}  {:>5}",
        at + 1,
        interface(hop.ingress_interface),
        interface(hop.egress_interface),
        number(hop.queue_id.map(u64::from)),
        number(hop.queue_occupancy.map(u64::from)),
        number(hop.egress_utilization.map(u64::from)),
    )
}

/// Where INT ended, in words.
fn ending(result: &Outcome) -> String {
    let hops = &result.seen.hops;
    let last = hops.last().map_or("the source".into(), |hop| {
        hop.node.clone().unwrap_or_else(|| format!("node {}", hop.node_id))
    });
    let reason = result.seen.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let at = result.seen.at.map(|at| format!("; the last that answered is {at}{reason}")).unwrap_or_default();
    match result.seen.ended {
        Ended::Sink => format!("{last} took INT out and reported it"),
        Ended::HopsExceeded => format!("behind {last} no more hops were allowed (E)"),
        Ended::MtuExceeded => format!("behind {last} the link had no room for more (M)"),
        Ended::MarkCleared => format!("behind {last} the mark of INT was cleared{at}"),
        Ended::NoSink => format!("behind {last} no sink took INT out: it came to the destination{at}"),
        Ended::Lost => format!("lost behind {last}{at}"),
    }
}

/// Writes the routers that handled a probe without adding INT, and those that did not answer.
fn write_routers(out: &mut String, routers: &[Option<Quote>], results: &[Outcome]) -> fmt::Result {
    for (at, quote) in routers.iter().enumerate() {
        let ttl = at + 1;
        let next = routers.get(at + 1).and_then(Option::as_ref);
        match quote {
            None => {
                writeln!(out, "  TTL {ttl}: no answer; a router without ICMP, or a probe that was lost")?;
            }
            Some(quote) if !quote.is_marked => {
                writeln!(out, "  TTL {ttl}: {} got the probe without the mark of INT", quote.from)?;
            }
            Some(quote) => {
                // If the next router quotes as many hops as this one, this one has added none. For the last
                // router, the report decides.
                let behind = next.map(|next| next.hops.len()).or_else(|| {
                    let reported = results
                        .iter()
                        .filter(|result| matches!(result.seen.ended, Ended::Sink | Ended::NoSink));
                    reported.map(|result| result.seen.hops.len()).max()
                });
                if behind.is_some_and(|behind| behind <= quote.hops.len()) {
                    writeln!(out, "  TTL {ttl}: {} is a hop without INT", quote.from)?;
                }
            }
        }
    }
    Ok(())
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 / 1e3)
}
