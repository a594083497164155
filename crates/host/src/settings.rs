//! What does `host.toml` say? The words of `node.toml`, and what a host needs beside them.

use std::net::SocketAddr;

use inband_node::config::{
    Actions, ChecksumConfig, EncapsulationConfig, InterfaceConfig, LossConfig, NodeSection, Prefix,
    ReportConfig, SinkConfig, SmartConfig, SourceConfig, WatchEntry,
};
use inband_node::{Node, NodeConfig};
use serde::Deserialize;

use crate::clock::Clock;
use crate::config::HostInt;
use crate::error::HostError;
use crate::rules::RuleSet;

/// Everything `host.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// Who the host is.
    pub node: NodeSection,
    /// What is particular to hosts.
    pub host: HostSection,
    /// Identifiers of the devices; one that is not here has its interface index for one.
    #[serde(default, rename = "interface")]
    pub interfaces: Vec<InterfaceConfig>,
    /// Who takes INT out again; nobody: INT is not started.
    #[serde(default, rename = "peer")]
    pub peers: Vec<PeerSettings>,
    /// How packets carry INT.
    #[serde(default)]
    pub encapsulation: EncapsulationConfig,
    /// What the host does as a source.
    #[serde(default)]
    pub source: SourceConfig,
    /// The flow watchlist; empty: nothing is watched.
    #[serde(default, rename = "watch")]
    pub watchlist: Vec<WatchEntry>,
    /// What the host does as a sink.
    #[serde(default)]
    pub sink: SinkConfig,
    /// How L4 checksums are kept right.
    #[serde(default)]
    pub checksum: ChecksumConfig,
    /// Where and how reports go.
    #[serde(default)]
    pub report: ReportConfig,
    /// Filters and triggers of `report.filter = "smart"`.
    #[serde(default)]
    pub smart: SmartConfig,
    /// Whether and how the sink looks for losses.
    #[serde(default)]
    pub loss: LossConfig,
}

/// `[host]`: what is particular to hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// The devices that lead into the INT domain: names, in which `*` stands for any characters.
    pub devices: Vec<String>,
    /// Interface identifier of the host itself, where its packets come from and end; default 0.
    #[serde(default)]
    pub interface: u16,
    /// What the names of the shims begin with; default `int`: int0 and int1 for the first device.
    #[serde(default = "shim_name")]
    pub shim: String,
    /// How often the agent hears of one flow's packets at most, microseconds; default 10,000. 0: of every packet.
    #[serde(default = "interval_us")]
    pub interval_us: u32,
    /// How many hops, this host among them, TCP connections leave room for; default 6. 0: none.
    #[serde(default = "room_hops")]
    pub room_hops: u8,
    /// The clock of timestamps; default `realtime`.
    #[serde(default)]
    pub clock: Clock,
    /// How long INT is still taken out when the agent was killed, milliseconds; default 10,000.
    #[serde(default = "linger_ms")]
    pub linger_ms: u32,
    /// Where metrics are served; default nowhere.
    #[serde(default)]
    pub metrics: Option<SocketAddr>,
}

/// `[[peer]]`: destinations that take INT out again.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSettings {
    /// Their addresses.
    pub prefix: Prefix,
}

fn shim_name() -> String {
    "int".to_owned()
}

const fn interval_us() -> u32 {
    10_000
}

const fn linger_ms() -> u32 {
    10_000
}

const fn room_hops() -> u8 {
    6
}

impl HostSettings {
    /// Whether every setting can be followed, as far as that is known without the devices.
    ///
    /// # Errors
    /// The first one that cannot.
    pub fn check(&self) -> Result<(), HostError> {
        let node = self.node(self.interfaces.clone());
        Node::new(&node)?;
        let host = HostInt { node, ingress: 0, egress: 0, clock_offset: 0, interval_us: 0, room: 0 };
        host.check()?;
        RuleSet::new(&self.watchlist, Actions::START_INT, &[], 0)?;
        match self.host.devices.is_empty() {
            true => Err(HostError::Unsupported {
                key: "host.devices",
                value: "[]".to_owned(),
                instead: "the devices that lead into the domain",
            }),
            false => Ok(()),
        }
    }

    /// The configuration of the host's engine, whose interfaces are `interfaces`.
    #[must_use]
    pub fn node(&self, interfaces: Vec<InterfaceConfig>) -> NodeConfig {
        NodeConfig {
            node: self.node.clone(),
            interfaces,
            encapsulation: self.encapsulation.clone(),
            source: self.source.clone(),
            watchlist: self.watchlist.clone(),
            sink: self.sink.clone(),
            checksum: self.checksum.clone(),
            report: self.report.clone(),
            smart: self.smart.clone(),
            loss: self.loss.clone(),
            ..NodeConfig::new(self.node.id)
        }
    }
}
