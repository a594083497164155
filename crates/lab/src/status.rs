//! The parts of a lab that is up, and their state.

use serde::Serialize;

use crate::error::LabError;
use crate::lab::Lab;
use crate::plan::Kind;
use crate::state::State;
use crate::topology::Fault;
use crate::wire::{self, Direction};

/// A lab that is up.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Whether everything was started, and all its parts are running.
    pub is_healthy: bool,
    /// The address of the collector's API outside of the lab.
    pub api: String,
    /// Its hosts, switches and other parts.
    pub nodes: Vec<NodeStatus>,
    /// Its links.
    pub links: Vec<LinkStatus>,
    /// The faults in force.
    pub faults: Vec<Fault>,
    /// Packets that the machine has dropped in its processors' backlogs since the lab's start, of the lab and
    /// of everything else: they are in no other count. None: unknown.
    pub backlog_drops: Option<u64>,
}

/// A host, a switch or another part of a lab.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// `host`, `engine`, `kernel`, `router`, `bridge`, `collector` or `links`.
    pub kind: &'static str,
    /// Its network namespace; none for `links`, whose process is outside of the lab.
    pub namespace: Option<String>,
    /// Its Node ID; none: no INT.
    pub node_id: Option<u32>,
    /// Its addresses.
    pub addresses: Vec<String>,
    /// The processes started for it.
    pub processes: Vec<ProcessStatus>,
}

/// A process of a lab.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessStatus {
    /// Its role.
    pub what: String,
    /// Its id.
    pub pid: u32,
    /// Whether it is running.
    pub is_alive: bool,
}

/// A link of a lab.
#[derive(Clone, Debug, Serialize)]
pub struct LinkStatus {
    /// Its ends with their interface ids.
    pub ends: [String; 2],
    /// Bits per second, `0`: no limit.
    pub rate: String,
    /// Maximum bytes queued at each end, where the rate is limited.
    pub queue_bytes: u32,
    /// The delay of a packet, nanoseconds.
    pub delay_ns: u64,
    /// The share of packets that are lost.
    pub loss: f64,
    /// Whether it is up.
    pub is_up: bool,
    /// The user-space link's measurements, from the first end and from the second; none: the link is only in
    /// the kernel.
    pub user_space: Option<[Direction; 2]>,
}

/// Examines a lab.
///
/// # Errors
/// Its files cannot be read.
pub fn status(state: &State) -> Result<Status, LabError> {
    let lab = Lab::of(state)?;
    let plan = &lab.plan;
    let processes = |node: &str| -> Vec<ProcessStatus> {
        let own = state.facts.processes.iter().filter(|process| process.node == node);
        own.map(|it| ProcessStatus { what: it.what.clone(), pid: it.pid, is_alive: it.is_alive() }).collect()
    };
    let mut nodes = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        let kind = match node.kind {
            Kind::Host => "host",
            Kind::Engine => "engine",
            Kind::Kernel if node.id.is_none() => "router",
            Kind::Kernel => "kernel",
            Kind::Bridge { .. } => "bridge",
        };
        nodes.push(NodeStatus {
            name: node.name.clone(),
            kind,
            namespace: Some(plan.namespace(&node.name)),
            node_id: node.id,
            addresses: plan.host_addresses(at).map(|network| network.to_string()).collect(),
            processes: processes(&node.name),
        });
    }
    for part in ["collector", "links"] {
        let namespace = (part == "collector").then(|| plan.namespace(part));
        nodes.push(NodeStatus {
            name: part.into(),
            kind: part,
            namespace,
            node_id: None,
            addresses: Vec::new(),
            processes: processes(part),
        });
    }
    // Commands of hosts may end; programs of the lab itself may not.
    let own = ["switch", "host", "collector", "links"];
    let are_alive = nodes
        .iter()
        .flat_map(|node| &node.processes)
        .all(|it| it.is_alive || !own.contains(&it.what.as_str()));
    let broken = plan.broken(&state.facts.faults);
    let measured = wire::measured(state.folder());
    let links = plan.links.iter().enumerate().map(|(at, link)| {
        let names = link.ends.map(|(node, _)| plan.nodes[node].name.as_str());
        let of = |from: usize| {
            measured.get(&format!("{}>{}", names[from], names[1 - from])).copied().unwrap_or_default()
        };
        LinkStatus {
            ends: link.ends.map(|(node, id)| format!("{}:{id}", plan.nodes[node].name)),
            rate: plan.rate(at, &state.facts.faults).to_string(),
            queue_bytes: link.queue_bytes,
            delay_ns: u64::try_from(link.delay.0.as_nanos()).unwrap_or(u64::MAX),
            loss: link.loss,
            is_up: !broken.contains(&at),
            user_space: link.is_relayed().then(|| [of(0), of(1)]),
        }
    });
    Ok(Status {
        name: plan.name.clone(),
        is_healthy: state.facts.is_complete && are_alive,
        api: format!("http://{}", plan.api),
        links: links.collect(),
        nodes,
        faults: state.facts.faults.clone(),
        backlog_drops: state.facts.backlog_drops(),
    })
}
