//! `inband host status`: the state of a running agent, over a socket of its network namespace.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use inband_host::{Agent, HostError};
use serde_json::{Value, json};

use super::summary;
use crate::failure::Failure;
use crate::out;

/// The latest status, as JSON text.
#[derive(Clone, Default)]
pub(super) struct Status {
    answer: Arc<Mutex<String>>,
    /// The file with the agent's settings.
    file: PathBuf,
}

/// Timeout for a client, and for an agent.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most flows in the answer.
const MAX_FLOWS: usize = 1000;
/// Size limit of an answer, bytes.
const MAX_ANSWER: u64 = 1 << 22;

impl Status {
    /// An empty status of an agent with the settings of this file.
    pub(super) fn new(settings: &Path) -> io::Result<Self> {
        Ok(Self { file: std::path::absolute(settings)?, ..Self::default() })
    }

    /// Serves the status of the agent whose shims have this name until the program ends.
    pub(super) fn serve(&self, shim: &str) -> io::Result<()> {
        let listener = UnixListener::bind_addr(&address(shim)?)?;
        let served = self.clone();
        thread::Builder::new().name("status".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                // The answer to a client that disconnects or takes too long is cut off.
                let _ = stream.and_then(|stream| served.answer(stream));
            }
        })?;
        Ok(())
    }

    /// Serves the state of `agent` from here on.
    pub(super) fn update(&self, agent: &Agent) -> Result<(), HostError> {
        let flow = |flow: &inband_host::FlowStatus| {
            json!({
                "source": flow.source.to_string(),
                "destination": flow.destination.to_string(),
                "protocol": flow.protocol,
                "state": flow.state.name(),
                "meaning": flow.state.meaning(),
                "lease_ms": flow.lease_ms,
                "packets": flow.counted.map(|(packets, _)| packets),
                "lost": flow.counted.map(|(_, lost)| lost),
            })
        };
        let peer = |peer: &inband_host::PeerStatus| {
            json!({
                "address": peer.address.to_string(),
                "node_id": peer.node_id,
                "clock": peer.clock.map(inband_host::Clock::name),
                "offset_ns": peer.offset_ns.map(|(offset_ns, _)| offset_ns),
                "uncertainty_ns": peer.offset_ns.map(|(_, uncertainty_ns)| uncertainty_ns),
            })
        };
        let tally = agent.tally()?;
        let states: Value = tally.flows.iter().map(|(state, count)| (state.name(), json!(count))).collect();
        let flows: Vec<_> = agent.flows(MAX_FLOWS).iter().map(flow).collect();
        let all_flows: usize = tally.flows.iter().map(|(_, count)| count).sum();
        let hosts: Vec<_> = agent.peers(MAX_FLOWS).iter().map(peer).collect();
        let [all_hosts, ..] = tally.peers;
        let not_listed = |all: usize, listed: &[Value]| json!(all.saturating_sub(listed.len()));
        let mut status = summary::json(&tally);
        if let Value::Object(status) = &mut status {
            status.insert("devices".to_owned(), agent.devices().collect());
            status.insert("settings".to_owned(), self.file.display().to_string().into());
            status.insert("states".to_owned(), states);
            status.insert("flows_not_listed".to_owned(), not_listed(all_flows, &flows));
            status.insert("flows".to_owned(), flows.into());
            status.insert("node_id".to_owned(), agent.node_id().into());
            status.insert("hosts_not_listed".to_owned(), not_listed(all_hosts, &hosts));
            status.insert("hosts".to_owned(), hosts.into());
        }
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = format!("{status}\n");
        Ok(())
    }

    fn answer(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        stream.write_all(answer.as_bytes())
    }
}

/// Prints the status of the agent whose shims have this name.
pub(super) fn print(shim: &str, is_json: bool) -> Result<(), Failure> {
    let answer = ask(shim).context("no agent runs in this network namespace")?;
    if is_json {
        return out::print(&answer);
    }
    let status: Value = serde_json::from_str(&answer).context("the agent's answer cannot be read")?;
    out::print(&text(&status))
}

/// The file with the settings of the agent whose shims have this name.
pub(super) fn settings_file(shim: &str) -> io::Result<PathBuf> {
    let status: Value = serde_json::from_str(&ask(shim)?)?;
    match status["settings"].as_str() {
        Some(file) => Ok(file.into()),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

fn ask(shim: &str) -> io::Result<String> {
    let stream = UnixStream::connect_addr(&address(shim)?)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer)?;
    Ok(answer)
}

/// An abstract address: each network namespace has its own, and it is released with the agent.
fn address(shim: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("inband-host-status-{shim}"))
}

/// The number of flows in each state, and every flow without INT.
fn text(status: &Value) -> String {
    let mut text = String::new();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let none = Vec::new();
    let devices: Vec<_> = status["devices"].as_array().unwrap_or(&none).iter().map(word).collect();
    let _ = writeln!(text, "INT on {}", devices.join(", "));
    for (state, count) in status["states"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "{state:<22}{count:>14} flows");
    }
    for flow in status["flows"].as_array().unwrap_or(&none).iter().filter(|flow| flow["state"] != "proven") {
        let of = |key: &str| word(&flow[key]);
        let _ = writeln!(
            text,
            "{} to {}, protocol {}: no INT, {}",
            of("source"),
            of("destination"),
            flow["protocol"],
            of("meaning")
        );
    }
    text
}
