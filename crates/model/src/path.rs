//! Paths: the hops of a packet.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Hop, NodeId};

/// The hops of a packet, first hop first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Path(Box<[Hop]>);

/// The 64-bit id of a path: a hash of its hops, the same on every machine and in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PathId(pub u64);

impl Path {
    /// Creates a path from hops, first hop first.
    #[must_use]
    pub fn new(hops: &[Hop]) -> Path {
        Path(hops.into())
    }

    /// The hops, first hop first.
    #[must_use]
    pub fn hops(&self) -> &[Hop] {
        &self.0
    }

    /// The nodes of the hops, first hop first.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeId> {
        self.0.iter().map(|hop| hop.node_id).collect()
    }

    /// The path's id.
    #[must_use]
    pub fn id(&self) -> PathId {
        PathId::of(&self.0)
    }
}

impl PathId {
    /// The id of the path with these hops, first hop first.
    ///
    /// Two paths may share an id: it names a path for people and for grouping, and does not prove equality.
    #[must_use]
    pub fn of(hops: &[Hop]) -> PathId {
        let hash = hops.iter().fold(hops.len() as u64, |hash, hop| mix(hash ^ hop_word(hop)));
        PathId(mix(hash))
    }
}

/// Packs a hop into one word; an unknown interface is all ones, as on the wire.
fn hop_word(hop: &Hop) -> u64 {
    let interface = |id: Option<u16>| u64::from(id.unwrap_or(u16::MAX));
    u64::from(hop.node_id.0) << 32 | interface(hop.ingress_interface) << 16 | interface(hop.egress_interface)
}

/// Spreads every bit over the whole word: the finaliser of SplitMix64.
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl fmt::Display for Path {
    /// Writes the hops with arrows between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, hop) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" > ")?;
            }
            hop.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests;
