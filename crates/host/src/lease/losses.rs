//! Packets with INT lost between this host and its peers: those sent, less those that sinks report.

use std::collections::HashMap;

use super::flow::Flow;
use super::message::Arrived;

/// The losses of flows with a lease, as a lower bound.
#[derive(Debug, Default)]
pub(crate) struct PathLosses {
    flows: HashMap<Flow, Counted>,
    sent: u64,
    lost: u64,
}

/// The state of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Its last probe.
    asked: Option<Asked>,
    /// Where counting begins, on both sides.
    base: Option<Base>,
    /// The generation whose next count is where counting begins.
    awaited: u32,
    /// The last count of missing packets; some of them may have been overtaken by their probe.
    missing: u64,
    sent: u64,
    lost: u64,
}

/// A probe, and the number of its flow's packets that had left with INT.
#[derive(Clone, Copy, Debug)]
struct Asked {
    nonce: u64,
    /// Before it was sent.
    before: u64,
    /// After it was sent.
    after: u64,
}

#[derive(Clone, Copy, Debug)]
struct Base {
    generation: u32,
    sent: u64,
    arrived: u32,
}

/// Maximum number of flows whose losses are counted.
const MAX_FLOWS: usize = 16_384;

impl PathLosses {
    /// Records a probe of `flow`, and the counts of the flow's packets with INT that left before it and until
    /// after it.
    pub(crate) fn handle_probe(&mut self, flow: Flow, nonce: u64, before: u64, after: u64) {
        if self.flows.len() < MAX_FLOWS || self.flows.contains_key(&flow) {
            self.flows.entry(flow).or_default().asked = Some(Asked { nonce, before, after });
        }
    }

    /// Handles the sink's count of packets before the probe; `sent` have left in total.
    pub(crate) fn handle_count(&mut self, flow: &Flow, nonce: u64, arrived: Arrived, sent: u64) {
        let Some(counted) = self.flows.get_mut(flow) else { return };
        let Some(asked) = counted.asked.take().filter(|asked| asked.nonce == nonce) else { return };
        if arrived.generation == 0 {
            return;
        }
        let base = counted.base.filter(|base| base.generation == arrived.generation);
        let Some((base, left)) = base.and_then(|base| Some((base, asked.before.checked_sub(base.sent)?)))
        else {
            return counted.begin(asked, arrived, sent);
        };
        let came = u64::from(arrived.packets.wrapping_sub(base.arrived));
        let missing = left.saturating_sub(came);
        // Packets overtaken by one probe have arrived before the next.
        let lost = missing.min(counted.missing).max(counted.lost);
        counted.missing = missing;
        self.lost += lost - counted.lost;
        self.sent += left.saturating_sub(counted.sent);
        (counted.lost, counted.sent) = (lost, left.max(counted.sent));
    }

    /// Forgets a flow; its losses stay counted.
    pub(crate) fn forget(&mut self, flow: &Flow) {
        self.flows.remove(flow);
    }

    /// The numbers of a flow's packets counted and lost.
    pub(crate) fn of(&self, flow: &Flow) -> Option<(u64, u64)> {
        self.flows
            .get(flow)
            .filter(|counted| counted.base.is_some())
            .map(|counted| (counted.sent, counted.lost))
    }

    /// The same for all flows, forgotten ones included.
    pub(crate) const fn total(&self) -> (u64, u64) {
        (self.sent, self.lost)
    }
}

impl Counted {
    /// Begins to count at this probe, if its counts on both sides belong together. The sink counts the flow
    /// from the arrival of its first probe: either nothing has left since then, or the next probe is the
    /// start.
    fn begin(&mut self, asked: Asked, arrived: Arrived, sent: u64) {
        (self.base, self.missing, self.sent, self.lost) = (None, 0, 0, 0);
        if sent == asked.before || self.awaited == arrived.generation {
            let Arrived { generation, packets } = arrived;
            self.base = Some(Base { generation, sent: asked.after, arrived: packets });
        }
        self.awaited = arrived.generation;
    }
}

#[cfg(test)]
mod tests {
    use super::PathLosses;
    use crate::lease::{Arrived, Flow};

    fn flow() -> Flow {
        let (source, destination) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        Flow { source, destination, source_port: 1, destination_port: 2, protocol: 17 }
    }

    /// A probe after `left` packets, `came` of which have arrived before it.
    fn renew(losses: &mut PathLosses, nonce: u64, left: u64, came: u32, generation: u32) {
        losses.handle_probe(flow(), nonce, left, left);
        losses.handle_count(&flow(), nonce, Arrived { generation, packets: came }, left + 3);
    }

    fn first(losses: &mut PathLosses) {
        losses.handle_probe(flow(), 1, 0, 0);
        // The sink had counted another flow in the same place before.
        losses.handle_count(&flow(), 1, Arrived { generation: 9, packets: 1_000 }, 0);
    }

    #[test]
    fn what_two_renewals_miss_is_lost() {
        let mut losses = PathLosses::default();
        first(&mut losses);
        renew(&mut losses, 2, 100, 1_090, 9);
        assert_eq!(losses.of(&flow()), Some((100, 0)), "the probe may have overtaken them");
        renew(&mut losses, 3, 200, 1_190, 9);
        assert_eq!(losses.of(&flow()), Some((200, 10)));
        renew(&mut losses, 4, 300, 1_300, 9);
        assert_eq!(losses.total(), (300, 10), "what left behind a probe's count has arrived in front of it");
    }

    #[test]
    fn what_was_overtaken_by_a_probe_is_not_lost() {
        let mut losses = PathLosses::default();
        first(&mut losses);
        for (number, came) in [(2, 1_090), (3, 1_200), (4, 1_290), (5, 1_400)] {
            renew(&mut losses, number, (number - 1) * 100, came, 9);
        }
        assert_eq!(losses.total(), (400, 0));
    }

    #[test]
    fn counting_begins_anew_where_a_sink_does_and_never_counts_what_nobody_lost() {
        let mut losses = PathLosses::default();
        first(&mut losses);
        renew(&mut losses, 2, 100, 1_100, 9);
        // Another agent counts from zero, and missed some packets before it knew the flow.
        renew(&mut losses, 3, 200, 0, 10);
        assert_eq!(losses.of(&flow()), None);
        renew(&mut losses, 4, 300, 80, 10);
        renew(&mut losses, 5, 400, 180, 10);
        renew(&mut losses, 6, 500, 280, 10);
        assert_eq!(losses.total(), (300, 0));
        renew(&mut losses, 7, 10, 290, 10);
        assert_eq!(losses.of(&flow()), Some((0, 0)), "this host's own count has begun anew");
    }

    #[test]
    fn a_count_of_nobody_or_of_another_probe_changes_nothing() {
        let mut losses = PathLosses::default();
        first(&mut losses);
        losses.handle_probe(flow(), 2, 100, 100);
        losses.handle_count(&flow(), 7, Arrived { generation: 9, packets: 0 }, 100);
        renew(&mut losses, 3, 200, 0, 0);
        assert_eq!(losses.total(), (0, 0));
        losses.forget(&flow());
        assert_eq!(losses.of(&flow()), None);
    }
}
