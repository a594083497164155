//! Hops are put in the order in which the packet passed them.

use inband_model::{GivenLink, Hop, Nanos, NodeId};

use super::{Evidence, Ordered, Postcard, order};
use crate::paths::{Links, Topology};

#[test]
fn a_higher_ttl_comes_earlier() {
    let cards = [card(3, Some(62)), card(1, Some(64)), card(2, Some(63))];

    assert_eq!(ordered(&cards, &Links::new(10), true), [1, 2, 3]);
}

#[test]
fn an_equal_ttl_leaves_the_decision_to_synchronous_clocks() {
    let cards = [stamped(2, 200), stamped(3, 300), stamped(1, 100)];

    assert_eq!(ordered(&cards, &Links::new(10), true), [1, 2, 3]);
}

#[test]
fn clocks_that_are_not_synchronous_decide_nothing() {
    let links = Links::new(10);
    let by_clocks = |synchronous_clocks| {
        let evidence = Evidence { topology: &Topology::default(), links: &links, synchronous_clocks };
        order(&mut [stamped(2, 100), stamped(1, 200)], evidence)
    };

    assert_eq!((by_clocks(false), by_clocks(true)), (Ordered::No, Ordered::ByPacket));
}

#[test]
fn links_known_for_certain_decide_before_anything_else() {
    // The TTL was reset at node 3, as a tunnel may do.
    let cards = [card(3, Some(255)), card(1, Some(64)), card(2, Some(63))];
    let mut links = Links::new(10);
    for (from, to) in [(1, 2), (2, 3)] {
        let link = links.learn(Nanos(0), &hop(from), &hop(to)).unwrap();
        links.make_certain(link);
    }

    assert_eq!(ordered(&cards, &links, true), [1, 2, 3]);
}

#[test]
fn links_that_are_not_certain_or_do_not_connect_all_hops_decide_nothing() {
    let cards = [card(3, Some(62)), card(1, Some(64)), card(2, Some(63))];
    let mut guessed = Links::new(10);
    guessed.learn(Nanos(0), &hop(3), &hop(1));
    guessed.learn(Nanos(0), &hop(1), &hop(2));
    let mut partial = Links::new(10);
    let link = partial.learn(Nanos(0), &hop(3), &hop(1)).unwrap();
    partial.make_certain(link);

    assert_eq!(ordered(&cards, &guessed, true), [1, 2, 3]);
    assert_eq!(ordered(&cards, &partial, true), [1, 2, 3]);
}

#[test]
fn links_in_a_ring_leave_the_order_to_the_ttl() {
    let cards = [card(2, Some(63)), card(1, Some(64))];
    let mut links = Links::new(10);
    for (from, to) in [(1, 2), (2, 1)] {
        let link = links.learn(Nanos(0), &hop(from), &hop(to)).unwrap();
        links.make_certain(link);
    }

    assert_eq!(ordered(&cards, &links, true), [1, 2]);
}

#[test]
fn given_links_decide_where_the_ttl_stays() {
    let cards = [card(2, Some(64)), card(3, Some(64)), card(1, Some(64))];
    let given =
        [(1, 2), (2, 3)].map(|(node, to)| GivenLink { node, interface: 2, to, to_interface: Some(1) });

    let links = Links::new(10);
    let evidence = Evidence { topology: &Topology::new(&given), links: &links, synchronous_clocks: true };

    let mut ordered = cards.to_vec();
    assert_eq!(order(&mut ordered, evidence), Ordered::ByLinks);
    assert_eq!(ordered.iter().map(|card| card.hop.node_id.0).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn an_equal_ttl_without_links_and_timestamps_orders_nothing() {
    let links = Links::new(10);
    let evidence = Evidence { topology: &Topology::default(), links: &links, synchronous_clocks: true };

    assert_eq!(order(&mut [card(2, Some(64)), card(1, Some(64))], evidence), Ordered::No);
    assert_eq!(order(&mut [card(2, None), card(1, None)], evidence), Ordered::No);
    assert_eq!(order(&mut [card(2, Some(63)), card(1, Some(64))], evidence), Ordered::ByPacket);
}

fn ordered(cards: &[Postcard], links: &Links, synchronous_clocks: bool) -> Vec<u32> {
    let mut cards = cards.to_vec();
    order(&mut cards, Evidence { topology: &Topology::default(), links, synchronous_clocks });
    cards.iter().map(|card| card.hop.node_id.0).collect()
}

fn stamped(node_id: u32, timestamp: u64) -> Postcard {
    let mut card = card(node_id, Some(64));
    card.came_at = Some(timestamp);
    card
}

fn card(node_id: u32, ttl: Option<u8>) -> Postcard {
    Postcard::at(Nanos(0), hop(node_id), ttl)
}

fn hop(node_id: u32) -> Hop {
    Hop { node_id: NodeId(node_id), ingress_interface: Some(1), egress_interface: Some(2) }
}
