//! Settings of the statistics by node and interface.

use serde::{Deserialize, Serialize};

/// Bounds of the statistics by node and interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSettings {
    /// Followed egress interfaces of all nodes. Default 16,384: about 80 MB.
    pub max_ports: usize,
    /// Followed queues of all interfaces. Default 65,536: about 20 MB.
    pub max_queues: usize,
}

impl Default for PortSettings {
    fn default() -> PortSettings {
        PortSettings { max_ports: 16_384, max_queues: 65_536 }
    }
}
