//! Loss detection of a sink, from the sequence numbers of flows.

use serde::Deserialize;

/// `[loss]`: loss detection from sequence numbers of flows, in Host-INT and in domain-specific metadata.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// Whether loss detection is on; default false.
    pub detect: bool,
    /// How long a number may be missing before it counts as lost, milliseconds; default 200.
    pub hold_ms: u64,
    /// Idle time after which a flow is evicted, milliseconds; default 120000.
    pub idle_ms: u64,
    /// Maximum number of tracked flows, 1 to 16777216; default 65536.
    pub flows: u32,
    /// Domain Specific ID of loss reports 2.0, not 0; default 0x4849.
    pub domain: u16,
}

impl Default for LossConfig {
    fn default() -> Self {
        Self { detect: false, hold_ms: 200, idle_ms: 120_000, flows: 65_536, domain: 0x4849 }
    }
}
