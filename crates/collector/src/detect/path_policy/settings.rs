//! Settings of path rules.

use serde::{Deserialize, Serialize};

use super::prefix::Prefix;

/// A rule about the paths of some flows: `[[events.path_policy]]`, at most 64 of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathRule {
    /// Its name in events.
    pub name: String,
    /// Prefix of the source address; default: any.
    pub source: Option<Prefix>,
    /// Prefix of the destination address; default: any.
    pub destination: Option<Prefix>,
    /// IP protocol number; default: any.
    pub protocol: Option<u8>,
    /// Destination port; default: any.
    pub destination_port: Option<u16>,
    /// Nodes that each path must pass.
    pub require_nodes: Vec<u32>,
    /// Nodes that no path may pass.
    pub forbid_nodes: Vec<u32>,
    /// Links that each path must take, from the first node to the second.
    pub require_links: Vec<[u32; 2]>,
    /// Links that no path may take.
    pub forbid_links: Vec<[u32; 2]>,
    /// Maximum number of hops; default: any number.
    pub max_hops: Option<u8>,
    /// Whether the reverse flow must pass the same nodes. Default false.
    pub symmetric: bool,
}
