//! The configuration of a node, one type per section of `node.toml`.

mod action;
mod domain;
mod drop_reasons;
mod encapsulation;
mod format;
mod instruction;
mod limits;
mod loss;
mod number;
mod offline;
mod probe;
mod report;
mod session;
mod source;
mod switch;
mod watch;

use serde::Deserialize;

use inband_wire::int::{Reading, Version};

pub use action::Actions;
pub use domain::{DomainConfig, DomainMetadata, Mutability, Placement, Reporting, Value};
pub use drop_reasons::{DropReasonsConfig, ReasonConfig};
pub use encapsulation::{
    DialectName, EncapsulationConfig, EncapsulationKind, GrePayload, Layer, TcpOptionsConfig,
};
pub use format::{InnerForm, ReportVersion, SourceInserted};
pub use instruction::{Instruction, InstructionList};
pub use limits::{ChecksumConfig, ChecksumUpdate, Icmp, MtuAction, MtuConfig};
pub use loss::LossConfig;
pub use offline::{OfflineConfig, OfflinePackets};
pub use probe::{Mac, ProbeConfig};
pub use report::{LatencyChange, ReportConfig, ReportFilter, SmartConfig, SmartInterface, SmartQueue};
pub use session::{Distribution, SessionConfig};
pub use source::{Mode, Replicate, SinkConfig, SinkMetadata, SourceConfig, SourceDomain};
pub use switch::{Datapath, Forwarding, FrameIo, Rate, StaticConfig, SwitchConfig, Xdp};
pub use watch::{PortRange, Prefix, Protocol, WatchEntry};

/// The contents of `node.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// The node's identity.
    pub node: NodeSection,
    /// The node's interfaces.
    #[serde(default, rename = "interface")]
    pub interfaces: Vec<InterfaceConfig>,
    /// How packets carry INT.
    #[serde(default)]
    pub encapsulation: EncapsulationConfig,
    /// The settings of the source.
    #[serde(default)]
    pub source: SourceConfig,
    /// The flow watchlist; empty: no packet is watched.
    #[serde(default, rename = "watch")]
    pub watchlist: Vec<WatchEntry>,
    /// The probe packets of the source; default none.
    #[serde(default, rename = "probe")]
    pub probes: Vec<ProbeConfig>,
    /// The domain-specific instructions this node knows.
    #[serde(default, rename = "domain")]
    pub domains: Vec<DomainConfig>,
    /// The settings of the sink.
    #[serde(default)]
    pub sink: SinkConfig,
    /// Handling of an exceeded egress MTU.
    #[serde(default)]
    pub mtu: MtuConfig,
    /// Updates of L4 checksums.
    #[serde(default)]
    pub checksum: ChecksumConfig,
    /// Destination and format of reports.
    #[serde(default)]
    pub report: ReportConfig,
    /// Filters and triggers of `report.filter = "smart"`.
    #[serde(default)]
    pub smart: SmartConfig,
    /// Loss detection of the sink.
    #[serde(default)]
    pub loss: LossConfig,
    /// The meaning of drop reason codes.
    #[serde(default)]
    pub drop_reasons: DropReasonsConfig,
    /// Device metadata for packets from a capture file.
    #[serde(default)]
    pub offline: OfflineConfig,
    /// Settings of live interfaces.
    #[serde(default)]
    pub switch: SwitchConfig,
    /// Static routes, with `switch.forwarding = "static"`.
    #[serde(default, rename = "static")]
    pub statics: Vec<StaticConfig>,
}

impl NodeConfig {
    /// Creates the configuration of node `id`; everything else has its default.
    #[must_use]
    pub fn new(id: u32) -> Self {
        Self {
            node: NodeSection { id, int_version: None, unknown_instructions: UnknownInstructions::default() },
            interfaces: Vec::new(),
            encapsulation: EncapsulationConfig::default(),
            source: SourceConfig::default(),
            watchlist: Vec::new(),
            probes: Vec::new(),
            domains: Vec::new(),
            sink: SinkConfig::default(),
            mtu: MtuConfig::default(),
            checksum: ChecksumConfig::default(),
            report: ReportConfig::default(),
            smart: SmartConfig::default(),
            loss: LossConfig::default(),
            drop_reasons: DropReasonsConfig::default(),
            offline: OfflineConfig::default(),
            switch: SwitchConfig::default(),
            statics: Vec::new(),
        }
    }

    /// The version a source writes.
    #[must_use]
    pub fn int_version(&self) -> IntVersion {
        self.node.int_version.unwrap_or(match self.encapsulation.dialect {
            Some(DialectName::Geant) => IntVersion::V1_0,
            Some(DialectName::Onos) => IntVersion::V0_5,
            Some(DialectName::Cablelabs) | None => IntVersion::V2_1,
        })
    }

    /// How strictly INT of the domain must follow the formats, and of which version of its dialect it is.
    #[must_use]
    pub fn reading(&self) -> Reading {
        match self.encapsulation.reading() {
            Reading::Of(dialect) => Reading::OfVersion(dialect, self.int_version().wire()),
            reading => reading,
        }
    }
}

/// `[node]`: the node's identity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSection {
    /// Node ID, unique in the INT domain.
    pub id: u32,
    /// The version a source writes; default 2.1, or that of the dialect. All versions are read; a header in a
    /// tunnel that could be of several, such as 2016 and 0.5 with an empty stack, is read as this one.
    #[serde(default)]
    pub int_version: Option<IntVersion>,
    /// Handling of unknown instructions; default `pad`.
    #[serde(default)]
    pub unknown_instructions: UnknownInstructions,
}

/// The INT version a source writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum IntVersion {
    /// INT 2.1.
    #[default]
    #[serde(rename = "2.1")]
    V2_1,
    /// INT 1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// INT 0.5.
    #[serde(rename = "0.5")]
    V0_5,
    /// Host-INT's extension of 0.5.
    #[serde(rename = "host-0.5")]
    Host0_5,
    /// The text of June 2016.
    #[serde(rename = "2016")]
    V2016,
}

impl IntVersion {
    /// The format on the wire.
    #[must_use]
    pub const fn wire(self) -> Version {
        match self {
            Self::V2_1 => Version::V2_1,
            Self::V1_0 => Version::V1_0,
            Self::V0_5 => Version::V0_5,
            Self::Host0_5 => Version::HostInt0_5,
            Self::V2016 => Version::V2016,
        }
    }
}

/// Handling of instructions this node does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownInstructions {
    /// The node writes all ones for them.
    #[default]
    Pad,
    /// The node adds no metadata at all.
    Skip,
}

/// `[[interface]]`: one interface of the node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceConfig {
    /// Level 1 interface identifier.
    pub id: u16,
    /// Level 2 interface identifier; default all ones: not available.
    // int-2.1/metadata-01: each node chooses what a level identifies, ports or interfaces above them.
    #[serde(default = "not_available")]
    pub level2_id: u32,
    /// The network device, for live use.
    #[serde(default)]
    pub device: Option<String>,
    /// Whether the interface faces hosts; default false.
    #[serde(default)]
    pub edge: bool,
    /// Whether ingress packets may carry INT; default: true unless the interface is an edge.
    #[serde(default)]
    pub accept_int: Option<bool>,
    /// The largest IP packet the interface sends, bytes; default 1500.
    #[serde(default = "ethernet_mtu")]
    pub mtu: u32,
    /// Send rate of the engine, bits a second; default 1Gbit.
    #[serde(default = "gigabit")]
    pub rate: Rate,
    /// Capacity of each queue, bytes; default 1000000.
    #[serde(default = "megabyte")]
    pub queue_bytes: u32,
    /// Number of strict-priority queues; 1 to 8, default 1.
    #[serde(default = "one_queue")]
    pub priorities: u8,
}

impl InterfaceConfig {
    /// Creates an interface with identifier `id` and every default.
    #[must_use]
    pub fn new(id: u16) -> Self {
        Self {
            id,
            level2_id: not_available(),
            device: None,
            edge: false,
            accept_int: None,
            mtu: ethernet_mtu(),
            rate: gigabit(),
            queue_bytes: megabyte(),
            priorities: one_queue(),
        }
    }
}

const fn not_available() -> u32 {
    u32::MAX
}

const fn ethernet_mtu() -> u32 {
    1500
}

const fn gigabit() -> Rate {
    Rate(1_000_000_000)
}

const fn megabyte() -> u32 {
    1_000_000
}

const fn one_queue() -> u8 {
    1
}
