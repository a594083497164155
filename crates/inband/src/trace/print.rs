//! Traces as text and as JSON.

use anyhow::{Context, Error};
use serde_json::{Value, json};

use super::outcome::Outcome;
use super::raw::Quote;
use super::stack::{Ended, Hop};

/// Prints an object for each probe, and one for all.
pub(super) fn json(results: &[Outcome]) -> Result<(), Error> {
    for result in results {
        let mut line = json!({
            "probe": result.number,
            "flow": result.flow,
            "hops": result.seen.hops,
            "ended": result.seen.ended,
        });
        if let (Some(at), Value::Object(line)) = (result.seen.at, &mut line) {
            line.insert("last_router".into(), at.to_string().into());
        }
        println!("{}", serde_json::to_string(&line).context("cannot write a probe down")?);
    }
    let summary = json!({ "sent": results.len(), "lost": lost(results), "jitter": jitter(results), "paths": paths(results) });
    println!("{}", json!({ "summary": summary }));
    Ok(())
}

/// Prints each path with the results of its probes.
pub(super) fn text(results: &[Outcome], routers: &[Option<Quote>], ecmp: bool) {
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
        println!("{}{share}", result.flow);
        println!(
            "  hop  node              in > out  latency us (least, mean, most)  link us  queue  bytes  utilization"
        );
        for (at, hop) in result.seen.hops.iter().enumerate() {
            print_hop(at, hop, &own);
        }
    }
    if let Some(last) = results.last() {
        println!("  ended: {}", ending(last));
    }
    print_routers(routers, results);
    let jitter = jitter(results).map_or("-".into(), microseconds);
    println!("{} probes, {} lost, {} paths, jitter {jitter} us", results.len(), lost(results), shown.len());
}

fn print_hop(at: usize, hop: &Hop, results: &[&Outcome]) {
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
    println!(
        "  {:>3}  {name:16} {:>3} > {:<3}  {latency:30}  {link:>7}  {:>5}  {:>5}  {:>5}",
        at + 1,
        interface(hop.ingress_interface),
        interface(hop.egress_interface),
        number(hop.queue_id.map(u64::from)),
        number(hop.queue_occupancy.map(u64::from)),
        number(hop.egress_utilization.map(u64::from)),
    );
}

/// Where INT ended, in words.
fn ending(result: &Outcome) -> String {
    let hops = &result.seen.hops;
    let last = hops.last().map_or("the source".into(), |hop| {
        hop.node.clone().unwrap_or_else(|| format!("node {}", hop.node_id))
    });
    let at = result.seen.at.map(|at| format!("; the last that answered is {at}")).unwrap_or_default();
    match result.seen.ended {
        Ended::Sink => format!("{last} took INT out and reported it"),
        Ended::HopsExceeded => format!("behind {last} no more hops were allowed (E)"),
        Ended::MtuExceeded => format!("behind {last} the link had no room for more (M)"),
        Ended::MarkCleared => format!("behind {last} the mark of INT was cleared{at}"),
        Ended::NoSink => format!("behind {last} no sink took INT out: it came to the destination{at}"),
        Ended::Lost => format!("lost behind {last}{at}"),
    }
}

/// Prints the routers that handled a probe without adding INT, and those that did not answer.
fn print_routers(routers: &[Option<Quote>], results: &[Outcome]) {
    for (at, quote) in routers.iter().enumerate() {
        let ttl = at + 1;
        let next = routers.get(at + 1).and_then(Option::as_ref);
        match quote {
            None => println!("  TTL {ttl}: no answer; a router without ICMP, or a probe that was lost"),
            Some(quote) if !quote.is_marked => {
                println!("  TTL {ttl}: {} got the probe without the mark of INT", quote.from);
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
                    println!("  TTL {ttl}: {} is a hop without INT", quote.from);
                }
            }
        }
    }
}

fn lost(results: &[Outcome]) -> usize {
    results.iter().filter(|result| result.seen.ended == Ended::Lost).count()
}

fn paths(results: &[Outcome]) -> Vec<Vec<u32>> {
    let mut paths: Vec<Vec<u32>> = Vec::new();
    for result in results.iter().filter(|result| !result.seen.hops.is_empty()) {
        let path = result.seen.hops.iter().map(|hop| hop.node_id).collect();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The mean difference of latency between consecutive probes, nanoseconds; `None` with fewer than two probes.
fn jitter(results: &[Outcome]) -> Option<u64> {
    let totals: Vec<u64> = results.iter().filter_map(|result| result.seen.total()).collect();
    let steps: Vec<u64> = totals.windows(2).map(|pair| pair[0].abs_diff(pair[1])).collect();
    (!steps.is_empty()).then(|| steps.iter().sum::<u64>() / steps.len() as u64)
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.1}", nanoseconds as f64 / 1e3)
}
