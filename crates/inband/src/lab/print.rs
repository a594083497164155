//! Outcomes and states of labs as text.

use inband_lab::run::Outcome;
use inband_lab::status::{LinkStatus, Status};

/// Prints the outcome of a run.
pub(super) fn outcome(outcome: &Outcome) {
    for step in &outcome.steps {
        let mark = if step.passed { "done" } else { "FAILED" };
        println!("{mark:6}  {:5.1} s  {}", step.at, step.step);
        if !step.passed {
            step.output.lines().for_each(|line| println!("                 {line}"));
        }
    }
    for expectation in &outcome.expectations {
        let mark = if expectation.passed { "ok" } else { "FAILED" };
        let at = expectation.at.map_or_else(|| "       ".into(), |at| format!("{at:5.1} s"));
        println!("{mark:6}  {at}  {}", expectation.expected);
        let seen = if expectation.passed { "seen" } else { "seen instead" };
        expectation.seen.lines().for_each(|line| println!("                 {seen}: {line}"));
    }
    let events: Vec<String> = outcome.events.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let events = if events.is_empty() { "none".into() } else { events.join(", ") };
    println!("events: {events}");
    backlog(outcome.backlog_drops);
    let verdict = if outcome.passed { "as expected" } else { "NOT as expected" };
    println!("`{}`: {verdict}, after {:.1} s", outcome.name, outcome.seconds);
}

/// Prints the parts of a lab and their state.
pub(super) fn status(status: &Status) {
    let health = if status.is_healthy { "up" } else { "NOT whole" };
    println!("{}: {health}, API {}", status.name, status.api);
    for node in &status.nodes {
        let id = node.node_id.map_or_else(String::new, |id| format!("node {id}"));
        let addresses = if node.kind == "host" { node.addresses.join(" ") } else { String::new() };
        println!("  {:12} {:9} {id:9} {addresses}", node.name, node.kind);
        for process in node.processes.iter().filter(|process| !process.is_alive) {
            println!("               ended: {} (process {})", process.what, process.pid);
        }
    }
    for link in &status.links {
        println!("  {} - {}: {}", link.ends[0], link.ends[1], describe(link));
        for (from, measured) in link.user_space.iter().flatten().enumerate() {
            let microseconds =
                |time: Option<u64>| time.map_or("-".into(), |time| format!("{:.1}", time as f64 / 1e3));
            println!(
                "      from {}: {} frames, {} lost, {} overflowed, {} refused; own latency {} us median, {} us p99, {} us at most",
                link.ends[from],
                measured.received,
                measured.lost,
                measured.overflowed,
                measured.refused,
                microseconds(measured.own_latency_p50_ns),
                microseconds(measured.own_latency_p99_ns),
                microseconds(measured.own_latency_max_ns),
            );
        }
    }
    for fault in &status.faults {
        println!("  fault: {fault}");
    }
    backlog(status.backlog_drops);
}

/// Prints what the machine has dropped without any other count, if anything.
fn backlog(dropped: Option<u64>) {
    if let Some(dropped @ 1..) = dropped {
        println!(
            "  {dropped} packets dropped in the machine's backlog: `inband doctor` shows how to make it \
             larger"
        );
    }
}

fn describe(link: &LinkStatus) -> String {
    let mut parts = Vec::new();
    if !link.is_up {
        parts.push("DOWN".to_owned());
    }
    if link.rate != "0" {
        parts.push(format!("{}, {} bytes", link.rate, link.queue_bytes));
    }
    if link.delay_ns > 0 {
        parts.push(format!("delay {} us", link.delay_ns as f64 / 1e3));
    }
    if link.loss > 0.0 {
        parts.push(format!("loss {} %", link.loss * 100.0));
    }
    if parts.is_empty() { "as fast as the machine".into() } else { parts.join(", ") }
}
