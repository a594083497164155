//! What a switch says of itself.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a switch says of itself.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Node ID.
    pub node_id: u32,
    /// How frames come in: `af-xdp` on one interface at least, or `af-packet`; `kernel`: Linux forwards.
    pub io: &'static str,
    /// Where the program forwards: how frames of each device come in and leave, or why not by AF_XDP.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub frames: BTreeMap<String, String>,
    /// The interfaces.
    pub interfaces: Vec<PortStatus>,
    /// What happened to packets, by the names of the engine.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Reports by what became of them.
    pub reports: BTreeMap<&'static str, u64>,
    /// Routes the router knows.
    pub routes: usize,
    /// Neighbours it knows.
    pub neighbours: usize,
    /// Changes of routes, neighbours and addresses it has taken over.
    pub table_version: u64,
    /// Configurations taken over since the start.
    pub reloads: u64,
    /// Where Linux forwards: packets that its programs handed to the engine, and what became of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<&'static str, u64>,
    /// Where Linux forwards: packets that it dropped, by the device they came in by, or were at, and the kernel's reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_drops: BTreeMap<String, BTreeMap<String, u64>>,
    /// Where Linux forwards: whether it is heard of them; `off` with the reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub drop_reasons: String,
    /// Where Linux forwards: how packets with INT come in and leave that pass the stack by, or why they do not, by device.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub xdp: BTreeMap<String, String>,
    /// Where Linux forwards: what this node's metadata says, and what is not available.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<&'static str, &'static str>,
}

/// What it says of an interface.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PortStatus {
    /// Level 1 interface identifier.
    pub id: u16,
    /// The device.
    pub device: String,
    /// Frames received.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that the socket had no room for.
    pub receive_losses: u64,
    /// Frames that the machine's own stack has.
    pub to_host: u64,
    /// Frames sent.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// What waits in its queues, bytes.
    pub waiting_bytes: usize,
    /// Frames that went nowhere, by cause; of those that came in by it before an egress interface was chosen, and of
    /// those that would have left by it.
    pub drops: BTreeMap<&'static str, u64>,
}
