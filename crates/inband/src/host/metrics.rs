//! The agent's metrics over HTTP, in Prometheus' text format.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use inband_host::{Tally, Traffic};

/// The latest metrics, as text.
#[derive(Clone, Default)]
pub(super) struct Metrics(Arc<Mutex<String>>);

/// Timeout for a client.
const PATIENCE: Duration = Duration::from_secs(2);
/// Size limit of a request, bytes.
const MAX_REQUEST: usize = 4096;

impl Metrics {
    /// Serves `/metrics` at `address` until the program ends.
    pub(super) fn serve(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let metrics = Self::default();
        let served = metrics.clone();
        thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                // The answer to a client that disconnects or takes too long is cut off.
                let _ = stream.and_then(|stream| served.answer(stream));
            }
        })?;
        Ok(metrics)
    }

    /// Serves `tally` from here on.
    pub(super) fn update(&self, tally: &Tally) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text(tally);
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = read_request(&mut stream)?;
        let (status, body) = match request.starts_with(b"GET /metrics ") {
            true => ("200 OK", self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            false => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    }
}

/// Reads to the end of the request's head, or up to the size limit.
fn read_request(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut chunk = [0; 1024];
    while request.len() < MAX_REQUEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        request.extend_from_slice(chunk.get(..read).unwrap_or_default());
    }
    Ok(request)
}

/// The tally in the text format.
pub(super) fn text(tally: &Tally) -> String {
    let mut out = String::new();
    let name = "inband_host_packets_total";
    head(&mut out, name, "counter", "Packets in the kernel's programs, by outcome.");
    for (outcome, count) in &tally.outcomes {
        let _ = writeln!(out, "{name}{{outcome=\"{}\"}} {count}", outcome.name());
    }
    for (traffic, name, help) in [
        (Traffic::WatchedPackets, "inband_host_watched_packets_total", "Watched packets sent."),
        (
            Traffic::WatchedBytes,
            "inband_host_watched_bytes_total",
            "IP bytes of watched packets sent, without INT.",
        ),
        (Traffic::IntPackets, "inband_host_int_packets_total", "Watched packets sent with INT."),
        (
            Traffic::IntBytes,
            "inband_host_int_bytes_total",
            "IP bytes of watched packets sent with INT, without INT.",
        ),
    ] {
        head(&mut out, name, "counter", help);
        let _ = writeln!(out, "{name} {}", tally.traffic(traffic));
    }
    let name = "inband_host_reports_total";
    head(&mut out, name, "counter", "Reports, by result.");
    for (result, count) in [
        ("sent", tally.reports_sent),
        ("refused", tally.reports_refused),
        ("failed", tally.reports_failed),
        ("withheld", tally.reports_withheld),
        ("limited", tally.reports_limited),
        ("shed", tally.reports_shed),
    ] {
        let _ = writeln!(out, "{name}{{result=\"{result}\"}} {count}");
    }
    let name = "inband_host_drops_total";
    head(&mut out, name, "counter", "Watched packets dropped by the kernel, by its reason.");
    for (reason, count) in &tally.drops {
        let _ = writeln!(out, "{name}{{reason=\"{reason}\"}} {count}");
    }
    let name = "inband_host_drops_not_held_total";
    head(
        &mut out,
        name,
        "counter",
        "Watched packets dropped by the kernel for which its table of flows had no room.",
    );
    let _ = writeln!(out, "{name} {}", tally.drops_not_held);
    let name = "inband_host_leases";
    head(&mut out, name, "gauge", "Leases: flows that hold one, pairs of addresses that were granted one.");
    let _ = writeln!(out, "{name}{{side=\"held\"}} {}", tally.leases_held);
    let _ = writeln!(out, "{name}{{side=\"granted\"}} {}", tally.leases_granted);
    let name = "inband_host_flows";
    head(
        &mut out,
        name,
        "gauge",
        "Flows to peers in the last minute, by state: `proven`, or why they have no INT.",
    );
    for (state, count) in &tally.flows {
        let _ = writeln!(out, "{name}{{state=\"{}\"}} {count}", state.name());
    }
    let name = "inband_host_probes_total";
    head(&mut out, name, "counter", "Probes, by result.");
    let _ = writeln!(out, "{name}{{result=\"sent\"}} {}", tally.probes_sent);
    let _ = writeln!(out, "{name}{{result=\"failed\"}} {}", tally.probes_failed);
    let name = "inband_host_probes_withheld_total";
    head(&mut out, name, "counter", "Probes that were due and not sent, by reason.");
    let withheld = tally.probes_withheld;
    for (reason, count) in [
        ("per_second", withheld.per_second),
        ("per_minute", withheld.per_minute),
        ("refused", withheld.refused),
        ("full", withheld.full),
    ] {
        let _ = writeln!(out, "{name}{{reason=\"{reason}\"}} {count}");
    }
    for (name, help, count) in [
        (
            "inband_host_path_packets_total",
            "Packets with INT counted at the source and at the sink.",
            tally.path_packets,
        ),
        (
            "inband_host_path_lost_packets_total",
            "Packets with INT lost between source and sink.",
            tally.path_lost,
        ),
    ] {
        head(&mut out, name, "counter", help);
        let _ = writeln!(out, "{name} {count}");
    }
    let name = "inband_host_peers";
    head(
        &mut out,
        name,
        "gauge",
        "Hosts whose agents have answered; those with a comparable clock, and with this host's node id.",
    );
    for (what, count) in ["all", "comparable_clock", "same_node_id"].into_iter().zip(tally.peers) {
        let _ = writeln!(out, "{name}{{known=\"{what}\"}} {count}");
    }
    let name = "inband_host_map_bytes";
    head(&mut out, name, "gauge", "Memory of the tables in the kernel.");
    let _ = writeln!(out, "{name} {}", tally.map_bytes);
    if let Some(uncertainty_ns) = tally.clock_uncertainty_ns {
        let name = "inband_host_clock_uncertainty_seconds";
        head(&mut out, name, "gauge", "Uncertainty of timestamps, as estimated by the kernel.");
        let _ =
            writeln!(out, "{name} {}.{:09}", uncertainty_ns / 1_000_000_000, uncertainty_ns % 1_000_000_000);
    }
    out
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
