//! The packets and nodes that are measured.

use anyhow::{Context, Result, bail};
use etherparse::PacketBuilder;
use inband_node::{DeviceMetadata, Frame, Node, NodeConfig, Passage, Verdict};
use inband_wire::Link;
use inband_wire::int::Queue;

/// Interface that faces hosts, of every node.
const EDGE: u16 = 1;
/// Interface that faces the fabric, of every node.
const FABRIC: u16 = 2;
/// Room for all that the nodes of a path add, bytes.
const HEADROOM: usize = 256;

/// The role of a node for a packet, which follows from the interfaces the packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    Transit,
    Sink,
}

impl Role {
    /// The role under its name in the specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Transit => "transit hop",
            Self::Sink => "sink",
        }
    }

    /// The interfaces of a packet through a node in this role.
    pub(crate) fn passage(self) -> Passage {
        let (ingress, egress) = match self {
            Self::Source => (EDGE, FABRIC),
            Self::Transit => (FABRIC, FABRIC),
            Self::Sink => (FABRIC, EDGE),
        };
        let queue = Some(Queue { id: 0, occupancy: 17 });
        Passage { ingress, egress, metadata: DeviceMetadata { queue, ..DeviceMetadata::default() } }
    }
}

/// A node that requests node id and queue occupancy in every TCP packet, and reports the INT it removes.
pub(crate) fn node(id: u32) -> Result<Node> {
    let mut config = configuration()?;
    config.node.id = id;
    Node::new(&config).context("cannot create the node")
}

/// The configuration of [`node`].
pub(crate) fn configuration() -> Result<NodeConfig> {
    toml::from_str(CONFIGURATION).context("cannot read the configuration")
}

/// An Ethernet frame of TCP over IPv4 that carries no INT.
pub(crate) fn plain(payload_bytes: usize, source_port: u16) -> Result<Vec<u8>> {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(source_port, 80, 1, 65_535)
        .write(&mut frame, &vec![0x5a; payload_bytes])
        .context("cannot build a packet")?;
    Ok(frame)
}

/// The frame of [`plain`] after a source and `hops - 1` transit hops.
pub(crate) fn with_hops(payload_bytes: usize, source_port: u16, hops: u32) -> Result<Vec<u8>> {
    let mut frame = plain(payload_bytes, source_port)?;
    for hop in 1..=hops {
        let role = if hop == 1 { Role::Source } else { Role::Transit };
        frame = pass(&mut node(hop)?, &frame, role)?;
    }
    Ok(frame)
}

/// The frame as `node` forwards it.
pub(crate) fn pass(node: &mut Node, bytes: &[u8], role: Role) -> Result<Vec<u8>> {
    let mut buffer = vec![0xa5; HEADROOM];
    buffer.extend_from_slice(bytes);
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, HEADROOM..end).context("the frame is in its buffer")?;
    match node.handle_frame(Link::Ethernet, &mut frame, &role.passage()) {
        Verdict::Forward => Ok(frame.bytes().to_vec()),
        verdict => bail!("the node did not forward the packet but said {verdict:?}"),
    }
}

const CONFIGURATION: &str = r#"
[node]
id = 1

[[interface]]
id = 1
edge = true

[[interface]]
id = 2

[source]
mode = "md"
instructions = ["node-id", "queue-occupancy"]

[[watch]]
protocol = "tcp"
"#;
