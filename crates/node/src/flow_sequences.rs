//! The numbers of packets in their flows.

use inband_wire::FiveTuple;

/// The sequence numbers of a source, for up to 65,536 flows, as many as Host-INT's own table holds.
///
/// Flows share sets by the hash of their five-tuple; a set that is full gives up the flow that was quiet longest,
/// which starts again at 1 when it comes back.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSequences {
    sets: Vec<[Option<Flow>; WAYS]>,
    packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    flow: FiveTuple,
    number: u32,
    /// Which packet of all was the last of this flow.
    last: u64,
}

const SETS: usize = 8192;
const WAYS: usize = 8;

impl FlowSequences {
    /// The number that [`FlowSequences::next`] would give.
    pub(crate) fn peek(&self, flow: &FiveTuple) -> u32 {
        let set = self.sets.get(Self::index(flow)).into_iter().flatten().flatten();
        set.into_iter().find(|known| known.flow == *flow).map_or(1, |known| known.number.wrapping_add(1))
    }

    /// The number of the next packet of `flow`, from 1 on, and whether another flow was forgotten for it.
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
