//! `host.toml`: the keys of `node.toml`, and those particular to hosts.

use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};

use inband_linux::clock::Clock;
use inband_linux::device::Device;
use inband_linux::netlink::Netlink;
use inband_node::config::{
    Actions, ChecksumConfig, DropReasonsConfig, EncapsulationConfig, InterfaceConfig, Prefix, ReportConfig,
    ReportFilter, SinkConfig, SmartConfig, SourceConfig, WatchEntry,
};
use inband_node::{Node, NodeConfig};
use serde::Deserialize;

use crate::config::HostInt;
use crate::coverage::Coverage;
use crate::drops::is_pattern;
use crate::error::HostError;
use crate::identity::{HostNode, NodeId};
use crate::lease::Keys;
use crate::pattern;
use crate::rules::RuleSet;
use crate::shim::is_shim;

/// The contents of `host.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// Node id and version of the host.
    pub node: HostNode,
    /// Settings particular to hosts.
    pub host: HostSection,
    /// Identifiers of the devices; others use their interface index.
    #[serde(default, rename = "interface")]
    pub interfaces: Vec<InterfaceConfig>,
    /// Destinations that remove INT; empty: INT is not started.
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
    /// What the codes of dropped packets mean.
    #[serde(default)]
    pub drop_reasons: DropReasonsConfig,
}

/// `[host]`: settings particular to hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// The devices that lead into the INT domain: names, in which `*` stands for any characters.
    pub devices: Vec<String>,
    /// Interface identifier of the host itself, where its packets start and end; default 0.
    #[serde(default)]
    pub interface: u16,
    /// The prefix of the shims' names; default `int`: int0 and int1 for the first device.
    #[serde(default = "shim_name")]
    pub shim: String,
    /// Minimum time between two events of one flow, microseconds; default 10,000. 0: one for every packet.
    #[serde(default = "interval_us")]
    pub interval_us: u32,
    /// Which packets of a watched flow get INT; default `slices`.
    #[serde(default)]
    pub coverage: Coverage,
    /// The number of hops, this host included, that TCP segments leave room for; default 6. 0: this host
    /// only.
    #[serde(default = "room_hops")]
    pub room_hops: u8,
    /// The clock of timestamps; default `realtime`.
    #[serde(default)]
    pub clock: Clock,
    /// UDP port on which agents ask each other for leases; default 33123.
    #[serde(default = "control_port")]
    pub control_port: NonZeroU16,
    /// The length of a lease, milliseconds, 1,000 to 60,000 and at most `linger_ms`; default 3,000.
    #[serde(default = "lease_ms")]
    pub lease_ms: u32,
    /// A file with a secret that agents share; default none: answers are not authenticated.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// Files with secrets, in place of `key_file`: the first signs, all verify; default none.
    #[serde(default)]
    pub keys: Vec<PathBuf>,
    /// Maximum reports per second, of all sessions together; default 1,000. 0: unlimited.
    #[serde(default = "reports_per_second")]
    pub reports_per_second: u32,
    /// Maximum memory of the tables in the kernel, MiB, 24 or more; default 64.
    #[serde(default = "map_memory_mib")]
    pub map_memory_mib: u32,
    /// Maximum probes of new flows per second; default 100.
    #[serde(default = "probes_per_second")]
    pub probes_per_second: NonZeroU32,
    /// Maximum probes per minute to a destination that does not answer; default 20.
    #[serde(default = "probes_per_minute")]
    pub probes_per_minute: NonZeroU32,
    /// How long INT is still removed after the agent was killed, milliseconds; default 10,000.
    #[serde(default = "linger_ms")]
    pub linger_ms: u32,
    /// A folder of a BPF file system for sinks that outlive the agent; default `/sys/fs/bpf/inband`.
    #[serde(default = "pins")]
    pub pins: PathBuf,
    /// Whether packets of watched flows that the kernel drops are reported; default true.
    #[serde(default = "yes")]
    pub drops: bool,
    /// Files of further network namespaces whose drops are reported, in whose last name `*` stands for any
    /// characters; default none.
    #[serde(default)]
    pub drop_namespaces: Vec<PathBuf>,
    /// Where metrics are served; default nowhere.
    #[serde(default)]
    pub metrics: Option<SocketAddr>,
}

/// `[[peer]]`: destinations that remove INT.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSettings {
    /// Their addresses.
    pub prefix: Prefix,
    /// Whether flows to them are probed; default true. `false`: all these addresses always remove INT, with
    /// or without an agent.
    #[serde(default = "yes")]
    pub lease: bool,
}

const fn yes() -> bool {
    true
}

impl HostSection {
    /// The files of `keys`, or that of `key_file`.
    pub(crate) fn key_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.keys.iter().chain(&self.key_file)
    }

    /// The secrets of `keys`, or that of `key_file`.
    ///
    /// # Errors
    /// A file that cannot be read, or holds no secret.
    pub(crate) fn shared_keys(&self) -> Result<Keys, HostError> {
        let secrets = self.secrets()?;
        Ok(Keys::new(secrets.iter().map(|secret| secret.trim_ascii())))
    }

    /// The contents of each of [`Self::key_files`].
    fn secrets(&self) -> Result<Vec<Vec<u8>>, HostError> {
        let key = if self.keys.is_empty() { "host.key_file" } else { "host.keys" };
        let secret = |path: &PathBuf| {
            let fault = |reason: String| HostError::Key { key, path: path.clone(), reason };
            let secret = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
            match secret.trim_ascii() {
                [] => Err(fault("it is empty".to_owned())),
                _ => Ok(secret),
            }
        };
        self.key_files().map(secret).collect()
    }

    fn check(&self) -> Result<(), HostError> {
        let unsupported = |key, value: String, instead| Err(HostError::Unsupported { key, value, instead });
        if self.devices.is_empty() {
            return unsupported("host.devices", "[]".to_owned(), "the devices that lead into the domain");
        }
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        };
        if !is_name(&self.shim) || self.shim.len() > MAX_SHIM_NAME {
            let instead = "at most 10 letters, digits, hyphens and underscores";
            return unsupported("host.shim", format!("\"{}\"", self.shim), instead);
        }
        if !(1_000..=60_000).contains(&self.lease_ms) || self.lease_ms > self.linger_ms {
            let instead = "1000 to 60000, and at most host.linger_ms";
            return unsupported("host.lease_ms", self.lease_ms.to_string(), instead);
        }
        if self.map_memory_mib < MIN_MAP_MEMORY_MIB {
            return unsupported("host.map_memory_mib", self.map_memory_mib.to_string(), "24 or more");
        }
        if let Some(path) = self.drop_namespaces.iter().find(|path| !is_pattern(path)) {
            let instead = "an absolute path with `*` in its last name only";
            return unsupported("host.drop_namespaces", format!("{path:?}"), instead);
        }
        if let (Some(path), false) = (&self.key_file, self.keys.is_empty()) {
            return unsupported("host.key_file", format!("{path:?}"), "host.keys alone");
        }
        if let Some(metrics) = self.metrics.filter(|metrics| !metrics.ip().is_loopback()) {
            return unsupported(
                "host.metrics",
                format!("\"{metrics}\""),
                "an address of the host itself, as 127.0.0.1:9464",
            );
        }
        Ok(())
    }
}

/// Secrets with fewer bytes are accepted, and can be guessed.
pub const MIN_SECRET_BYTES: usize = 16;
/// Maximum number of `[[peer]]`; the kernel's table holds as many former ones.
pub(crate) const MAX_PEERS: usize = 16_384;
/// Less has no room for tables other than those of flows.
const MIN_MAP_MEMORY_MIB: u32 = 24;
/// Device names have at most 15 characters; the number needs some.
const MAX_SHIM_NAME: usize = 10;

/// The default of `host.shim`.
pub(crate) fn shim_name() -> String {
    "int".to_owned()
}

/// The default of `host.pins`.
pub(crate) fn pins() -> PathBuf {
    PathBuf::from("/sys/fs/bpf/inband")
}

const fn interval_us() -> u32 {
    10_000
}

const fn control_port() -> NonZeroU16 {
    NonZeroU16::new(33_123).expect("it is not zero")
}

const fn lease_ms() -> u32 {
    3_000
}

const fn reports_per_second() -> u32 {
    1_000
}

const fn map_memory_mib() -> u32 {
    64
}

const fn probes_per_second() -> NonZeroU32 {
    NonZeroU32::new(100).expect("it is not zero")
}

const fn probes_per_minute() -> NonZeroU32 {
    NonZeroU32::new(20).expect("it is not zero")
}

const fn linger_ms() -> u32 {
    10_000
}

const fn room_hops() -> u8 {
    6
}

impl HostSettings {
    /// Checks that every setting can be applied, as far as that is known without the devices.
    ///
    /// # Errors
    /// The first one that cannot.
    pub fn check(&self) -> Result<(), HostError> {
        let node = self.node(self.interfaces.clone());
        Node::new(&node)?;
        HostInt::of(node).check()?;
        RuleSet::new(&self.watchlist, Actions::START_INT, &[], 0)?;
        if self.peers.len() > MAX_PEERS {
            let value = format!("{} entries", self.peers.len());
            let instead = "at most 16384; a prefix holds all hosts of a network";
            return Err(HostError::Unsupported { key: "peer", value, instead });
        }
        self.host.check()
    }

    /// Reads the secrets that agents share; returns the files whose secret has fewer than
    /// [`MIN_SECRET_BYTES`].
    ///
    /// # Errors
    /// A file that cannot be read, or holds no secret.
    pub fn check_keys(&self) -> Result<Vec<&Path>, HostError> {
        let secrets = self.host.secrets()?;
        let files = self.host.key_files().zip(&secrets);
        let short = files.filter(|(_, secret)| secret.trim_ascii().len() < MIN_SECRET_BYTES);
        Ok(short.map(|(path, _)| path.as_path()).collect())
    }

    /// The first table or key in which `other` differs and that a running agent cannot change.
    pub(crate) fn key_of_restart(&self, other: &Self) -> Option<&'static str> {
        let fixed = |settings: &Self| {
            let Self { node, host, encapsulation, source, sink, checksum, report, .. } = settings;
            // The filter can change, as its thresholds in [smart] can.
            let report = ReportConfig { filter: ReportFilter::None, ..report.clone() };
            [
                ("node", format!("{node:?}")),
                ("host.interface", format!("{:?}", host.interface)),
                ("host.shim", format!("{:?}", host.shim)),
                ("host.control_port", format!("{:?}", host.control_port)),
                ("host.lease_ms", format!("{:?}", host.lease_ms)),
                ("host.key_file", format!("{:?}", host.key_file)),
                ("host.keys", format!("{:?}", host.keys)),
                ("host.map_memory_mib", format!("{:?}", host.map_memory_mib)),
                ("host.reports_per_second", format!("{:?}", host.reports_per_second)),
                ("host.probes_per_second", format!("{:?}", host.probes_per_second)),
                ("host.probes_per_minute", format!("{:?}", host.probes_per_minute)),
                ("host.pins", format!("{:?}", host.pins)),
                ("host.metrics", format!("{:?}", host.metrics)),
                ("encapsulation", format!("{encapsulation:?}")),
                ("source", format!("{source:?}")),
                ("sink", format!("{sink:?}")),
                ("checksum", format!("{checksum:?}")),
                ("report", format!("{report:?}")),
            ]
        };
        fixed(self).into_iter().zip(fixed(other)).find(|(old, new)| old != new).map(|((key, _), _)| key)
    }

    /// Resolves a node id that is derived from the machine or its address.
    pub(crate) fn resolve_id(&mut self, netlink: &mut Netlink, all: &[Device]) -> Result<(), HostError> {
        let patterns = &self.host.devices;
        let is_meant = |device: &&Device| {
            patterns.iter().any(|pattern| pattern::matches(pattern, &device.name)) && !is_shim(device)
        };
        let meant: Vec<_> = all.iter().filter(is_meant).collect();
        self.node.id = NodeId::Number(self.node.id.resolve(netlink, &meant)?);
        Ok(())
    }

    /// `[report]`, with the rate limited to `host.reports_per_second`, of all sessions together.
    fn bounded_report(&self) -> ReportConfig {
        let mut report = self.report.clone();
        let sessions = u32::try_from(report.sessions().len()).unwrap_or(u32::MAX);
        let share = match self.host.reports_per_second {
            0 => return report,
            most => (most / sessions.max(1)).max(1),
        };
        let sessions = report.sessions.iter_mut().filter_map(|session| session.reports_per_second.as_mut());
        for own in sessions.chain([&mut report.reports_per_second]) {
            *own = if *own == 0 { share } else { (*own).min(share) };
        }
        report
    }

    /// The configuration of the host's engine, whose interfaces are `interfaces`.
    #[must_use]
    pub fn node(&self, interfaces: Vec<InterfaceConfig>) -> NodeConfig {
        NodeConfig {
            node: self.node.section(),
            interfaces,
            encapsulation: self.encapsulation.clone(),
            source: self.source.clone(),
            watchlist: self.watchlist.clone(),
            sink: self.sink.clone(),
            checksum: self.checksum.clone(),
            report: self.bounded_report(),
            smart: self.smart.clone(),
            drop_reasons: self.drop_reasons.clone(),
            ..NodeConfig::new(0)
        }
    }
}

#[cfg(test)]
mod tests;
