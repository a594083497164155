//! The path concluded from the reports of several nodes on a flow.

use inband_model::{Hop, Nanos};

use super::order::{Evidence, Ordered, order};
use super::postcards::Postcard;

/// The path concluded from the nodes' reports.
#[derive(Debug)]
pub(crate) struct Conclusion {
    /// The hops, first hop first.
    pub(crate) cards: Vec<Postcard>,
    pub(crate) ordered: Ordered,
    /// Whether a missing report may change it: another hop must exist, links contradict it, the order is
    /// unknown, or a hop that has not reported since may have been replaced.
    pub(crate) is_doubtful: bool,
}

/// A flow whose path is to be concluded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    /// The previous path; empty where none is known.
    pub(crate) known: &'a [Hop],
    /// When the nodes' reports began to differ from it.
    pub(crate) since: Nanos,
    /// By how much reports may be late.
    pub(crate) settle: Nanos,
    /// Whether the time to wait for more reports is over.
    pub(crate) is_over: bool,
}

impl Conclusion {
    /// The path over all of these nodes.
    pub(crate) fn of_all(mut cards: Vec<Postcard>, evidence: Evidence<'_>) -> Self {
        let ordered = order(&mut cards, evidence);
        Self { cards, ordered, is_doubtful: false }
    }
}

/// Concludes the path of a flow from the latest reports of the nodes on it.
pub(crate) fn conclude(mut cards: Vec<Postcard>, change: Change<'_>, evidence: Evidence<'_>) -> Conclusion {
    if change.is_over && !change.known.is_empty() {
        // Nodes silent since the change have left the path, unless nothing has changed around them.
        cards.retain(|card| card.is_heard_since(change.since));
    }
    if !evidence.topology.is_empty() {
        change.keep_chain(&mut cards, evidence);
    }
    change.drop_replaced(&mut cards);
    let ordered = order(&mut cards, evidence);
    let is_doubtful =
        ordered == Ordered::No || change.contradicts(&cards, evidence) || !change.is_confirmed(&cards);
    Conclusion { cards, ordered, is_doubtful }
}

impl Change<'_> {
    /// Removes the nodes outside the longest chain of given links, unless they have reported since the change
    /// in a way that shows that packets still reach them.
    fn keep_chain(self, cards: &mut Vec<Postcard>, evidence: Evidence<'_>) {
        let mut longest: Vec<usize> = Vec::new();
        for head in 0..cards.len() {
            let mut chain = vec![head];
            while let Some(last) = chain.last()
                && let Some(next) =
                    (0..cards.len()).find(|to| *to != *last && evidence.connect(&cards[*last], &cards[*to]))
                && !chain.contains(&next)
            {
                chain.push(next);
            }
            let is_newer = |chain: &[usize]| chain.iter().map(|place| cards[*place].since).max();
            if (chain.len(), is_newer(&chain)) > (longest.len(), is_newer(&longest)) {
                longest = chain;
            }
        }
        let is_beside = |place: usize| !longest.contains(&place);
        let is_left = |card: &Postcard| !card.is_new_since(self.since) && !self.is_alive(card, self.since);
        let all_left = (0..cards.len()).filter(|place| is_beside(*place)).all(|place| is_left(&cards[place]));
        if all_left && longest.len() > 1 {
            let mut place = 0;
            cards.retain(|_| {
                place += 1;
                !is_beside(place - 1)
            });
        }
    }

    /// Removes the nodes replaced by another one, which sees packets with the same TTL since the change,
    /// while the replaced node does not.
    fn drop_replaced(self, cards: &mut Vec<Postcard>) {
        let all = cards.clone();
        if self.known.is_empty() && all.iter().all(|card| card.ttl == all[0].ttl) {
            // Bridges leave the TTL unchanged.
            return;
        }
        cards.retain(|card| {
            let level = || all.iter().filter(|other| other.ttl == card.ttl);
            let Some(newest) = level().max_by_key(|other| other.since) else { return true };
            // Several nodes that saw the same TTL before are bridges, none of which replaces another.
            let is_alone = level().filter(|other| other.settled_ttl == card.ttl).count() <= 1;
            let has_come = newest.since > card.since && !self.is_alive(card, newest.since);
            let is_change = match self.known.is_empty() {
                false => newest.is_new_since(self.since) && !card.is_new_since(self.since),
                // A detour before the path has settled; nodes that join one after another are no detour.
                true => newest.since.since(card.since) > self.settle && newest.since > card.received_at,
            };
            card.ttl.is_none() || !(is_alone && has_come && is_change)
        });
    }

    /// Whether a node's report is late enough that its packet was sent after the change.
    fn is_alive(self, card: &Postcard, since: Nanos) -> bool {
        card.is_heard_since(since + self.settle + Nanos(1))
    }

    /// Whether packets took the same route between the two hops before.
    fn was_there(self, from: &Postcard, to: &Postcard) -> bool {
        let fall = |from: Option<u8>, to: Option<u8>| from.zip(to).map(|(from, to)| from.wrapping_sub(to));
        let is_it = |pair: &[Hop]| {
            let (known, knew) = (&pair[0], &pair[1]);
            (known.node_id, known.egress_interface) == (from.hop.node_id, from.hop.egress_interface)
                && (knew.node_id, knew.ingress_interface) == (to.hop.node_id, to.hop.ingress_interface)
        };
        fall(from.settled_ttl, to.settled_ttl) == fall(from.ttl, to.ttl) && self.known.windows(2).any(is_it)
    }

    /// Whether the node has reported a packet sent after the change.
    fn is_told(self, card: &Postcard) -> bool {
        card.is_new_since(self.since) || self.is_alive(card, self.since)
    }

    /// Whether a hop must be missing, or a link leads elsewhere.
    fn contradicts(self, cards: &[Postcard], evidence: Evidence<'_>) -> bool {
        let (Some(first), Some(last)) = (cards.first(), cards.last()) else { return true };
        let is_broken = |pair: &[Postcard]| {
            let (from, to) = (&pair[0], &pair[1]);
            if evidence.connect(from, to) {
                return false;
            }
            if evidence.topology.connects(&from.hop, &to.hop) == Some(false) {
                return true;
            }
            let has_gap = from.ttl.zip(to.ttl).is_some_and(|(from, to)| from.saturating_sub(to) > 1);
            if self.was_there(from, to) {
                return false;
            }
            let is_told = self.is_told(from) && self.is_told(to);
            has_gap || !is_told && evidence.links.contradict(&from.hop, &to.hop)
        };
        let begins_elsewhere = evidence.begin_before(&first.hop);
        let ends_elsewhere = evidence.go_on_behind(&last.hop);
        let had_begun = self.known.first().is_some_and(|hop| *hop == first.hop);
        let had_ended = self.known.last().is_some_and(|hop| *hop == last.hop);
        cards.windows(2).any(is_broken) || (begins_elsewhere && !had_begun) || (ends_elsewhere && !had_ended)
    }

    /// Whether both ends of every link that was not on the previous path have reported since the change, so
    /// late that most reports from before it have arrived.
    fn is_confirmed(self, cards: &[Postcard]) -> bool {
        self.known.is_empty()
            || cards.windows(2).all(|pair| {
                self.was_there(&pair[0], &pair[1])
                    || pair.iter().all(|card| {
                        card.is_new_since(self.since)
                            || card.is_heard_since(self.since + Nanos(self.settle.0 / 2))
                    })
            })
    }
}

impl Evidence<'_> {
    /// Whether there is a node before a hop, by a given link or one known for certain.
    fn begin_before(&self, hop: &Hop) -> bool {
        self.topology.peer(hop.node_id, hop.ingress_interface).is_some() || self.links.come_from(hop)
    }

    /// Whether there is a node after a hop, by a given link or one known for certain.
    fn go_on_behind(&self, hop: &Hop) -> bool {
        self.topology.peer(hop.node_id, hop.egress_interface).is_some() || self.links.go_on(hop)
    }
}
