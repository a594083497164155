//! The quality of the clock that timestamps come from.

use super::finding::{Area, Finding};
use super::kernel::System;
use super::sys::clock::{Synchronisation, synchronisation};

const TIMED: &[&str] = &["host", "switch", "collect"];
const STAMPED: &[&str] = &["host", "switch"];

/// Clock sources that the processor reads directly, in some 20 nanoseconds.
const QUICK: [&str; 5] = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase"];
/// Error above which latencies between hosts are of little use, microseconds.
const MAX_ERROR_US: u64 = 1_000;

pub(super) fn look(system: &System<'_>) -> Vec<Finding> {
    let mut findings = vec![error(synchronisation().ok())];
    findings.extend(source(system));
    findings
}

const SOURCES: &str = "sys/devices/system/clocksource/clocksource0";

fn source(system: &System<'_>) -> Option<Finding> {
    let current = system.line(&format!("{SOURCES}/current_clocksource"))?;
    let available = system.line(&format!("{SOURCES}/available_clocksource")).unwrap_or_default();
    let finding = Finding::ok(Area::Clock, "source", &current, STAMPED);
    if QUICK.contains(&current.as_str()) {
        return Some(finding);
    }
    let better = available.split_whitespace().find(|source| QUICK.contains(source));
    let fix = better.map(|source| format!("echo {source} | sudo tee /{SOURCES}/current_clocksource"));
    Some(finding.degraded("reading it takes up to a microsecond for each packet", fix.unwrap_or_default()))
}

fn error(synchronisation: Option<Synchronisation>) -> Finding {
    let finding = |found: String| Finding::ok(Area::Clock, "synchronisation", found, TIMED);
    let service = "sudo apt-get install chrony && sudo systemctl enable --now chrony";
    let why = "latencies between hosts contain how far their clocks are apart";
    match synchronisation {
        None => finding("the kernel does not say".to_owned()).degraded(why, service),
        Some(Synchronisation { is_synchronised: false, .. }) => {
            finding("not synchronised".to_owned()).degraded(why, service)
        }
        Some(Synchronisation { most_error_us, .. }) if most_error_us > MAX_ERROR_US => {
            finding(format!("synchronised, up to {} off", span(most_error_us)))
                .degraded(why, "chronyc tracking; PTP (linuxptp) reaches microseconds")
        }
        Some(Synchronisation { most_error_us, .. }) => {
            finding(format!("synchronised, up to {} off", span(most_error_us)))
        }
    }
}

fn span(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{} s", us / 1_000_000),
    }
}

#[cfg(test)]
mod tests;
