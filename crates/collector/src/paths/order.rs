//! The order in which a packet passed the nodes that report its flow.

use std::cmp::Reverse;

use super::links::Links;
use super::postcards::Postcard;
use super::topology::Topology;

/// The evidence for the order of hops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// The configured links.
    pub(crate) topology: &'a Topology,
    /// The links learned from paths.
    pub(crate) links: &'a Links,
    /// Whether timestamps of different nodes may be compared.
    pub(crate) synchronous_clocks: bool,
}

/// How the hops are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ordered {
    /// Links connect each hop with the next.
    ByLinks,
    /// The TTL of the reported packet falls from each hop to the next, or timestamps order the hops where it
    /// does not.
    ByPacket,
    /// No evidence orders all of them.
    No,
}

/// Orders the reports of different nodes on one flow, first hop first; returns the evidence used.
///
/// Links decide where they connect all hops, configured ones and those known for certain; else the TTL of the
/// reported packet, which falls along the path; else the nodes' timestamps, where their clocks are
/// synchronous.
pub(crate) fn order(cards: &mut [Postcard], evidence: Evidence<'_>) -> Ordered {
    let came_at = |card: &Postcard| card.came_at.filter(|_| evidence.synchronous_clocks);
    cards.sort_by_key(|card| (Reverse(card.ttl), came_at(card), card.hop.node_id));
    if let Some(chain) = chain(cards, |from, to| evidence.connect(from, to)) {
        let ordered: Vec<Postcard> = chain.into_iter().map(|place| cards[place]).collect();
        cards.copy_from_slice(&ordered);
        return Ordered::ByLinks;
    }
    let is_told = |pair: &[Postcard]| {
        let has_fallen = pair[0].ttl.zip(pair[1].ttl).is_some_and(|(first, second)| first > second);
        has_fallen || came_at(&pair[0]).zip(came_at(&pair[1])).is_some_and(|(first, second)| first < second)
    };
    if cards.windows(2).all(is_told) { Ordered::ByPacket } else { Ordered::No }
}

impl Evidence<'_> {
    /// Whether packets go straight from one hop to the other.
    pub(super) fn connect(&self, from: &Postcard, to: &Postcard) -> bool {
        match self.topology.connects(&from.hop, &to.hop) {
            Some(connects) => connects,
            None => self.links.connect(&from.hop, &to.hop),
        }
    }
}

/// The indices of the cards in the order in which they are connected; `None` when they do not form one chain.
fn chain(cards: &[Postcard], connect: impl Fn(&Postcard, &Postcard) -> bool) -> Option<Vec<usize>> {
    let connects = |from: usize, to: usize| from != to && connect(&cards[from], &cards[to]);
    let places = 0..cards.len();
    let first = places.clone().find(|to| !places.clone().any(|from| connects(from, *to)))?;
    let mut chain = vec![first];
    while chain.len() < cards.len() {
        let last = *chain.last()?;
        let next = places.clone().find(|to| connects(last, *to) && !chain.contains(to))?;
        chain.push(next);
    }
    Some(chain)
}

#[cfg(test)]
mod tests;
