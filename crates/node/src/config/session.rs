//! A report session, and how reports are distributed among them.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU8;

use serde::Deserialize;

use super::format::ReportVersion;

/// Which sessions a report goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every one.
    #[default]
    All,
    /// One, the same for all reports of a flow.
    FlowHash,
}

/// `[[report.session]]`: a collector; what is not given is as in `[report]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// The collector's address and UDP port.
    pub collector: SocketAddr,
    /// Address the reports come from.
    #[serde(default)]
    pub source_address: Option<IpAddr>,
    /// UDP port they come from.
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
    /// Which part of the hardware reports.
    #[serde(default)]
    pub hw_id: Option<u8>,
    /// How many reports share a datagram.
    #[serde(default)]
    pub group: Option<NonZeroU8>,
    /// How long a report waits for others at most, milliseconds.
    #[serde(default)]
    pub group_ms: Option<u64>,
    /// How many bytes of the original packet a report keeps; its INT comes on top.
    #[serde(default)]
    pub truncate: Option<u16>,
    /// Largest IP packet that reaches the collector, bytes.
    #[serde(default)]
    pub path_mtu: Option<u16>,
    /// How many reports a second go out at most; 0: all.
    #[serde(default)]
    pub reports_per_second: Option<u32>,
}

/// First port of the dynamic range.
pub(super) const FIRST_DYNAMIC_PORT: u16 = 49_152;
