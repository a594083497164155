//! Report sessions, and the distribution of reports among them.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU8;

use serde::Deserialize;

use super::format::ReportVersion;

/// How reports are distributed among sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every report goes to all sessions.
    #[default]
    All,
    /// Each report goes to one session, the same for all reports of a flow.
    FlowHash,
}

/// `[[report.session]]`: a collector; omitted keys are as in `[report]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// The collector's address and UDP port.
    pub collector: SocketAddr,
    /// Source address of the reports.
    #[serde(default)]
    pub source_address: Option<IpAddr>,
    /// UDP source port of the reports.
    #[serde(default)]
    pub source_port: Option<u16>,
    /// Whether the UDP source port is a hash of the flow.
    #[serde(default)]
    pub port_entropy: Option<bool>,
    /// DSCP of the reports' packets.
    #[serde(default)]
    pub dscp: Option<u8>,
    /// The report format.
    #[serde(default)]
    pub version: Option<ReportVersion>,
    /// Identifier of the reporting hardware subsystem (hw_id).
    #[serde(default)]
    pub hw_id: Option<u8>,
    /// Maximum number of reports in a datagram.
    #[serde(default)]
    pub group: Option<NonZeroU8>,
    /// Maximum time a report waits for others, milliseconds.
    #[serde(default)]
    pub group_ms: Option<u64>,
    /// How many bytes of the original packet a report keeps; its INT comes on top.
    #[serde(default)]
    pub truncate: Option<u16>,
    /// Largest IP packet that reaches the collector, bytes.
    #[serde(default)]
    pub path_mtu: Option<u16>,
    /// Maximum report rate, reports a second, at least one for each core; 0: unlimited.
    #[serde(default)]
    pub reports_per_second: Option<u32>,
}

/// First port of the dynamic range.
pub(super) const FIRST_DYNAMIC_PORT: u16 = 49_152;
