//! Settings of the culprits of queue congestion.

use serde::{Deserialize, Serialize};

/// Which flows are listed as culprits when a queue was congested: `[events.culprits]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CulpritSettings {
    /// Least share of a culprit, thousandths. Default 100.
    pub least_permille: u64,
    /// Culprits are listed until their shares add up to this, thousandths. Default 800.
    pub list_permille: u64,
    /// Number of sources to one destination from which a congestion counts as an incast. Default 8.
    pub incast_sources: usize,
    /// Share that no flow of an incast exceeds, thousandths. Default 250.
    pub incast_permille: u64,
    /// Share from which a flow is an elephant, thousandths. Default 500.
    pub elephant_permille: u64,
    /// Share below which a delayed flow is a victim, thousandths. Default 10.
    pub victim_permille: u64,
    /// Rate of the links, bits a second, to compute how much of the traffic the reports cover. Default: none.
    pub link_bits_per_second: Option<u64>,
    /// Queues congested at the same time whose packets are kept, 512 each. Default 512: about 17 MB.
    pub max_queues: usize,
}

impl Default for CulpritSettings {
    fn default() -> CulpritSettings {
        CulpritSettings {
            least_permille: 100,
            list_permille: 800,
            incast_sources: 8,
            incast_permille: 250,
            elephant_permille: 500,
            victim_permille: 10,
            link_bits_per_second: None,
            max_queues: 512,
        }
    }
}
