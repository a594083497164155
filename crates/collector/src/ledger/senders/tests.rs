//! Attribution of a node that includes its id in some reports only.

use super::{FORGET_AFTER, IpAddr, Nanos, NodeId, Sender, Senders, SocketAddr};

fn session() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 32766))
}

fn sender(last: u8, node_id: Option<u32>) -> Sender {
    Sender { node_id: node_id.map(NodeId), hw_id: 0, address: IpAddr::from([10, 0, 0, last]) }
}

#[test]
fn a_report_without_a_name_is_of_the_node_that_was_named_from_there() {
    let mut senders = Senders::new(8);
    assert_eq!(senders.node_of(NOW, sender(1, None), session()), None);
    assert_eq!(senders.node_of(NOW, sender(1, Some(7)), session()), Some(NodeId(7)));
    assert_eq!(senders.node_of(NOW, sender(1, None), session()), Some(NodeId(7)));
    assert_eq!(senders.node_of(NOW, sender(2, None), session()), None);
    let other_hw_id = Sender { hw_id: 1, ..sender(1, None) };
    assert_eq!(senders.node_of(NOW, other_hw_id, session()), None);
}

#[test]
fn where_several_nodes_speak_nothing_is_guessed() {
    let mut senders = Senders::new(8);
    for node_id in [7, 8, 7, 8] {
        assert_eq!(senders.node_of(NOW, sender(1, Some(node_id)), session()), Some(NodeId(node_id)));
    }
    assert_eq!(senders.node_of(NOW, sender(1, None), session()), None);
}

#[test]
fn so_many_addresses_are_remembered_and_no_more() {
    let mut senders = Senders::new(2);
    for last in 1..=3 {
        senders.node_of(NOW, sender(last, Some(u32::from(last))), session());
    }
    let found: Vec<_> = (1..=3).map(|last| senders.node_of(NOW, sender(last, None), session())).collect();
    assert_eq!(found, [Some(NodeId(1)), Some(NodeId(2)), None]);
}

#[test]
fn one_report_with_another_id_changes_nothing_and_a_node_may_get_another_id() {
    let mut senders = Senders::new(8);
    let named = [(7, 7), (8, 7), (7, 7), (7, 7), (9, 7), (9, 9)];
    // Three turns within five minutes would be several nodes.
    for (step, (named, expected)) in named.into_iter().enumerate() {
        let now = NOW + Nanos(step as u64 * FORGET_AFTER.0);
        senders.node_of(now, sender(1, Some(named)), session());
        assert_eq!(senders.node_of(now, sender(1, None), session()), Some(NodeId(expected)), "{step}");
    }
}

#[test]
fn addresses_of_several_nodes_are_of_one_again_when_only_one_speaks() {
    let mut senders = Senders::new(8);
    for node_id in [7, 8, 7, 8, 8] {
        senders.node_of(NOW, sender(1, Some(node_id)), session());
    }
    assert_eq!(senders.node_of(NOW, sender(1, None), session()), None);
    assert_eq!(senders.node_of(NOW + FORGET_AFTER, sender(1, None), session()), Some(NodeId(8)));
}

#[test]
fn addresses_that_fell_silent_make_room() {
    let mut senders = Senders::new(1);
    senders.node_of(NOW, sender(1, Some(1)), session());
    senders.node_of(NOW + FORGET_AFTER, sender(2, Some(2)), session());
    assert_eq!(senders.node_of(NOW + FORGET_AFTER, sender(2, None), session()), Some(NodeId(2)));
}

const NOW: Nanos = Nanos::from_secs(1_700_000_000);
