//! A switch's state in Prometheus' text format.

use std::fmt::{Display, Write};

use inband_switch::{PortStatus, Status};

/// Name, kind, description and value of a counter of each interface.
type PerPort = (&'static str, &'static str, &'static str, fn(&PortStatus) -> u64);

/// The counters in Prometheus' text format.
pub(super) fn text(status: &Status) -> String {
    let mut out = String::new();
    let per_port: [PerPort; 10] = [
        ("device_present", "gauge", "1: the device of the interface is in use; 0: there is none.", |port| {
            u64::from(port.absence.is_none())
        }),
        ("received_packets_total", "counter", "Frames received.", |port| port.received_packets),
        ("received_bytes_total", "counter", "Bytes of frames received.", |port| port.received_bytes),
        (
            "receive_losses_total",
            "counter",
            "Frames dropped by the socket because its buffer was full.",
            |port| port.receive_losses,
        ),
        ("to_host_packets_total", "counter", "Frames for the machine itself.", |port| port.to_host),
        ("sent_packets_total", "counter", "Frames sent.", |port| port.sent_packets),
        ("sent_bytes_total", "counter", "Bytes of frames sent.", |port| port.sent_bytes),
        ("queued_bytes", "gauge", "Bytes in queues.", |port| port.waiting_bytes as u64),
        ("queued_packets", "gauge", "Frames in queues and in the device's ring.", |port| {
            port.waiting_packets as u64
        }),
        ("unresolved_packets", "gauge", "Received packets whose next hop is being resolved.", |port| {
            port.unresolved_packets as u64
        }),
    ];
    for (name, kind, help, value) in per_port {
        head(&mut out, name, kind, help);
        for port in &status.interfaces {
            line(&mut out, name, &labels(port), value(port));
        }
    }
    head(&mut out, "dropped_packets_total", "counter", "Dropped frames, by cause.");
    for port in &status.interfaces {
        for (cause, count) in &port.drops {
            line(&mut out, "dropped_packets_total", &format!("{},cause=\"{cause}\"", labels(port)), count);
        }
    }
    head(&mut out, "packets_total", "counter", "Packets, by what the node did.");
    for (outcome, count) in &status.outcomes {
        line(&mut out, "packets_total", &format!("outcome=\"{outcome}\""), count);
    }
    head(&mut out, "reports_total", "counter", "Datagrams of reports, by result.");
    for (outcome, count) in &status.reports {
        line(&mut out, "reports_total", &format!("result=\"{outcome}\""), count);
    }
    if !status.kernel.is_empty() {
        let help = "Packets in the kernel's programs and between them and the engine, by outcome.";
        head(&mut out, "kernel_packets_total", "counter", help);
        for (outcome, count) in &status.kernel {
            line(&mut out, "kernel_packets_total", &format!("outcome=\"{outcome}\""), count);
        }
    }
    if !status.kernel_drops.is_empty() {
        head(&mut out, "kernel_drops_total", "counter", "Packets dropped by Linux, by the kernel's reason.");
        for (device, reasons) in &status.kernel_drops {
            let port = status.interfaces.iter().find(|port| port.device == *device);
            for (reason, count) in reasons {
                let labels = format!("{},reason=\"{reason}\"", port.map(labels).unwrap_or_default());
                line(&mut out, "kernel_drops_total", &labels, count);
            }
        }
    }
    for (name, help, value) in [
        ("routes", "Routes known to the router.", status.routes),
        ("neighbours", "Neighbours known to the router.", status.neighbours),
    ] {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{PREFIX}{name} {value}");
    }
    for (name, help, value) in [
        ("table_changes_total", "Changes of the kernel's tables that were adopted.", status.table_version),
        ("reloads_total", "Reloads of the configuration.", status.reloads),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use inband_switch::{PortStatus, Status};
    use inband_testkit::metrics::undocumented;

    use super::text;

    #[test]
    fn metrics_of_a_switch_are_documented() {
        let counts = BTreeMap::from([("one".to_owned(), 1)]);
        let status = Status {
            interfaces: vec![PortStatus { device: "eth1".to_owned(), ..PortStatus::default() }],
            kernel: BTreeMap::from([("extended", 1)]),
            kernel_drops: BTreeMap::from([("eth1".to_owned(), counts)]),
            ..Status::default()
        };
        let text = text(&status);
        assert!(
            text.contains(
                "inband_switch_kernel_drops_total{interface=\"0\",device=\"eth1\",reason=\"one\"} 1"
            ),
            "{text}"
        );
        assert_eq!(undocumented(&text), [""; 0]);
    }
}
