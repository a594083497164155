//! Bounds of the statistics by node and interface.

use inband_model::Units;
use serde::{Deserialize, Serialize};

use crate::detect::culprits::CulpritSettings;
use crate::detect::microburst::MicroburstSettings;
use crate::detect::queue_congestion::CongestionSettings;

/// Bounds of the statistics by node and interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSettings {
    /// Egress interfaces, of all nodes, that are followed. Default 16,384: about 80 MB.
    pub max_ports: usize,
    /// Queues, of all interfaces, that are followed. Default 65,536: about 20 MB.
    pub max_queues: usize,
}

/// What is announced of interfaces and queues.
#[derive(Debug, Clone, Default)]
pub(crate) struct PortEventSettings {
    pub(crate) queue_congestion: CongestionSettings,
    pub(crate) microburst: MicroburstSettings,
    pub(crate) culprits: CulpritSettings,
    /// The units of nodes' metadata.
    pub(crate) units: Units,
}

impl Default for PortSettings {
    fn default() -> PortSettings {
        PortSettings { max_ports: 16_384, max_queues: 65_536 }
    }
}
