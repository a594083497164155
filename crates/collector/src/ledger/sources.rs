//! The streams of each source address, and those refused to it.

use std::net::IpAddr;

use hashbrown::HashMap;
use inband_model::{NodeId, RefusedSource};

/// The streams of each source address.
///
/// Node ids come from the network, so a sender may forge any number of them; it fills only its own share of
/// the table.
#[derive(Debug)]
pub(super) struct Sources {
    max_streams: usize,
    streams: HashMap<IpAddr, usize>,
    /// At most [`MAX_REFUSED`] entries.
    refused: HashMap<IpAddr, RefusedSource>,
    refused_datagrams: u64,
}

impl Sources {
    pub(super) fn new(max_streams: usize) -> Self {
        Self { max_streams, streams: HashMap::new(), refused: HashMap::new(), refused_datagrams: 0 }
    }

    /// Number of streams of a source address.
    pub(super) fn streams_of(&self, address: IpAddr) -> usize {
        self.streams.get(&address).copied().unwrap_or(0)
    }

    /// Whether a source address may have another stream; if not, counts the datagram as refused.
    pub(super) fn admits(&mut self, address: IpAddr, node_id: NodeId) -> bool {
        if self.streams_of(address) < self.max_streams {
            return true;
        }
        self.refused_datagrams += 1;
        let has_room = self.refused.len() < MAX_REFUSED;
        match self.refused.get_mut(&address) {
            Some(refused) => {
                refused.datagrams += 1;
                refused.node_id = node_id;
            }
            None if has_room => {
                self.refused.insert(address, RefusedSource { address, node_id, datagrams: 1 });
            }
            None => {}
        }
        false
    }

    /// Counts one more stream of a source address.
    pub(super) fn add(&mut self, address: IpAddr) {
        *self.streams.entry(address).or_default() += 1;
    }

    /// Counts one stream less of a source address.
    pub(super) fn remove(&mut self, address: IpAddr) {
        if let Some(count) = self.streams.get_mut(&address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.streams.remove(&address);
            }
        }
    }

    /// Datagrams of streams that were refused to their source address.
    pub(super) fn refused_datagrams(&self) -> u64 {
        self.refused_datagrams
    }

    /// The source addresses to which streams were refused, most datagrams first.
    pub(super) fn refused(&self) -> Vec<RefusedSource> {
        let mut refused: Vec<RefusedSource> = self.refused.values().cloned().collect();
        refused.sort_by_key(|refused| (std::cmp::Reverse(refused.datagrams), refused.address));
        refused
    }
}

/// Maximum number of source addresses listed.
const MAX_REFUSED: usize = 256;
