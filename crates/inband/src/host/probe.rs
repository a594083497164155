//! `inband host probe`: how much of INT survives the path to one address, and which traffic would get it.

use std::fmt::Write as _;
use std::net::IpAddr;

use inband_host::{FlowState, HostSettings, PeerAgent, Trial, try_path};
use serde_json::{Value, json};

/// Tries the path; returns the result to be printed, and whether nothing prevents INT.
pub(super) fn run(
    settings: &HostSettings,
    address: IpAddr,
    is_json: bool,
) -> Result<(String, bool), inband_host::HostError> {
    let trial = try_path(settings, address)?;
    let words = if is_json { format!("{}\n", json(&trial)) } else { text(&trial) };
    Ok((words, trial.state == FlowState::Proven))
}

/// The result as text.
fn text(trial: &Trial) -> String {
    let mut text = String::new();
    let Trial { source, destination, device, mtu, state, .. } = trial;
    let _ = writeln!(text, "{source} to {destination} by {device}, MTU {mtu}: {}", state.name());
    let _ = writeln!(text, "  {}\n", state.meaning());
    let _ = match &trial.agent {
        PeerAgent::Agrees { node_id } => {
            writeln!(text, "its agent, node {node_id}, removes INT of this host")
        }
        PeerAgent::Refuses { node_id, reason } => {
            writeln!(text, "its agent, node {node_id}, refuses: {reason}")
        }
        PeerAgent::Silent => writeln!(text, "no agent answers on its control port"),
    };
    let _ = writeln!(text, "\nprobes");
    for trial in &trial.encapsulations {
        let mark = if trial.is_configured { '*' } else { ' ' };
        let found = match trial.largest {
            Some(largest) => format!("INT removed, up to {largest} bytes"),
            None if trial.is_configured => "INT not removed".to_owned(),
            None => "not removed: its sink looks for another mark, or the path takes it".to_owned(),
        };
        let flow = match trial.has_flow_arrived {
            Some(false) => "; its flow does not arrive by the same device",
            _ => "",
        };
        let _ = writeln!(text, "{mark} {:<9} {:<9} {found}{flow}", trial.version, trial.kind);
    }
    let _ = writeln!(text, "\nprograms and filters on {device}");
    if trial.programs.is_empty() {
        let _ = writeln!(text, "  none");
    }
    for program in &trial.programs {
        let whose = if program.is_ours { " (of an agent)" } else { "" };
        let name = if program.name.is_empty() { "without a name" } else { &program.name };
        let _ = writeln!(text, "  {:<12} {name}{whose}", program.hook.name());
    }
    let _ = writeln!(text, "\ntraffic");
    for outlook in &trial.outlooks {
        let verdict = if outlook.gets_int { "INT" } else { "no INT" };
        let _ = writeln!(text, "  {}: {verdict}, {}", outlook.traffic, outlook.reason);
    }
    text
}

/// The result as JSON.
fn json(trial: &Trial) -> Value {
    let (node_id, refusal) = match &trial.agent {
        PeerAgent::Agrees { node_id } => (Some(node_id), None),
        PeerAgent::Refuses { node_id, reason } => (Some(node_id), Some(reason)),
        PeerAgent::Silent => (None, None),
    };
    let encapsulations = trial.encapsulations.iter().map(|trial| {
        json!({
            "int_version": trial.version,
            "kind": trial.kind,
            "configured": trial.is_configured,
            "removed": trial.largest.is_some(),
            "largest": trial.largest,
            "flow_arrived": trial.has_flow_arrived,
        })
    });
    let programs = trial.programs.iter().map(|program| {
        json!({
            "hook": program.hook.name(),
            "name": program.name,
            "id": program.id,
            "ours": program.is_ours,
        })
    });
    let traffic = trial.outlooks.iter().map(
        |outlook| json!({ "traffic": outlook.traffic, "int": outlook.gets_int, "reason": outlook.reason }),
    );
    json!({
        "destination": trial.destination.to_string(),
        "source": trial.source.to_string(),
        "device": trial.device,
        "mtu": trial.mtu,
        "state": trial.state.name(),
        "meaning": trial.state.meaning(),
        "agent": { "answers": node_id.is_some(), "node_id": node_id, "refusal": refusal },
        "encapsulations": encapsulations.collect::<Vec<_>>(),
        "programs": programs.collect::<Vec<_>>(),
        "traffic": traffic.collect::<Vec<_>>(),
    })
}
