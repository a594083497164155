//! What a node does as a source and as a sink.

use serde::Deserialize;

use super::instruction::{Instruction, InstructionList};
use super::watch::PortRange;

/// `[source]`: what the node asks for in the packets it starts INT in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceConfig {
    /// The INT mode; default `md`.
    pub mode: Mode,
    /// The baseline instructions; default node id and queue occupancy.
    pub instructions: InstructionList,
    /// How many hops may add metadata, 0 to 255; default 8.
    pub remaining_hops: u8,
    /// Whether the source adds or reports its own metadata; default true.
    pub own_metadata: bool,
    /// Whether the sink is to discard the packet (D); default false.
    pub discard: bool,
    /// Whether INT starts only in traffic that is known to be congestion controlled: TCP, SCTP, DCCP, and the UDP
    /// of `congestion_controlled_ports`, also inside tunnels; default false.
    pub congestion_controlled_only: bool,
    /// UDP ports, source or destination, of applications that control congestion themselves; default 443, QUIC.
    pub congestion_controlled_ports: Vec<PortRange>,
    /// INT in copies, of one of so many watched packets, which the sink discards; default 0: no copies.
    pub clone: u32,
    /// Whether nodes on the way are to copy the packet on all paths, in the versions before 2.0; default `none`.
    pub replicate: Replicate,
    /// The domain-specific instructions; default none.
    pub domain: Option<SourceDomain>,
}

impl Default for SourceConfig {
    fn default() -> Self {
        Self {
            mode: Mode::Md,
            instructions: [Instruction::NodeId, Instruction::QueueOccupancy].into_iter().collect(),
            remaining_hops: 8,
            own_metadata: true,
            discard: false,
            congestion_controlled_only: false,
            congestion_controlled_ports: vec![PortRange(443..=443)],
            clone: 0,
            replicate: Replicate::None,
            domain: None,
        }
    }
}

/// On which paths a packet is asked to be copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicate {
    /// On its own only.
    #[default]
    None,
    /// On every physical port of a port channel.
    Port,
    /// On every next hop of the same cost.
    NextHop,
    /// On both.
    Both,
}

impl Replicate {
    /// The name users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Port => "port",
            Self::NextHop => "next-hop",
            Self::Both => "both",
        }
    }

    /// The value of Rep.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Port => 1,
            Self::NextHop => 2,
            Self::Both => 3,
        }
    }
}

/// The INT modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// INT-MD: instructions and metadata in the packet.
    #[default]
    Md,
    /// INT-MX: instructions in the packet, metadata in reports.
    Mx,
    /// INT-XD: nothing in the packet; each node reports what its own watchlist says.
    Xd,
}

/// `[source.domain]`: the domain-specific instructions a source asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceDomain {
    /// Domain Specific ID, 0x0001 to 0xffff.
    pub id: u16,
    /// Bits of DS Instruction, 0 is the most significant.
    #[serde(default)]
    pub instructions: Vec<u8>,
    /// DS Flags.
    #[serde(default)]
    pub flags: u16,
}

/// `[sink]`: what the node does as a sink.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SinkConfig {
    /// Where the sink's own metadata goes; default `stack`.
    pub own_metadata: SinkMetadata,
    /// Whether the original DSCP is restored; default true. Otherwise the marking bits are cleared.
    pub restore_dscp: bool,
}

impl Default for SinkConfig {
    fn default() -> Self {
        Self { own_metadata: SinkMetadata::Stack, restore_dscp: true }
    }
}

/// Where a sink's own metadata goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinkMetadata {
    /// Onto the metadata stack, as a transit hop's.
    #[default]
    Stack,
    /// Into the metadata of its report.
    Report,
    /// Nowhere.
    None,
}
