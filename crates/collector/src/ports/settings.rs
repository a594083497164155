//! Bounds of the statistics by node and interface.

use serde::{Deserialize, Serialize};

/// Bounds of the statistics by node and interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSettings {
    /// Egress interfaces, of all nodes, that are followed. Default 16,384: about 80 MB.
    pub max_ports: usize,
    /// Queues, of all interfaces, that are followed. Default 65,536: about 20 MB.
    pub max_queues: usize,
}

impl Default for PortSettings {
    fn default() -> PortSettings {
        PortSettings { max_ports: 16_384, max_queues: 65_536 }
    }
}
