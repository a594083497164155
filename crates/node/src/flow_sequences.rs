//! Flow sequence numbers of a source.

use inband_wire::FiveTuple;

/// The flow sequence numbers of a source, for up to 65,536 flows, as many as Host-INT's own table holds.
///
/// Flows share sets by the hash of their five-tuple; a full set evicts its least recently active flow, which
/// restarts at 1 when it returns.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSequences {
    sets: Vec<[Option<Flow>; WAYS]>,
    packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    flow: FiveTuple,
    number: u32,
    /// The index, among all packets, of this flow's latest packet.
    last: u64,
}

const SETS: usize = 8192;
const WAYS: usize = 8;

impl FlowSequences {
    /// The number that [`FlowSequences::next`] would return.
    pub(crate) fn peek(&self, flow: &FiveTuple) -> u32 {
        let set = self.sets.get(Self::index(flow)).into_iter().flatten().flatten();
        set.into_iter().find(|known| known.flow == *flow).map_or(1, |known| known.number.wrapping_add(1))
    }

    /// The number of the next packet of `flow`, starting at 1, and whether another flow was evicted for it.
    // host-int-0.5/packet-06
    pub(crate) fn next(&mut self, flow: &FiveTuple) -> (u32, bool) {
        if self.sets.is_empty() {
            self.sets = vec![[None; WAYS]; SETS];
        }
        self.packets += 1;
        let last = self.packets;
        let Some(set) = self.sets.get_mut(Self::index(flow)) else { return (1, false) };
        if let Some(known) = set.iter_mut().flatten().find(|known| known.flow == *flow) {
            known.number = known.number.wrapping_add(1);
            known.last = last;
            return (known.number, false);
        }
        let Some(slot) = set.iter_mut().min_by_key(|slot| slot.map_or(0, |known| known.last)) else {
            return (1, false);
        };
        let is_forgotten = slot.is_some();
        *slot = Some(Flow { flow: *flow, number: 1, last });
        (1, is_forgotten)
    }

    fn index(flow: &FiveTuple) -> usize {
        usize::try_from(flow.entropy()).unwrap_or_default() % SETS
    }
}

#[cfg(test)]
mod tests;
