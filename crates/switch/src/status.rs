//! The status of a switch.

use std::collections::BTreeMap;

use serde::Serialize;

/// The status of a switch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Node ID.
    pub node_id: u32,
    /// How frames arrive: `af-xdp` on one interface at least, or `af-packet`; `kernel`: Linux forwards.
    pub io: &'static str,
    /// Where the program forwards: how frames of each device arrive and leave, or why not by AF_XDP.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub frames: BTreeMap<String, String>,
    /// The interfaces.
    pub interfaces: Vec<PortStatus>,
    /// Packets by outcome, under the engine's names.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Reports by outcome.
    pub reports: BTreeMap<&'static str, u64>,
    /// Routes known to the router.
    pub routes: usize,
    /// Neighbours known to it.
    pub neighbours: usize,
    /// Changes of routes, neighbours and addresses that it has adopted.
    pub table_version: u64,
    /// Configurations applied since the start.
    pub reloads: u64,
    /// Where Linux forwards: packets that its programs passed to the engine, by outcome.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<&'static str, u64>,
    /// Where Linux forwards: packets that it dropped, by the device they came in by, or were dropped at, and
    /// the kernel's reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_drops: BTreeMap<String, BTreeMap<String, u64>>,
    /// Where Linux forwards: whether these drops are watched; `off` with the reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub drop_reasons: String,
    /// Where Linux forwards: how packets with INT that bypass the stack arrive and leave, or why they do not,
    /// by device.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub xdp: BTreeMap<String, String>,
    /// Where Linux forwards: this node's metadata, and what is not available.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<&'static str, &'static str>,
}

/// The status of an interface.
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
    /// Frames that did not fit into the socket's buffer.
    pub receive_losses: u64,
    /// Frames passed to the host's own stack.
    pub to_host: u64,
    /// Frames sent.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// The bytes waiting in its queues.
    pub waiting_bytes: usize,
    /// The packets waiting in its queues, and for the device to take them.
    pub waiting_packets: usize,
    /// Packets that came in by it, and wait for the Ethernet address of their next hop.
    pub unresolved_packets: usize,
    /// Dropped frames, by cause: those that came in by it, up to the choice of an egress interface, and those
    /// that would have left by it.
    pub drops: BTreeMap<&'static str, u64>,
    /// Why the device is not in use, such as that it does not exist; `None`: it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absence: Option<String>,
}

/// Why a device is not in use that does not exist.
pub(crate) const NO_DEVICE: &str = "there is no such device";
