#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::net::{IpAddr, SocketAddr};

use inband_node::NodeConfig;

use super::asker::{FORGET_NS, MAX_FLOWS, PAUSE_NS, REFUSED_NS, Unproven};
use super::granter::{KEEP_NS, MAX_GRANTED, WAIT_NS};
use super::message::Refusal;
use super::{
    Answer, Arrived, Asker, Body, Change, Flow, FlowState, Granter, Keys, Limits, MESSAGE_BYTES, Message,
    Probe, Stamp, dialect,
};

const LEASE_MS: u32 = 3000;
const LEASE_NS: u64 = 3_000_000_000;
const START: u64 = 1_000_000_000_000;
const DEVICE: u32 = 3;
const REPLY_PORT: u16 = 9;
const MTU: u32 = 1500;
const PROBE: Body = Body::Probe {
    lease_ms: LEASE_MS,
    dialect: 77,
    ports: (1, 80),
    protocol: 6,
    reply_port: REPLY_PORT,
    length: 1,
};
const LIMITS: Limits = Limits { per_second: 100, per_minute: 20 };

fn asker() -> Asker {
    Asker::new(1, 77, LEASE_MS, LIMITS)
}

fn granter() -> Granter {
    Granter::new(2, 77, LEASE_MS)
}

fn a() -> IpAddr {
    "10.0.0.1".parse().unwrap()
}

fn b() -> IpAddr {
    "10.0.0.2".parse().unwrap()
}

fn at_a(port: u16) -> SocketAddr {
    SocketAddr::new(a(), port)
}

fn flow(port: u16) -> Flow {
    Flow { source: a(), destination: b(), source_port: port, destination_port: 80, protocol: 6 }
}

fn unproven(flow: Flow) -> Unproven {
    Unproven { flow, mtu: MTU, is_chosen: true }
}

fn says(nonce: u64, body: Body) -> Message {
    Message { nonce, node_id: 2, source: a(), destination: b(), body }
}

fn probe(asker: &mut Asker, flow: Flow, now: u64, nonce: u64) -> Option<Probe> {
    asker.handle_unproven(&unproven(flow), REPLY_PORT, now, nonce)
}

/// Exchanges messages between an asker and a granter until there is a lease for `flow`.
fn lease(asker: &mut Asker, granter: &mut Granter, flow: Flow, now: u64, nonce: u64) -> Change {
    let probe = probe(asker, flow, now, nonce).unwrap();
    let seen = granter.handle_probe(&probe.message, (flow, true), DEVICE, now).unwrap();
    assert_eq!(asker.handle(&seen.message, now), None);
    let (grant, _) = granter.grant(&flow, now).unwrap();
    asker.handle(&grant.message, now).unwrap()
}

#[test]
fn every_message_is_read_as_it_was_written_with_and_without_keys() {
    let bodies = [
        Body::Ask { dialect: 0x0506_0708_090a_0b0c },
        Body::Probe { lease_ms: 1, dialect: 2, ports: (3, 4), protocol: 5, reply_port: 6, length: 7 },
        Body::Grant { lease_ms: u32::MAX, arrived: Arrived { generation: 8, packets: u32::MAX } },
        Body::Refuse(Refusal::Dialect),
        Body::Refuse(Refusal::Full),
        Body::Refuse(Refusal::Ending),
        Body::Refuse(Refusal::Stranger),
        Body::Refuse(Refusal::Unknown(200)),
        Body::Withdraw,
        Body::Withdrawn,
        Body::Agree,
        Body::Seen(Stamp { clock: 3, time: u64::MAX }),
    ];
    let six = "fd00::1".parse().unwrap();
    for body in bodies {
        let message = Message { node_id: 0x2122_2324, source: six, ..says(0x1112_1314_1516_1718, body) };
        for keys in [Keys::default(), Keys::new([&b"secret"[..]])] {
            assert_eq!(Message::from_bytes(&message.to_bytes(&keys), &keys), Some(message));
        }
    }
    let body = Body::Grant { lease_ms: 3000, arrived: Arrived { generation: 0, packets: 0 } };
    let grant = says(0x1112_1314_1516_1718, body).to_bytes(&Keys::default());
    assert_eq!(grant[..12], *b"INBL\x02\x02\0\0\x11\x12\x13\x14");
    assert_eq!(grant[16..24], [0, 0, 0x0b, 0xb8, 0, 0, 0, 2]);
    assert_eq!(grant[42..48], [0xff, 0xff, 10, 0, 0, 1]);
    assert_eq!(grant[58..], [&[0xff, 0xff, 10, 0, 0, 2][..], &[0; 56]].concat());
}

#[test]
fn who_does_not_have_a_key_says_nothing() {
    let (keys, other) = (Keys::new([&b"secret"[..]]), Keys::new([&b"Secret"[..]]));
    let message = says(7, Body::Grant { lease_ms: 5, arrived: Arrived::default() });
    let signed = message.to_bytes(&keys);

    assert_eq!(Message::from_bytes(&signed, &other), None);
    assert_eq!(Message::from_bytes(&message.to_bytes(&Keys::default()), &keys), None);
    for at in 0..MESSAGE_BYTES {
        let mut changed = signed;
        changed[at] ^= 1;
        assert_eq!(Message::from_bytes(&changed, &keys), None, "byte {at}");
    }
}

#[test]
fn hosts_with_the_old_and_the_new_key_understand_each_other_during_the_change() {
    let (old, new) = (&b"old"[..], &b"new"[..]);
    let message = says(7, Body::Withdraw);
    let changing = [Keys::new([old, new]), Keys::new([new, old])];

    for (signs, verifies) in [(0, 1), (1, 0)] {
        let signed = message.to_bytes(&changing[signs]);
        assert_eq!(Message::from_bytes(&signed, &changing[verifies]), Some(message));
    }
    assert!(Message::from_bytes(&message.to_bytes(&changing[0]), &Keys::new([new])).is_none());
    assert!(Message::from_bytes(&message.to_bytes(&changing[1]), &Keys::new([new])).is_some());
}

#[test]
fn what_is_no_message_of_this_version_is_left_alone() {
    let keys = Keys::default();
    let right = says(7, Body::Withdraw).to_bytes(&keys);
    for length in 0..MESSAGE_BYTES {
        assert_eq!(Message::from_bytes(&right[..length], &keys), None, "{length}");
    }
    assert_eq!(Message::from_bytes(&[&right[..], &[0]].concat(), &keys), None);
    for (at, value) in [(0, b'X'), (4, 1), (4, 3), (5, 0), (5, 9)] {
        let mut wrong = right;
        wrong[at] = value;
        assert_eq!(Message::from_bytes(&wrong, &keys), None, "byte {at}");
    }
}

#[test]
fn a_lease_counts_from_when_its_probe_was_sent() {
    let (mut asker, mut granter) = (asker(), granter());
    let probe = probe(&mut asker, flow(1), START, 5).unwrap();
    assert_eq!(probe.length, MTU);

    granter.handle_probe(&probe.message, (flow(1), true), DEVICE, START + 400).unwrap();
    let (grant, is_new) = granter.grant(&flow(1), START + 500).unwrap();
    let change = asker.handle(&grant.message, START + 800);

    let renew_at = START + LEASE_NS / 3;
    assert_eq!(change, Some(Change::Proof { flow: flow(1), until: START + LEASE_NS, renew_at, mtu: MTU }));
    assert!(is_new);
    assert_eq!(asker.held(START + LEASE_NS - 1), 1);
    assert_eq!(asker.held(START + LEASE_NS), 0);
}

#[test]
fn nothing_is_granted_before_a_packet_of_the_flow_has_come_in() {
    let (mut asker, mut granter) = (asker(), granter());
    let probe = probe(&mut asker, flow(1), START, 5).unwrap();

    let seen = granter.handle_probe(&probe.message, (flow(1), true), DEVICE, START).unwrap();

    assert_eq!(seen.message.body, Body::Seen(Stamp::default()));
    assert_eq!(asker.handle(&seen.message, START), None);
    assert_eq!((asker.held(START), granter.granted(START)), (0, 0));
    assert_eq!(granter.grant(&flow(2), START), None);
    granter.forget_old(START + WAIT_NS);
    assert_eq!(granter.grant(&flow(1), START + WAIT_NS), None);
}

#[test]
fn an_answer_with_a_nonce_or_addresses_that_were_not_asked_changes_nothing() {
    let mut asker = asker();
    probe(&mut asker, flow(1), START, 5).unwrap();
    let grant = Body::Grant { lease_ms: LEASE_MS, arrived: Arrived::default() };

    for body in [grant, Body::Refuse(Refusal::Full), Body::Withdraw, Body::Withdrawn] {
        assert_eq!(asker.handle(&says(6, body), START), None);
    }
    let relayed = Message { destination: "10.0.0.3".parse().unwrap(), ..says(5, grant) };
    assert_eq!(asker.handle(&relayed, START), None);
    let relayed = Message { source: "10.0.0.3".parse().unwrap(), ..says(5, grant) };
    assert_eq!(asker.handle(&relayed, START), None);
    // Nor does the answer to a probe that was followed by another one, or a late answer.
    probe(&mut asker, flow(1), START + PAUSE_NS, 7).unwrap();
    assert_eq!(asker.handle(&says(5, grant), START + PAUSE_NS), None);
    assert_eq!(asker.handle(&says(7, grant), START + PAUSE_NS + LEASE_NS), None);
}

#[test]
fn a_flow_with_a_lease_is_probed_again_and_keeps_it() {
    let (mut asker, mut granter) = (asker(), granter());
    lease(&mut asker, &mut granter, flow(1), START, 5);

    assert_eq!(probe(&mut asker, flow(1), START + LEASE_NS / 6 - 1, 6), None);
    let later = START + LEASE_NS / 3;
    let Change::Proof { until, .. } = lease(&mut asker, &mut granter, flow(1), later, 6) else { panic!() };
    assert_eq!(until, later + LEASE_NS);
    assert_eq!(granter.granted(START), 1);
}

#[test]
fn a_destination_that_does_not_answer_is_probed_only_so_often_in_a_minute() {
    let mut asker = asker();
    let probes = |asker: &mut Asker, from: u64, seconds: u64| {
        let times = (0..seconds * 10).map(|tenth| from + tenth * 100_000_000);
        times
            .filter(|now| (0..20).any(|port| probe(asker, flow(port), *now, now ^ u64::from(port)).is_some()))
            .count()
    };

    // Ten at once, and one every six seconds.
    assert_eq!(probes(&mut asker, START, 60), 19);
    assert_eq!(probes(&mut asker, START + 60_000_000_000, 60), 10);
}

#[test]
fn a_destination_that_answers_is_probed_for_each_flow() {
    let (mut asker, mut granter) = (asker(), granter());
    for port in 0..100 {
        lease(&mut asker, &mut granter, flow(port), START, u64::from(port));
    }
    assert_eq!(asker.held(START), 100);
    // The limit of new flows per second is reached.
    assert_eq!(probe(&mut asker, flow(200), START, 200), None);
    assert!(probe(&mut asker, flow(200), START + 10_000_000, 201).is_some());
    // Leases are counted by addresses, of which there are fewer than flows.
    assert_eq!(granter.granted(START), 1);
}

#[test]
fn answers_to_forged_addresses_leave_half_of_the_probes_to_others() {
    let mut asker = asker();
    let forged = |number: u32| Flow { destination: IpAddr::V4(number.into()), ..flow(1) };
    let is_probed = |asker: &mut Asker, number: u32| {
        let unproven = Unproven { is_chosen: false, ..unproven(forged(number)) };
        asker.handle_unproven(&unproven, REPLY_PORT, START, u64::from(number)).is_some()
    };

    assert_eq!((0..3000).filter(|number| is_probed(&mut asker, *number)).count(), 50);
    assert!(probe(&mut asker, flow(1), START, 1 << 40).is_some());
}

#[test]
fn smaller_probes_are_tried_where_full_ones_do_not_arrive_and_prove_no_more() {
    let (mut asker, mut granter) = (asker(), granter());
    let lengths: Vec<_> = (0..6)
        .map(|try_| probe(&mut asker, flow(1), START + try_ * PAUSE_NS, try_ + 1).unwrap().length)
        .collect();
    assert_eq!(lengths, [1500, 1500, 1280, 1280, 1500, 1500]);

    let now = START + 6 * PAUSE_NS;
    let Change::Proof { mtu, .. } = lease(&mut asker, &mut granter, flow(1), now, 7) else { panic!() };
    assert_eq!(mtu, 1280);
    let again = probe(&mut asker, flow(1), now + LEASE_NS / 3, 8).unwrap();
    assert_eq!(again.length, 1280);
}

#[test]
fn who_refuses_is_not_probed_for_a_while() {
    let (mut asker, mut granter) = (asker(), granter());
    lease(&mut asker, &mut granter, flow(1), START, 5);
    let refusal = Refusal::Dialect;

    let ask = asker.ask(&flow(1), START, 6).unwrap();
    assert_eq!(asker.ask(&flow(2), START + PAUSE_NS - 1, 7), None);
    let change = asker.handle(&Message { body: Body::Refuse(refusal), ..ask }, START);

    assert_eq!(change, Some(Change::Refused { address: b(), flows: vec![flow(1)], refusal }));
    assert_eq!(probe(&mut asker, flow(2), START + REFUSED_NS - 1, 8), None);
    assert!(probe(&mut asker, flow(2), START + REFUSED_NS, 9).is_some());
}

#[test]
fn a_flow_that_could_not_be_probed_is_known_with_its_reason() {
    let mut asker = asker();
    for port in 0..11 {
        probe(&mut asker, flow(port), START, u64::from(port));
    }

    assert!(asker.forget_old(START).is_empty());
    let limited = asker.states(START).filter(|(_, state, _)| *state == FlowState::Limited).count();
    let silent = asker.states(START).filter(|(_, state, _)| *state == FlowState::NoAnswer).count();
    assert_eq!((silent, limited), (10, 1));
}

#[test]
fn what_has_no_traffic_is_forgotten() {
    let (mut asker, mut granter) = (asker(), granter());
    lease(&mut asker, &mut granter, flow(1), START, 5);
    probe(&mut asker, flow(2), START, 6).unwrap();

    assert!(asker.forget_old(START + FORGET_NS).is_empty());
    assert_eq!(asker.forget_old(START + FORGET_NS + 1), [flow(1)]);
    assert!(asker.forget_old(START + FORGET_NS + 1).is_empty());
    assert_eq!(granter.forget_old(START + LEASE_NS + KEEP_NS - 1), [] as [IpAddr; 0]);
    assert_eq!(granter.forget_old(START + LEASE_NS + KEEP_NS), [a()]);
}

#[test]
fn only_so_many_flows_are_probed_and_so_many_addresses_granted() {
    let mut asker = Asker::new(1, 77, LEASE_MS, Limits { per_second: u32::MAX, per_minute: u32::MAX });
    for number in 0..u32::try_from(MAX_FLOWS).unwrap() {
        let flow = Flow { source: IpAddr::V4(number.into()), ..flow(1) };
        assert!(probe(&mut asker, flow, START, u64::from(number)).is_some());
    }
    assert_eq!(probe(&mut asker, flow(1), START, u64::MAX), None);

    let mut granter = granter();
    let mut ask = |number: u32, now: u64| {
        let flow = Flow { source: IpAddr::V4(number.into()), ..flow(1) };
        let answer = granter.handle_probe(&says(1, PROBE), (flow, true), DEVICE, now).unwrap();
        granter.grant(&flow, now);
        answer.message.body
    };
    for number in 0..u32::try_from(MAX_GRANTED).unwrap() {
        assert_eq!(ask(number, START), Body::Seen(Stamp::default()));
    }
    assert_eq!(ask(u32::MAX, START), Body::Refuse(Refusal::Full));
    assert_eq!(ask(0, START), Body::Seen(Stamp::default()));
}

#[test]
fn flows_that_wait_together_are_granted_as_far_as_there_is_room() {
    let mut granter = granter();
    let of = |number: u32| Flow { source: IpAddr::V4(number.into()), ..flow(1) };
    let ask = |granter: &mut Granter, number: u32| {
        granter.handle_probe(&says(1, PROBE), (of(number), true), DEVICE, START).unwrap();
    };
    let most = u32::try_from(MAX_GRANTED).unwrap();
    for number in 0..most - 10 {
        ask(&mut granter, number);
        granter.grant(&of(number), START).unwrap();
    }
    // Their probes found room; their packets come afterwards.
    (most..most + 50).for_each(|number| ask(&mut granter, number));
    let answers: Vec<_> =
        (most..most + 50).map(|number| granter.grant(&of(number), START).unwrap()).collect();

    let refused = |(answer, is_new): &(Answer, bool)| {
        assert_eq!(*is_new, answer.message.body != Body::Refuse(Refusal::Full));
        !*is_new
    };
    assert_eq!(answers.iter().filter(|answer| refused(answer)).count(), 40);
    assert_eq!(granter.granted(START), MAX_GRANTED);
    // What the kernel does not take is taken back.
    granter.take_back(of(0).source);
    assert_eq!(granter.granted(START), MAX_GRANTED - 1);
    assert!(granter.take_over(of(0).source, START) && !granter.take_over(of(u32::MAX).source, START));
}

#[test]
fn a_copy_of_a_grant_brings_no_withdrawn_lease_back() {
    let (mut asker, mut granter) = (asker(), granter());
    let probe = probe(&mut asker, flow(1), START, 5).unwrap();
    granter.handle_probe(&probe.message, (flow(1), true), DEVICE, START).unwrap();
    let (grant, _) = granter.grant(&flow(1), START).unwrap();
    assert!(matches!(asker.handle(&grant.message, START), Some(Change::Proof { .. })));
    let [Answer { message, .. }] = granter.withdraw(None, START).try_into().unwrap();
    assert!(matches!(asker.handle(&message, START), Some(Change::Withdrawn { .. })));

    assert_eq!(asker.handle(&grant.message, START), None);
    assert_eq!(asker.held(START), 0);
    // The sink repeats what was not acknowledged.
    assert!(matches!(asker.handle(&message, START), Some(Change::Withdrawn { .. })));
}

#[test]
fn a_sink_that_ends_tells_all_until_they_say_that_nothing_comes_any_more() {
    let (mut asker, mut granter) = (asker(), granter());
    lease(&mut asker, &mut granter, flow(1), START, 5);

    assert_eq!(granter.withdraw(Some(DEVICE + 1), START), []);
    let [Answer { to, device, message }] = granter.withdraw(None, START).try_into().unwrap();
    assert_eq!((to, device), (at_a(REPLY_PORT), DEVICE));
    let Some(Change::Withdrawn { flows, message }) = asker.handle(&message, START) else { panic!() };
    assert_eq!(flows, [flow(1)]);
    assert_eq!(asker.held(START), 0);
    granter.handle(&Message { nonce: 6, ..message }, true, DEVICE);
    assert_eq!(granter.withdraw(None, START).len(), 1);
    granter.handle(&message, true, DEVICE);
    assert_eq!(granter.withdraw(None, START), []);
    // No further lease is granted.
    let again = probe(&mut asker, flow(2), START + PAUSE_NS, 8).unwrap();
    let answer = granter.handle_probe(&again.message, (flow(2), true), DEVICE, START).unwrap();
    assert_eq!(answer.message.body, Body::Refuse(Refusal::Ending));
}

#[test]
fn a_sink_that_ends_waits_no_longer_than_the_leases_of_who_is_silent() {
    let (mut asker, mut granter) = (asker(), granter());
    lease(&mut asker, &mut granter, flow(1), START, 5);

    assert_eq!(granter.withdraw(None, START + LEASE_NS - 1).len(), 1);
    assert_eq!(granter.withdraw(None, START + LEASE_NS), []);
}

#[test]
fn strangers_get_no_lease_and_others_none_of_what_would_not_be_understood() {
    let mut granter = granter();
    let ask = |dialect| says(1, Body::Ask { dialect });

    let mut answer = |dialect, is_peer| granter.handle(&ask(dialect), is_peer, DEVICE).unwrap().body;

    assert_eq!(answer(77, false), Body::Refuse(Refusal::Stranger));
    assert_eq!(answer(78, true), Body::Refuse(Refusal::Dialect));
    assert_eq!(answer(77, true), Body::Agree);
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
