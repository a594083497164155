#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::net::{IpAddr, SocketAddr};

use inband_node::NodeConfig;

use super::asker::{IDLE_NS, MOST_ASKED, PAUSE_NS};
use super::granter::MOST_GRANTED;
use super::message::Refusal;
use super::{Asker, Body, Change, Granter, Key, MESSAGE_BYTES, Message, dialect};

const LEASE_MS: u32 = 3000;
const LEASE_NS: u64 = 3_000_000_000;
const START: u64 = 1_000_000_000_000;

fn asker() -> Asker {
    Asker::new(1, 77, LEASE_MS)
}

fn granter() -> Granter {
    Granter::new(2, 77, LEASE_MS)
}

fn b() -> IpAddr {
    "10.0.0.2".parse().unwrap()
}

fn a(port: u16) -> SocketAddr {
    SocketAddr::new("10.0.0.1".parse().unwrap(), port)
}

fn says(nonce: u64, body: Body) -> Message {
    Message { nonce, node_id: 2, body }
}

#[test]
fn every_message_is_read_as_it_was_written_with_and_without_a_key() {
    let bodies = [
        Body::Ask { lease_ms: 0x0102_0304, dialect: 0x0506_0708_090a_0b0c },
        Body::Grant { lease_ms: u32::MAX },
        Body::Refuse(Refusal::Dialect),
        Body::Refuse(Refusal::Full),
        Body::Refuse(Refusal::Ending),
        Body::Refuse(Refusal::Unknown(200)),
        Body::Withdraw,
        Body::Withdrawn,
    ];
    let key = Key::new(b"secret");
    for body in bodies {
        let message = Message { nonce: 0x1112_1314_1516_1718, node_id: 0x2122_2324, body };
        for key in [None, Some(&key)] {
            assert_eq!(Message::from_bytes(&message.to_bytes(key), key), Some(message));
        }
    }
    let ask = says(0x1112_1314_1516_1718, Body::Ask { lease_ms: 3000, dialect: 9 }).to_bytes(None);
    assert_eq!(ask[..12], *b"INBL\x01\x01\0\0\x11\x12\x13\x14");
    assert_eq!(ask[16..], [&[0, 0, 0x0b, 0xb8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9][..], &[0; 32]].concat());
}

#[test]
fn who_does_not_have_the_key_says_nothing() {
    let (key, other) = (Key::new(b"secret"), Key::new(b"Secret"));
    let message = says(7, Body::Grant { lease_ms: 5 });
    let signed = message.to_bytes(Some(&key));

    assert_eq!(Message::from_bytes(&signed, Some(&other)), None);
    assert_eq!(Message::from_bytes(&message.to_bytes(None), Some(&key)), None);
    for at in 0..MESSAGE_BYTES {
        let mut changed = signed;
        changed[at] ^= 1;
        assert_eq!(Message::from_bytes(&changed, Some(&key)), None, "byte {at}");
    }
}

#[test]
fn what_is_no_message_of_this_version_is_left_alone() {
    let right = says(7, Body::Withdraw).to_bytes(None);
    for length in 0..MESSAGE_BYTES {
        assert_eq!(Message::from_bytes(&right[..length], None), None, "{length}");
    }
    assert_eq!(Message::from_bytes(&[&right[..], &[0]].concat(), None), None);
    for (at, value) in [(0, b'X'), (4, 2), (5, 0), (5, 6)] {
        let mut wrong = right;
        wrong[at] = value;
        assert_eq!(Message::from_bytes(&wrong, None), None, "byte {at}");
    }
}

#[test]
fn a_lease_counts_from_when_it_was_asked_for() {
    let mut asker = asker();
    let ask = asker.handle_unleased(b(), START, 5).unwrap();

    let answer = granter().handle(&ask, a(9), 3, START + 400).unwrap();
    let change = asker.handle(&answer, START + 800);

    assert_eq!(change, Some(Change::Lease { address: b(), until: START + LEASE_NS }));
    assert_eq!(asker.leased().collect::<Vec<_>>(), [b()]);
}

#[test]
fn an_answer_with_a_nonce_that_was_not_asked_changes_nothing() {
    let mut asker = asker();
    asker.handle_unleased(b(), START, 5).unwrap();

    for body in [Body::Grant { lease_ms: 5 }, Body::Refuse(Refusal::Full), Body::Withdraw, Body::Withdrawn] {
        assert_eq!(asker.handle(&says(6, body), START), None);
    }
    // Nor does the answer to an ask that was followed by another one, or one that comes too late.
    asker.handle_unleased(b(), START + PAUSE_NS, 7).unwrap();
    assert_eq!(asker.handle(&says(5, Body::Grant { lease_ms: LEASE_MS }), START + PAUSE_NS), None);
    assert_eq!(asker.handle(&says(7, Body::Grant { lease_ms: LEASE_MS }), START + PAUSE_NS + LEASE_NS), None);
}

#[test]
fn leases_are_renewed_while_there_is_traffic() {
    let mut asker = asker();
    asker.handle_unleased(b(), START, 5).unwrap();
    asker.handle(&says(5, Body::Grant { lease_ms: LEASE_MS }), START).unwrap();

    assert!(asker.due(START + LEASE_NS / 3 - 1).is_empty());
    assert_eq!(asker.due(START + LEASE_NS / 3), [b()]);
    assert!(asker.ask(b(), START + LEASE_NS / 3, 6).is_some());
    assert!(asker.due(START + LEASE_NS / 3).is_empty());
    assert!(asker.due(START + IDLE_NS).is_empty());
    asker.handle_use(b(), START + IDLE_NS - 1);
    assert_eq!(asker.due(START + IDLE_NS), [b()]);
}

#[test]
fn who_says_no_or_nothing_is_asked_again_after_a_pause_and_forgotten_without_traffic() {
    let mut asker = asker();
    asker.handle_unleased(b(), START, 5).unwrap();
    let change = asker.handle(&says(5, Body::Refuse(Refusal::Dialect)), START);

    assert_eq!(change, Some(Change::Refused { address: b(), refusal: Refusal::Dialect }));
    assert_eq!(asker.handle_unleased(b(), START + PAUSE_NS - 1, 6), None);
    assert!(asker.handle_unleased(b(), START + PAUSE_NS, 6).is_some());
    assert!(asker.forget_old(START + 3 * PAUSE_NS).is_empty());
    assert!(asker.forget_old(START + 3 * PAUSE_NS + 1).is_empty());
    assert_eq!(asker.handle(&says(6, Body::Grant { lease_ms: 60_000 }), START), None);
}

#[test]
fn a_lease_that_is_over_is_named_once() {
    let mut asker = asker();
    asker.handle_unleased(b(), START, 5).unwrap();
    asker.handle(&says(5, Body::Grant { lease_ms: LEASE_MS }), START).unwrap();

    assert!(asker.forget_old(START + LEASE_NS - 1).is_empty());
    assert_eq!(asker.forget_old(START + LEASE_NS), [b()]);
    assert!(asker.forget_old(START + LEASE_NS).is_empty());
}

#[test]
fn no_more_than_so_many_are_asked_and_granted() {
    let (mut asker, mut granter) = (asker(), granter());
    for number in 0..u32::try_from(MOST_ASKED).unwrap() {
        assert!(asker.handle_unleased(IpAddr::V4(number.into()), START, u64::from(number)).is_some());
    }
    assert_eq!(asker.handle_unleased(b(), START, u64::MAX), None);

    let ask = says(1, Body::Ask { lease_ms: LEASE_MS, dialect: 77 });
    for port in 0..u16::try_from(MOST_GRANTED).unwrap() {
        granter.handle(&ask, a(port), 3, START).unwrap();
    }
    assert_eq!(granter.handle(&ask, a(9999), 3, START).unwrap().body, Body::Refuse(Refusal::Full));
    assert_eq!(granter.handle(&ask, a(0), 3, START).unwrap().body, Body::Grant { lease_ms: LEASE_MS });
    let later = START + LEASE_NS;
    assert_eq!(granter.handle(&ask, a(9999), 3, later).unwrap().body, Body::Grant { lease_ms: LEASE_MS });
}

#[test]
fn a_sink_that_ends_tells_all_until_they_say_that_nothing_comes_any_more() {
    let (mut asker, mut granter) = (asker(), granter());
    let ask = asker.handle_unleased(b(), START, 5).unwrap();
    asker.handle(&granter.handle(&ask, a(9), 3, START).unwrap(), START).unwrap();
    granter.handle(&ask, a(8), 4, START).unwrap();

    assert_eq!(granter.withdraw(Some(4), START).len(), 1);
    assert_eq!(granter.withdraw(None, START).len(), 2);
    let [(to, device, message)] = granter.withdraw(Some(3), START).try_into().unwrap();
    assert_eq!((to, device), (a(9), 3));
    assert_eq!(asker.handle(&message, START), Some(Change::Withdrawn { address: b(), nonce: 5 }));
    assert_eq!(asker.leased().count(), 0);
    assert_eq!(granter.handle(&says(6, Body::Withdrawn), a(9), 3, START), None);
    assert_eq!(granter.withdraw(None, START).len(), 2);
    granter.handle(&says(5, Body::Withdrawn), a(9), 3, START);
    assert_eq!(granter.withdraw(None, START).len(), 1);
    // The other one is silent; its lease ends by itself. And nobody gets another one.
    assert_eq!(granter.handle(&ask, a(7), 3, START).unwrap().body, Body::Refuse(Refusal::Ending));
    assert_eq!(granter.withdraw(None, START + LEASE_NS), []);
}

#[test]
fn a_sink_grants_no_longer_than_it_may_and_nothing_it_would_not_understand() {
    let mut granter = granter();
    let ask = |lease_ms, dialect| says(1, Body::Ask { lease_ms, dialect });

    assert_eq!(
        granter.handle(&ask(u32::MAX, 77), a(1), 3, START).unwrap().body,
        Body::Grant { lease_ms: LEASE_MS }
    );
    assert_eq!(granter.handle(&ask(10, 77), a(1), 3, START).unwrap().body, Body::Grant { lease_ms: 10 });
    assert_eq!(granter.handle(&ask(10, 78), a(1), 3, START).unwrap().body, Body::Refuse(Refusal::Dialect));
}

#[test]
fn the_dialect_is_what_a_sink_has_to_know() {
    let node = |text: &str| -> NodeConfig { toml::from_str(&format!("node.id = 1\n{text}")).unwrap() };
    let plain = dialect(&node(""));

    assert_eq!(plain, dialect(&node("source.remaining_hops = 3\nsource.mode = 'mx'")));
    for other in
        ["encapsulation.kind = 'udp'", "encapsulation.dscp = 0x18", "encapsulation.tcp_options = 'before'"]
    {
        assert_ne!(plain, dialect(&node(other)), "{other}");
    }
}
