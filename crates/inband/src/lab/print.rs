//! Outcomes and states of labs as text.

use std::fmt::{self, Write as _};

use inband_lab::run::Outcome;
use inband_lab::status::{LinkStatus, Status};

/// The outcome of a run.
pub(super) fn outcome(outcome: &Outcome) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_outcome(&mut text, outcome);
    text
}

/// The parts of a lab and their state.
pub(super) fn status(status: &Status) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_status(&mut text, status);
    text
}

fn write_outcome(out: &mut String, outcome: &Outcome) -> fmt::Result {
    for step in &outcome.steps {
        let mark = if step.passed { "done" } else { "FAILED" };
        writeln!(out, "{mark:6}  {:5.1} s  {}", step.at, step.step)?;
        if !step.passed {
            for line in step.output.lines() {
                writeln!(out, "                 {line}")?;
            }
        }
    }
    for expectation in &outcome.expectations {
        let mark = if expectation.passed { "ok" } else { "FAILED" };
        let at = expectation.at.map_or_else(|| "       ".into(), |at| format!("{at:5.1} s"));
        writeln!(out, "{mark:6}  {at}  {}", expectation.expected)?;
        let seen = if expectation.passed { "seen" } else { "seen instead" };
        for line in expectation.seen.lines() {
            writeln!(out, "                 {seen}: {line}")?;
        }
    }
    let events: Vec<String> = outcome.events.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let events = if events.is_empty() { "none".into() } else { events.join(", ") };
    writeln!(out, "events: {events}")?;
    write_backlog(out, outcome.backlog_drops)?;
    let verdict = if outcome.passed { "as expected" } else { "NOT as expected" };
    writeln!(out, "`{}`: {verdict}, after {:.1} s", outcome.name, outcome.seconds)
}

fn write_status(out: &mut String, status: &Status) -> fmt::Result {
    let health = if status.is_healthy { "up" } else { "NOT whole" };
    writeln!(out, "{}: {health}, API {}", status.name, status.api)?;
    for node in &status.nodes {
        let id = node.node_id.map_or_else(String::new, |id| format!("node {id}"));
        let addresses = if node.kind == "host" { node.addresses.join(" ") } else { String::new() };
        writeln!(out, "  {:12} {:9} {id:9} {addresses}", node.name, node.kind)?;
        for process in node.processes.iter().filter(|process| !process.is_alive) {
            writeln!(out, "               ended: {} (process {})", process.what, process.pid)?;
        }
    }
    for link in &status.links {
        writeln!(out, "  {} - {}: {}", link.ends[0], link.ends[1], describe(link))?;
        for (from, measured) in link.user_space.iter().flatten().enumerate() {
            let microseconds =
                |time: Option<u64>| time.map_or("-".into(), |time| format!("{:.1}", time as f64 / 1e3));
            writeln!(
                out,
                "      from {}: {} frames, {} lost, {} overflowed, {} refused; own latency {} us median, {} us \
                 p99, {} us at most",
                link.ends[from],
                measured.received,
                measured.lost,
                measured.overflowed,
                measured.refused,
                microseconds(measured.own_latency_p50_ns),
                microseconds(measured.own_latency_p99_ns),
                microseconds(measured.own_latency_max_ns),
            )?;
        }
    }
    for fault in &status.faults {
        writeln!(out, "  fault: {fault}")?;
    }
    write_backlog(out, status.backlog_drops)
}

/// Writes what the machine has dropped without any other count, if anything.
fn write_backlog(out: &mut String, dropped: Option<u64>) -> fmt::Result {
    if let Some(dropped @ 1..) = dropped {
        writeln!(
            out,
            "  {dropped} packets dropped in the machine's backlog: `inband doctor` shows how to make it \
             larger"
        )?;
    }
    Ok(())
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
