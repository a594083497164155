//! Which collectors get reports, and what is particular to each of them?

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU8;

use serde::Deserialize;

use super::{ReportConfig, ReportVersion};

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

impl ReportConfig {
    /// One configuration for each report session: those of `[[report.session]]`, or without any this one.
    #[must_use]
    pub fn sessions(&self) -> Vec<Self> {
        if self.sessions.is_empty() {
            return vec![self.clone()];
        }
        self.sessions.iter().map(|session| self.with(session)).collect()
    }

    /// The UDP source port of a datagram about a flow with this hash.
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

/// First port of the dynamic range.
pub(super) const FIRST_DYNAMIC_PORT: u16 = 49_152;
