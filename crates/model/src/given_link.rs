//! A configured link between two nodes.

use serde::{Deserialize, Serialize};

/// A configured link: `[[paths.link]]`. It counts in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenLink {
    /// The node at one end.
    pub node: u32,
    /// Its interface of level 1.
    pub interface: u16,
    /// The node at the other end.
    pub to: u32,
    /// Its interface of level 1; default: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_interface: Option<u16>,
}
