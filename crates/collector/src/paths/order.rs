//! In which order did a packet pass the nodes that reported it?

use std::cmp::Reverse;

use super::links::Links;
use super::postcards::Postcard;

/// Orders the reports of different nodes on one flow, first hop first.
///
/// Links that are known for certain decide, when they connect all hops; else the TTL of the reported
/// packet, which falls on the way; else the nodes' timestamps, when their clocks are synchronous; else the
/// order of arrival.
pub(crate) fn order(cards: &mut [Postcard], links: &Links, synchronous_clocks: bool) {
    cards.sort_by_key(|card| {
        let timestamp = card.came_at.filter(|_| synchronous_clocks);
        (Reverse(card.ttl), timestamp, card.received_at)
    });
    if let Some(chain) = chain(cards, links) {
        let ordered: Vec<Postcard> = chain.into_iter().map(|place| cards[place]).collect();
        cards.copy_from_slice(&ordered);
    }
}

/// The places of the cards in the order their links connect them; `None` when they are not one chain.
fn chain(cards: &[Postcard], links: &Links) -> Option<Vec<usize>> {
    let connects = |from: usize, to: usize| from != to && links.connect(&cards[from].hop, &cards[to].hop);
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
