//! The settings of a node as a source and as a sink.

use serde::Deserialize;

use super::instruction::{Instruction, InstructionList};
use super::watch::PortRange;

/// `[source]`: what the node requests in the packets it starts INT in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceConfig {
    /// The INT mode; default `md`.
    pub mode: Mode,
    /// The baseline instructions; default node id and queue occupancy.
    pub instructions: InstructionList,
    /// Maximum number of hops that add metadata, 0 to 255; default 8.
    pub remaining_hops: u8,
    /// Whether the source adds or reports its own metadata; default true.
    pub own_metadata: bool,
    /// Whether the sink discards the packet (D); default false.
    pub discard: bool,
    /// Whether INT is started only in traffic known to be congestion controlled: TCP, SCTP, DCCP, and the UDP
    /// of `congestion_controlled_ports`, also inside tunnels; default false.
    pub congestion_controlled_only: bool,
    /// UDP ports, source or destination, of congestion-controlled applications; default 443, QUIC.
    pub congestion_controlled_ports: Vec<PortRange>,
    /// Starts INT in a copy of one in this many watched packets, discarded by the sink; default 0: no copies.
    pub clone: u32,
    /// Paths on which transit hops replicate the packet, in versions before 2.0; default `none`.
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

/// Paths on which a packet is to be replicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicate {
    /// Its own path only.
    #[default]
    None,
    /// On every physical port of a port channel.
    Port,
    /// On every equal-cost next hop.
    NextHop,
    /// On every port and every equal-cost next hop.
    Both,
}

impl Replicate {
    /// The name in configuration files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Port => "port",
            Self::NextHop => "next-hop",
            Self::Both => "both",
        }
    }

    /// The value of the Rep field.
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
    /// INT-XD: nothing in the packet; each node reports what its own watchlist selects.
    Xd,
}

/// `[source.domain]`: the domain-specific instructions a source requests.
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

/// `[sink]`: the settings of the sink.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SinkConfig {
    /// Destination of the sink's own metadata; default `stack`.
    pub own_metadata: SinkMetadata,
    /// Whether the original DSCP is restored; default true. Otherwise the marking bits are cleared.
    pub restore_dscp: bool,
}

impl Default for SinkConfig {
    fn default() -> Self {
        Self { own_metadata: SinkMetadata::Stack, restore_dscp: true }
    }
}

/// The destination of a sink's own metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinkMetadata {
    /// The metadata stack, as on a transit hop.
    #[default]
    Stack,
    /// The metadata of its report.
    Report,
    /// Nowhere.
    None,
}
