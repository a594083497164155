//! A switch's state in Prometheus' text format.

use std::fmt::{Display, Write};

use inband_switch::{PortStatus, Status};

/// Name, kind, description and value of a counter of each interface.
type PerPort = (&'static str, &'static str, &'static str, fn(&PortStatus) -> u64);

/// The counters in Prometheus' text format.
pub(super) fn text(status: &Status) -> String {
    let mut out = String::new();
    let per_port: [PerPort; 10] = [
        ("device_present", "gauge", "Whether the device is in use.", |port| {
            u64::from(port.absence.is_none())
        }),
        ("received_packets_total", "counter", "Frames received.", |port| port.received_packets),
        ("received_bytes_total", "counter", "Bytes of frames received.", |port| port.received_bytes),
        ("receive_losses_total", "counter", "Frames the socket had no room for.", |port| port.receive_losses),
        ("to_host_packets_total", "counter", "Frames for the machine's own stack.", |port| port.to_host),
        ("sent_packets_total", "counter", "Frames sent.", |port| port.sent_packets),
        ("sent_bytes_total", "counter", "Bytes of frames sent.", |port| port.sent_bytes),
        ("queued_bytes", "gauge", "Bytes that wait in queues.", |port| port.waiting_bytes as u64),
        ("queued_packets", "gauge", "Frames that wait in queues, and for the device to take them.", |port| {
            port.waiting_packets as u64
        }),
        ("unresolved_packets", "gauge", "Frames received that wait for their next hop's address.", |port| {
            port.unresolved_packets as u64
        }),
    ];
    for (name, kind, help, value) in per_port {
        head(&mut out, name, kind, help);
        for port in &status.interfaces {
            line(&mut out, name, &labels(port), value(port));
        }
    }
    head(&mut out, "dropped_packets_total", "counter", "Frames that went nowhere, by cause.");
    for port in &status.interfaces {
        for (cause, count) in &port.drops {
            line(&mut out, "dropped_packets_total", &format!("{},cause=\"{cause}\"", labels(port)), count);
        }
    }
    head(&mut out, "packets_total", "counter", "Packets by what the node did with them.");
    for (outcome, count) in &status.outcomes {
        line(&mut out, "packets_total", &format!("outcome=\"{outcome}\""), count);
    }
    head(&mut out, "reports_total", "counter", "Datagrams of reports by what became of them.");
    for (outcome, count) in &status.reports {
        line(&mut out, "reports_total", &format!("result=\"{outcome}\""), count);
    }
    if !status.kernel.is_empty() {
        let help = "Packets between the programs in the kernel and the engine, by what became of them.";
        head(&mut out, "kernel_packets_total", "counter", help);
        for (outcome, count) in &status.kernel {
            line(&mut out, "kernel_packets_total", &format!("outcome=\"{outcome}\""), count);
        }
    }
    if !status.kernel_drops.is_empty() {
        head(
            &mut out,
            "kernel_drops_total",
            "counter",
            "Packets that Linux dropped, by the kernel's reason.",
        );
        for (device, reasons) in &status.kernel_drops {
            let port = status.interfaces.iter().find(|port| port.device == *device);
            for (reason, count) in reasons {
                let labels = format!("{},reason=\"{reason}\"", port.map(labels).unwrap_or_default());
                line(&mut out, "kernel_drops_total", &labels, count);
            }
        }
    }
    for (name, help, value) in [
        ("routes", "Routes the router knows.", status.routes),
        ("neighbours", "Neighbours the router knows.", status.neighbours),
    ] {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{PREFIX}{name} {value}");
    }
    for (name, help, value) in [
        ("table_changes_total", "Changes of the kernel's tables taken over.", status.table_version),
        ("reloads_total", "Configurations taken over.", status.reloads),
    ] {
        head(&mut out, name, "counter", help);
        let _ = writeln!(out, "{PREFIX}{name} {value}");
    }
    out
}

fn labels(port: &PortStatus) -> String {
    let device = port.device.replace('\\', "\\\\").replace('"', "\\\"");
    format!("interface=\"{}\",device=\"{device}\"", port.id)
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: impl Display) {
    let _ = writeln!(out, "{PREFIX}{name}{{{labels}}} {value}");
}

const PREFIX: &str = "inband_switch_";
