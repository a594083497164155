//! The latest report of each node on one flow.

use inband_model::{Hop, Nanos, NodeId, Origin, ReportReference};

use crate::ledger::Arrival;
use crate::report::{HopReading, PacketIdentity};

use super::mark::{Mark, Order};

/// The latest report of each node on one flow, at most [`MAX_POSTCARDS`].
#[derive(Debug, Default)]
pub(crate) struct Postcards {
    cards: Vec<Postcard>,
    last: Option<(ReportReference, Origin)>,
    /// Number of reports of the busiest node; the others are counted as if they reported as often.
    round: u64,
}

/// The latest report of one node on one flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Postcard {
    pub(crate) hop: Hop,
    pub(crate) latency: Option<Nanos>,
    /// TTL of the reported packet.
    pub(crate) ttl: Option<u8>,
    /// Which packet it was.
    pub(crate) identity: Option<PacketIdentity>,
    /// When the packet arrived and when it left, by the node's clock.
    pub(crate) came_at: Option<u64>,
    pub(crate) left_at: Option<u64>,
    pub(crate) received_at: Nanos,
    /// When the node was first seen with these interfaces and this TTL.
    pub(crate) since: Nanos,
    /// When the path was found to have left the node.
    pub(crate) gone_at: Option<Nanos>,
    /// The TTL when a path with this node on it was last concluded.
    pub(crate) settled_ttl: Option<u8>,
    /// Interfaces and TTL before `since`.
    before: Option<(Hop, Option<u8>)>,
    mark: Mark,
    round: u64,
    /// When the busiest other node had reported so often without this one that it may be silent.
    behind_since: Option<Nanos>,
    /// The index on the path that was last concluded with this node on it; 0 is the first.
    place: Option<u8>,
    /// Whether the node's clock has run correctly since its last error.
    trusts_clock: bool,
}

/// A report of one node on a flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighted<'a> {
    pub(crate) now: Nanos,
    pub(crate) reading: &'a HopReading,
    pub(crate) ttl: Option<u8>,
    pub(crate) identity: Option<PacketIdentity>,
    pub(crate) mark: Mark,
    pub(crate) arrival: Arrival,
}

/// The effect of a node's report on the set of hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// None.
    Same,
    /// It adds a node.
    Joined,
    /// A known node reports other interfaces, or sees another TTL.
    Moved,
    /// None, as it is older than the known report of the node.
    Late,
    /// None, as there is no room for another node.
    NoRoom,
}

impl Postcards {
    /// Records a node's report on a packet, which may be `settle` late; returns its effect on the set of
    /// hops.
    pub(crate) fn put(&mut self, sighted: &Sighted<'_>, settle: Nanos) -> Put {
        let node_id = sighted.reading.hop.node_id;
        let Some(card) = self.cards.iter_mut().find(|card| card.hop.node_id == node_id) else {
            return self.add(sighted);
        };
        let put = card.update(sighted, settle);
        if put != Put::Late {
            self.round = self.round.max(card.round + 1);
            card.round = self.round;
            card.behind_since = None;
        }
        put
    }

    fn add(&mut self, sighted: &Sighted<'_>) -> Put {
        if self.cards.len() >= MAX_POSTCARDS {
            let Some(gone) = self.cards.iter().position(|card| card.gone_at.is_some()) else {
                return Put::NoRoom;
            };
            self.cards.swap_remove(gone);
        }
        self.cards.push(Postcard::new(sighted, self.round));
        Put::Joined
    }

    /// The latest report of a node.
    pub(crate) fn of(&self, node_id: NodeId) -> Option<&Postcard> {
        self.cards.iter().find(|card| card.hop.node_id == node_id)
    }

    /// Removes the nodes that were silent for longer than `keep` and `settle`, the maximum delay of a report,
    /// while others reported [`MAX_MISSED`] times, at least `settle` ago; returns when the last of the
    /// removed nodes reported.
    ///
    /// The nodes at the end of a path are removed together: one stays until the node before it has reported
    /// for `keep` without it, or is silent too.
    #[inline]
    pub(crate) fn expire(&mut self, now: Nanos, keep: Nanos, settle: Nanos) -> Option<Nanos> {
        let round = self.round;
        let mut is_any_behind = false;
        for card in &mut self.cards {
            if card.gone_at.is_none() && round - card.round >= MAX_MISSED && card.behind_since.is_none() {
                card.behind_since = Some(now);
            }
            is_any_behind |= card.behind_since.is_some();
        }
        if is_any_behind { self.remove_silent(now, keep, settle) } else { None }
    }

    fn remove_silent(&mut self, now: Nanos, keep: Nanos, settle: Nanos) -> Option<Nanos> {
        let round = self.round;
        let is_heard = |card: &Postcard| card.gone_at.is_none() && round - card.round < MAX_MISSED;
        let last_heard = self.cards.iter().filter(|card| is_heard(card)).filter_map(|card| card.place).max();
        let may_be_silent = |card: &Postcard| {
            let is_passed = card.place < last_heard;
            card.gone_at.is_none()
                && card.behind_since.is_some_and(|since| now.since(since) >= settle)
                && now.since(card.received_at) > keep + settle
                && round - card.round >= if is_passed { MAX_MISSED_BETWEEN } else { MAX_MISSED }
        };
        let is_left =
            |card: &&Postcard| card.gone_at.is_none() && card.place.is_some() && !may_be_silent(card);
        let end = self.cards.iter().filter(is_left).max_by_key(|card| card.place);
        let end = end.map(|card| (card.place, card.received_at));
        let is_silent = |card: &Postcard| {
            may_be_silent(card)
                && end.is_none_or(|(place, heard_at)| {
                    card.place < place || heard_at.since(card.received_at) >= keep
                })
        };
        let silent_since =
            self.cards.iter().filter(|card| is_silent(card)).map(|card| card.received_at).max()?;
        self.cards.retain(|card| !is_silent(card));
        Some(silent_since)
    }

    /// Removes all reports, when better evidence shows the path.
    pub(crate) fn clear(&mut self) {
        self.cards.clear();
    }

    /// Records which report was the latest.
    pub(crate) fn set_last(&mut self, report: ReportReference, origin: Origin) {
        self.last = Some((report, origin));
    }

    /// The latest report, and its mode.
    pub(crate) fn last(&self) -> Option<(ReportReference, Origin)> {
        self.last
    }

    /// The nodes that the path has not left.
    pub(crate) fn cards(&self) -> impl Iterator<Item = &Postcard> {
        self.cards.iter().filter(|card| card.gone_at.is_none())
    }

    /// Records which nodes are on the path; it has left the others at `since`, unless they had left before.
    pub(crate) fn settle(&mut self, path: &[Postcard], since: Nanos) {
        for card in &mut self.cards {
            let place = path.iter().position(|on_path| on_path.hop.node_id == card.hop.node_id);
            if let Some(place) = place {
                card.settled_ttl = card.ttl;
                card.place = u8::try_from(place).ok();
            } else if card.gone_at.is_none() {
                card.gone_at = Some(since);
                card.settled_ttl = None;
            }
        }
    }
}

impl Postcard {
    fn new(sighted: &Sighted<'_>, round: u64) -> Self {
        let Sighted { now, reading, ttl, identity, mark, arrival: _ } = *sighted;
        Self {
            hop: reading.hop,
            latency: reading.latency,
            ttl,
            identity,
            came_at: reading.came_at(),
            left_at: reading.left_at(),
            received_at: now,
            since: now,
            gone_at: None,
            settled_ttl: None,
            before: None,
            mark,
            round,
            behind_since: None,
            place: None,
            trusts_clock: false,
        }
    }

    /// The report of a node on a packet at a time.
    #[cfg(test)]
    pub(crate) fn at(now: Nanos, hop: Hop, ttl: Option<u8>) -> Self {
        let reading = HopReading { hop, ..HopReading::EMPTY };
        let report = ReportReference { node_id: hop.node_id, hw_id: 0, sequence: 0, received_at: now };
        let mark = Mark::new(report, 0, &[reading]);
        let arrival = Arrival::InOrder;
        Self::new(&Sighted { now, reading: &reading, ttl, identity: None, mark, arrival }, 0)
    }

    fn update(&mut self, sighted: &Sighted<'_>, settle: Nanos) -> Put {
        let Sighted { now, reading, ttl, identity, mark, arrival } = *sighted;
        let order = self.mark.order(&mark, arrival, settle);
        let is_too_late = order == Order::TooLate && std::mem::take(&mut self.trusts_clock);
        if order == Order::Older || is_too_late {
            return Put::Late;
        }
        let is_newer = order == Order::Newer;
        self.trusts_clock |= is_newer;
        if let Some(gone_at) = self.gone_at {
            if !is_newer && now.since(gone_at) <= settle {
                return Put::Late;
            }
            *self = Self::new(sighted, self.round);
            return Put::Joined;
        }
        // A report without interfaces does not mean that they have changed.
        let hop = Hop {
            ingress_interface: reading.hop.ingress_interface.or(self.hop.ingress_interface),
            egress_interface: reading.hop.egress_interface.or(self.hop.egress_interface),
            ..reading.hop
        };
        let ttl = ttl.or(self.ttl);
        let has_changed = (hop, ttl) != (self.hop, self.ttl);
        if has_changed {
            if !is_newer && self.before == Some((hop, ttl)) && now.since(self.since) <= settle {
                return Put::Late;
            }
            self.before = Some((self.hop, self.ttl));
            self.since = now;
        }
        self.hop = hop;
        self.latency = reading.latency.or(self.latency);
        self.ttl = ttl;
        self.identity = identity;
        self.came_at = reading.came_at().or(self.came_at);
        self.left_at = reading.left_at();
        self.received_at = now;
        self.mark = mark;
        if has_changed { Put::Moved } else { Put::Same }
    }

    /// The latest report of the node.
    pub(crate) fn report(&self) -> ReportReference {
        self.mark.report()
    }

    /// Whether the node was first seen in this state, or on the flow at all, no earlier than `since`.
    pub(crate) fn is_new_since(&self, since: Nanos) -> bool {
        self.since >= since
    }

    /// Whether the node has reported no earlier than `since`.
    pub(crate) fn is_heard_since(&self, since: Nanos) -> bool {
        self.received_at >= since
    }
}

/// Maximum number of nodes through which one flow is followed.
pub(crate) const MAX_POSTCARDS: usize = 16;
/// Number of reports of the busiest other node, without one of its own, after which a node may be silent.
const MAX_MISSED: u64 = 5;
/// The same for a node between others that report as before: packets more likely pass it unreported than
/// bypass it.
const MAX_MISSED_BETWEEN: u64 = 8;
