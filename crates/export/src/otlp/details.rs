//! The latest hops of each flow, for the details of traces.

use std::collections::HashMap;

use inband_model::{Flow, HopRecord, NodeId};

/// The latest hop per flow and node, for as long as paths are assembled from single reports. Two generations:
/// the older one is dropped.
#[derive(Debug, Default)]
pub(super) struct Details {
    young: HashMap<(Flow, NodeId), HopRecord>,
    old: HashMap<(Flow, NodeId), HopRecord>,
    /// Time of the first hop of the young generation, nanoseconds.
    since: u64,
}

impl Details {
    pub(super) fn add(&mut self, hops: impl Iterator<Item = HopRecord>) {
        for hop in hops {
            let at = hop.received_at.0;
            if self.young.len() >= MOST || at.abs_diff(self.since) >= GENERATION_NS {
                self.old = std::mem::take(&mut self.young);
                self.since = at;
            }
            if let Some(flow) = hop.flow.filter(|_| hop.hop_count > 0) {
                self.young.insert((flow, hop.node_id), hop);
            }
        }
    }

    /// The latest hop of the flow at this node.
    pub(super) fn of(&self, flow: &Flow, node: NodeId) -> Option<HopRecord> {
        let key = (*flow, node);
        self.young.get(&key).or_else(|| self.old.get(&key)).copied()
    }
}

/// Maximum hops per generation.
const MOST: usize = 65_536;
/// 2.5 times 2^30 ns: as long as a smart node's report of a flow is valid.
const GENERATION_NS: u64 = 2_684_354_560;

#[cfg(test)]
mod tests {
    use inband_model::{Flow, HopRecord, Nanos, NodeId};

    use super::{Details, GENERATION_NS, MOST};

    #[test]
    fn the_latest_word_of_a_node_holds_for_a_generation_and_is_then_forgotten() {
        let mut details = Details::default();
        let hop = |at, queue| HopRecord {
            received_at: Nanos(at),
            flow: Some(Flow::default()),
            node_id: NodeId(7),
            hop_count: 1,
            queue_id: Some(queue),
            ..HopRecord::default()
        };
        let start = 1_000_000_000_000;
        details.add([hop(start, 1), hop(start + 1, 2)].into_iter());
        let queue = |details: &Details| details.of(&Flow::default(), NodeId(7)).and_then(|hop| hop.queue_id);
        assert_eq!(queue(&details), Some(2));
        let other = |at| HopRecord { node_id: NodeId(8), ..hop(at, 9) };
        details.add([other(start + GENERATION_NS)].into_iter());
        assert_eq!(queue(&details), Some(2));
        details.add([other(start + 2 * GENERATION_NS)].into_iter());
        assert_eq!(queue(&details), None);
    }

    #[test]
    fn it_is_bounded() {
        let mut details = Details::default();
        let hop = |node| HopRecord {
            flow: Some(Flow::default()),
            node_id: NodeId(node),
            hop_count: 1,
            ..HopRecord::default()
        };
        let most = u32::try_from(MOST).unwrap();
        details.add((0..3 * most).map(hop));
        assert!(details.young.len() <= MOST && details.old.len() <= MOST);
        assert!(details.of(&Flow::default(), NodeId(3 * most - 1)).is_some());
        assert!(details.of(&Flow::default(), NodeId(0)).is_none());
    }
}
