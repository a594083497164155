//! The INT domains, by version and encapsulation, in which a transit hop is measured.

use anyhow::{Context, Result, ensure};
use etherparse::PacketBuilder;
use inband_node::config::{EncapsulationKind, IntVersion, Layer};
use inband_node::{Node, NodeConfig};

use crate::fabric::{self, Role, pass};

/// A version of INT in one of its encapsulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Domain {
    pub version: IntVersion,
    pub kind: EncapsulationKind,
    /// Whether INT is in the inner or the outer layer of VXLAN; outer where there is no tunnel.
    pub layer: Layer,
}

/// Every encapsulation of every version, and the common one inside a tunnel.
pub(crate) const DOMAINS: [Domain; 20] = [
    Domain::new(IntVersion::V2_1, EncapsulationKind::Dscp),
    Domain::new(IntVersion::V2_1, EncapsulationKind::UdpPort),
    Domain::new(IntVersion::V2_1, EncapsulationKind::Udp),
    Domain::new(IntVersion::V2_1, EncapsulationKind::ProbeMarker),
    Domain::new(IntVersion::V2_1, EncapsulationKind::Gre),
    Domain::new(IntVersion::V2_1, EncapsulationKind::VxlanGpe),
    Domain::new(IntVersion::V2_1, EncapsulationKind::Geneve),
    Domain { layer: Layer::Inner, ..Domain::new(IntVersion::V2_1, EncapsulationKind::Dscp) },
    Domain::new(IntVersion::V1_0, EncapsulationKind::Dscp),
    Domain::new(IntVersion::V1_0, EncapsulationKind::ProbeMarker),
    Domain::new(IntVersion::V1_0, EncapsulationKind::VxlanGpe),
    Domain::new(IntVersion::V1_0, EncapsulationKind::Geneve),
    Domain::new(IntVersion::V0_5, EncapsulationKind::Dscp),
    Domain::new(IntVersion::V0_5, EncapsulationKind::UdpPort),
    Domain::new(IntVersion::V0_5, EncapsulationKind::VxlanGpe),
    Domain::new(IntVersion::V0_5, EncapsulationKind::Geneve),
    Domain::new(IntVersion::V2016, EncapsulationKind::VxlanGpe),
    Domain::new(IntVersion::V2016, EncapsulationKind::Geneve),
    Domain::new(IntVersion::Host0_5, EncapsulationKind::Dscp),
    Domain::new(IntVersion::Host0_5, EncapsulationKind::Udp),
];

impl Domain {
    const fn new(version: IntVersion, kind: EncapsulationKind) -> Self {
        Self { version, kind, layer: Layer::Outer }
    }

    /// The name of the row.
    pub(crate) fn name(self) -> String {
        let place = if self.layer == Layer::Inner { " in VXLAN" } else { "" };
        format!("transit hop, {} {}{place}", self.version.wire().name(), self.kind.name())
    }

    /// A node of this domain that requests node id and queue occupancy; Host-INT requests its own four.
    ///
    /// # Errors
    /// The node does not accept its configuration.
    pub(crate) fn node(self, id: u32) -> Result<Node> {
        let mut config: NodeConfig = fabric::configuration()?;
        config.node.id = id;
        config.node.int_version = Some(self.version);
        config.encapsulation.kind = Some(self.kind);
        config.encapsulation.layer = self.layer;
        config.watchlist = vec![inband_node::config::WatchEntry::default()];
        Node::new(&config).context("cannot create the node")
    }

    /// Bytes that a hop of this domain adds to a packet.
    pub(crate) const fn hop_bytes(self) -> isize {
        match self.version {
            IntVersion::Host0_5 => 16,
            _ => 8,
        }
    }

    /// A packet with 4 hops on its stack, or the 1 that Host-INT leaves room for in front of its last.
    ///
    /// # Errors
    /// A node does not start INT or does not add its hop.
    pub(crate) fn carrying(self) -> Result<Vec<u8>> {
        let hops = if self.version == IntVersion::Host0_5 { 1 } else { HOPS };
        let mut frame = self.plain()?;
        for hop in 1..=hops {
            let role = if hop == 1 { Role::Source } else { Role::Transit };
            let before = frame.len();
            frame = pass(&mut self.node(hop)?, &frame, role)?;
            ensure!(frame.len() > before, "node {hop} of {self:?} adds nothing");
        }
        Ok(frame)
    }

    /// An Ethernet frame with 100 bytes of payload that can carry INT in the encapsulation.
    fn plain(self) -> Result<Vec<u8>> {
        let inner = [0x5a; PAYLOAD_BYTES].to_vec();
        let (port, tunnel, payload): (u16, &[u8], _) = match (self.kind, self.layer) {
            (_, Layer::Inner) => {
                (4789, &[8, 0, 0, 0, 0, 0, 7, 0], fabric::plain(PAYLOAD_BYTES, SOURCE_PORT)?)
            }
            (EncapsulationKind::UdpPort, _) => (53, &[], inner),
            (EncapsulationKind::VxlanGpe, _) => (4790, &[0x0c, 0, 0, 3, 0, 0, 7, 0], inner),
            (EncapsulationKind::Geneve, _) => (6081, &[0, 0, 0x65, 0x58, 0, 0, 7, 0], inner),
            _ => return fabric::plain(PAYLOAD_BYTES, SOURCE_PORT),
        };
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .udp(SOURCE_PORT, port)
            .write(&mut frame, &[tunnel, &payload].concat())
            .context("cannot build a packet")?;
        Ok(frame)
    }
}

/// Hops on the stack when a packet reaches the transit hop.
const HOPS: u32 = 4;
const PAYLOAD_BYTES: usize = 100;
const SOURCE_PORT: u16 = 1234;
