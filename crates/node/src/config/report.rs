//! Destination and format of reports.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU8;

use serde::Deserialize;

use inband_wire::{ipv4, ipv6, udp};

use super::format::{InnerForm, ReportVersion, SourceInserted};
use super::session::{Distribution, FIRST_DYNAMIC_PORT, SessionConfig};

/// `[report]`: destination and format of reports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportConfig {
    /// The collector's address and UDP port; default 127.0.0.1:32766.
    pub collector: SocketAddr,
    /// Source address of the reports, of the collector's IP version; default: see [`ReportConfig::source`].
    pub source_address: Option<IpAddr>,
    /// The report format; default 2.0.
    pub version: ReportVersion,
    /// Identifier of the reporting hardware subsystem (hw_id), 0 to 63; default 0.
    pub hw_id: u8,
    /// Maximum number of reports in a datagram, 1 to 255; default 1.
    pub group: NonZeroU8,
    /// Maximum time a report waits for others, milliseconds; default 100.
    pub group_ms: u64,
    /// How many leading bytes of the original packet a report keeps; its INT comes on top. Default 128.
    pub truncate: u16,
    /// Largest IP packet that reaches the collector, 256 to 65535 bytes; default 65535.
    pub path_mtu: u16,
    /// How the packet is put into a report 2.0; default `packet`.
    pub inner: InnerForm,
    /// Where source-inserted metadata is reported; default `header`.
    pub source_inserted: SourceInserted,
    /// Whether Host-INT's latency reports name their sink in a separate word, as Host-INT does since 0.1.1;
    /// default true.
    pub sink_node_id: bool,
    /// Filter for packet reports; default `none`: every packet is reported.
    pub filter: ReportFilter,
    /// UDP source port of the reports; default 49152.
    pub source_port: u16,
    /// Whether the UDP source port is a hash of the reported flow, so that reports take different paths;
    /// default false. Requires `group = 1`.
    pub port_entropy: bool,
    /// DSCP of the reports' packets, 0 to 63; default 0.
    pub dscp: u8,
    /// Maximum report rate, reports a second, at least one for each core; default 0: unlimited.
    pub reports_per_second: u32,
    /// How reports are distributed among several sessions; default `all`.
    pub distribute: Distribution,
    /// One session per collector; if empty there is a single session, with the keys above.
    #[serde(rename = "session")]
    pub sessions: Vec<SessionConfig>,
}

// host-int-0.5/report-08
impl Default for ReportConfig {
    fn default() -> Self {
        Self {
            collector: SocketAddr::from((Ipv4Addr::LOCALHOST, 32766)),
            source_address: None,
            version: ReportVersion::V2_0,
            hw_id: 0,
            group: NonZeroU8::MIN,
            group_ms: 100,
            truncate: 128,
            path_mtu: u16::MAX,
            inner: InnerForm::Packet,
            source_inserted: SourceInserted::Header,
            sink_node_id: true,
            filter: ReportFilter::None,
            source_port: FIRST_DYNAMIC_PORT,
            port_entropy: false,
            dscp: 0,
            reports_per_second: 0,
            distribute: Distribution::All,
            sessions: Vec::new(),
        }
    }
}

impl ReportConfig {
    /// Largest UDP payload on the path to the collector, bytes.
    #[must_use]
    pub fn max_payload_bytes(&self) -> usize {
        let ip = if self.collector.is_ipv4() { ipv4::HEADER_BYTES } else { ipv6::HEADER_BYTES };
        usize::from(self.path_mtu).saturating_sub(ip + udp::HEADER_BYTES)
    }

    /// Source address of reports written to a file: the configured one, else loopback for a collector on
    /// loopback, else a documentation address (192.0.2.1 or 2001:db8::1).
    #[must_use]
    pub fn source(&self) -> IpAddr {
        let default = match self.collector.ip() {
            IpAddr::V4(collector) if collector.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            IpAddr::V6(collector) if collector.is_loopback() => IpAddr::V6(collector),
            IpAddr::V6(_) => IpAddr::V6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()),
        };
        self.source_address.unwrap_or(default)
    }

    /// One configuration per report session: those of `[[report.session]]`, or this one if there are none.
    #[must_use]
    pub fn sessions(&self) -> Vec<Self> {
        if self.sessions.is_empty() {
            return vec![self.clone()];
        }
        self.sessions.iter().map(|session| self.with(session)).collect()
    }

    /// The UDP source port of a datagram about a flow with this hash.
    // report-2.0/transport-03: a hash of the flow where configured, else the configured port.
    #[must_use]
    pub fn port(&self, flow_hash: u32) -> u16 {
        match self.port_entropy {
            false => self.source_port,
            true => FIRST_DYNAMIC_PORT | u16::try_from(flow_hash & 0x3fff).unwrap_or_default(),
        }
    }

    fn with(&self, session: &SessionConfig) -> Self {
        Self {
            collector: session.collector,
            source_address: session.source_address.or(self.source_address),
            source_port: session.source_port.unwrap_or(self.source_port),
            port_entropy: session.port_entropy.unwrap_or(self.port_entropy),
            dscp: session.dscp.unwrap_or(self.dscp),
            version: session.version.unwrap_or(self.version),
            hw_id: session.hw_id.unwrap_or(self.hw_id),
            group: session.group.unwrap_or(self.group),
            group_ms: session.group_ms.unwrap_or(self.group_ms),
            truncate: session.truncate.unwrap_or(self.truncate),
            path_mtu: session.path_mtu.unwrap_or(self.path_mtu),
            reports_per_second: session.reports_per_second.unwrap_or(self.reports_per_second),
            sessions: Vec::new(),
            ..self.clone()
        }
    }
}

/// Which packets are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportFilter {
    /// All of them.
    #[default]
    None,
    /// Those selected by SD-Fabric's filters and triggers.
    Smart,
}

/// `[smart]`: filters and triggers of `report.filter = "smart"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SmartConfig {
    /// Interval between two reports of an unchanged flow, milliseconds; default 1000.
    pub interval_ms: u64,
    /// Minimum change of hop latency that is reported, nanoseconds; default 256.
    pub min_hop_latency_change_ns: u32,
    /// Minimum change of one-way latency, which is compared if hops have timestamps and no hop latency;
    /// default: `min_hop_latency_change_ns`.
    pub min_one_way_latency_change_ns: Option<u32>,
    /// How a change of latency is determined; default `difference`.
    pub latency_change: LatencyChange,
    /// How many flows are stored exactly, about 100 bytes each; the rest share 3 MiB of digests. Default
    /// 65536.
    pub flows: u32,
    /// How many dropped flows are stored exactly, one entry per flow and drop reason; default 16384.
    pub drops: u32,
    /// Thresholds by queue id, on every interface.
    pub queue: BTreeMap<String, SmartQueue>,
    /// Thresholds of individual interfaces, by interface id; they replace those of every interface.
    pub interface: BTreeMap<String, SmartInterface>,
}

/// `[smart.interface.M]`: thresholds of one egress interface.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SmartInterface {
    /// Thresholds by queue id.
    pub queue: BTreeMap<String, SmartQueue>,
}

impl Default for SmartConfig {
    fn default() -> Self {
        Self {
            interval_ms: 1000,
            min_hop_latency_change_ns: 256,
            min_one_way_latency_change_ns: None,
            latency_change: LatencyChange::Difference,
            flows: 65_536,
            drops: 16_384,
            queue: BTreeMap::new(),
            interface: BTreeMap::new(),
        }
    }
}

/// How a change of latency between two consecutive packets of a flow is determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyChange {
    /// Their difference exceeds the minimum change.
    #[default]
    Difference,
    /// Their multiples of the minimum change differ, the minimum rounded down to a power of two, as in
    /// fabric-tna. As there, queue reports bypass the flow filter.
    Quantum,
}

/// `[smart.queue.N]`: thresholds of one queue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmartQueue {
    /// Hop latency at and above which packets are reported, nanoseconds.
    pub trigger_ns: u32,
    /// Hop latency below which the quota is refilled, nanoseconds; default trigger / 2.
    #[serde(default)]
    pub reset_ns: Option<u32>,
    /// How many packets are reported before the next refill; default 1024.
    #[serde(default = "sd_fabric_quota")]
    pub quota: u32,
}

// sd-fabric-1.0/queue-05
const fn sd_fabric_quota() -> u32 {
    1024
}
