//! The surroundings of a host: devices that are renamed or removed, firewalls, clamped segments, links that
//! silently drop what is too large.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::tally::{count, has_flow, has_more, talk_until};
use crate::traffic::{bytes, connect, deliver, exchange_tcp, say_both_ways, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";
/// A lease, and the time to get one.
const WHILE: Duration = Duration::from_millis(1_800);

#[test]
fn a_device_with_another_name_takes_int_out_until_leases_are_over() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, mut b)) = agents(&world, &domain("dscp")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    talk_with_int(&world, (&at_a, &at_b), 100);

    world.ip(Place::B, "link set dc name uplink");
    talk(&at_a, &at_b, WHILE);
    world.ip(Place::B, "link set uplink name dc");
    talk_with_int(&world, (&at_a, &at_b), 500);

    assert_eq!(b.next_message(), "no INT on dc any more\n");
    assert_eq!(b.next_message(), "INT on dc\n");
    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "started") > 500, "{a} {b}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn a_device_that_gets_its_name_back_before_leases_are_over_has_int_at_once() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, mut b)) = agents(&world, &domain("dscp")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    talk_with_int(&world, (&at_a, &at_b), 100);

    world.ip(Place::B, "link set dc name uplink");
    assert_eq!(b.next_message(), "no INT on dc any more\n");
    world.ip(Place::B, "link set uplink name dc");
    talk_with_int(&world, (&at_a, &at_b), 500);

    assert_eq!(b.next_message(), "INT on dc\n");
    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "started") > 500, "{a} {b}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn a_device_that_is_taken_off_the_list_takes_int_out_until_leases_are_over() {
    for lease in [true, false] {
        let Some(world) = World::new(Offloads::On) else { return };
        let domain = Domain { lease, ..domain("dscp") };
        let Some((a, mut b)) = agents(&world, &domain) else { return };
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        talk_with_int(&world, (&at_a, &at_b), 100);

        world.ip(Place::B, "link add other0 type veth peer name other1");
        let settings = domain.settings(Place::B).replace("\"dc\"", "\"other0\"");
        world.write("B.toml", settings.as_bytes());
        b.signal(Signal::HUP);
        talk(&at_a, &at_b, 2 * WHILE);

        let messages = [b.next_message(), b.next_message(), b.next_message()].concat();
        assert!(messages.contains("no INT on dc any more"), "{lease}: {messages}");
        let a = a.stop();
        assert!(count(&a, "started") > 100, "{lease}: {a}");
        let b = b.stop();
        assert_eq!(count(&a, "started"), count(&b, "stripped"), "{lease}: {a} {b}");
    }
}

#[test]
fn a_firewall_that_drops_what_is_of_no_connection_gets_no_int_and_hangs_nothing() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let rules = "table inet firewall { chain forward { type filter hook forward priority 0; ct state invalid drop; \
                     ct state established,related accept; tcp flags syn accept; udp dport != 33122 accept; drop; } }";
        if !world.nft(Place::FirstHop, rules) {
            return;
        }
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };

        converse_until(&world, has_flow("probes_lost"));
        exchange_tcp(&world, B4, 300_000);

        let (a, b) = (a.stop(), b.stop());
        assert_eq!((count(&a, "started"), count(&b, "started")), (0, 0), "{kind}: {a} {b}");
    }
}

#[test]
fn tcp_whose_segments_a_router_clamps_finishes_where_links_drop_in_silence() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        // As behind PPPoE or a tunnel: connections learn a smaller MSS, and no router reports what is too
        // large.
        let rules = "table ip clamp { chain forward { type filter hook forward priority 0; \
                     tcp flags syn tcp option maxseg size set 1260; \
                     meta length > 1300 drop; } }";
        if !world.nft(Place::FirstHop, rules) {
            return;
        }
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };

        // Two probes of full length are lost, then small ones pass.
        converse_until(&world, has_more("started", 20));
        exchange_tcp(&world, B4, 3_000_000);

        let (a, b) = (a.stop(), b.stop());
        assert!(count(&a, "started") > 20, "{kind}: {a} {b}");
        assert_eq!(
            count(&a, "started"),
            count(&b, "stripped"),
            "{kind}: nothing with INT is too large: {a} {b}"
        );
    }
}

#[test]
fn a_device_keeps_its_features_queues_and_mtu_beside_an_agent() {
    let Some(world) = World::new(Offloads::On) else { return };
    let state = || {
        let commands: [&[&str]; 4] = [
            &["ethtool", "-k", "ab"],
            &["ip", "-d", "link", "show", "dev", "ab"],
            &["tc", "qdisc", "show", "dev", "ab"],
            &["ip", "route", "show"],
        ];
        let show = |words: &[&str]| world.command(Place::A, words[0]).args(&words[1..]).output().unwrap();
        commands.map(|words| String::from_utf8(show(words).stdout).unwrap()).concat()
    };
    let before = state();
    let Some((a, b)) = agents(&world, &Domain { coverage: "all", ..domain("dscp") }) else { return };

    converse_until(&world, has_more("started", 20));
    let beside = state();
    let (a, b) = (a.stop(), b.stop());

    assert!(count(&a, "started") > 20, "{a} {b}");
    assert!(before.contains("mtu 1500") && before.contains("tcp-segmentation-offload: on"), "{before}");
    assert_eq!(before, beside);
    assert_eq!(before, state());
}

/// Datagrams from A to B, each of which arrives unchanged.
fn talk(at_a: &UdpSocket, at_b: &UdpSocket, duration: Duration) {
    let since = Instant::now();
    while since.elapsed() < duration {
        deliver(at_a, at_b, b"payload");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The same for a while, and until A has started INT in more than `least` of them.
fn talk_with_int(world: &World, (at_a, at_b): (&UdpSocket, &UdpSocket), least: u64) {
    talk(at_a, at_b, WHILE);
    talk_until(world, Place::A, has_more("started", least), || talk(at_a, at_b, WHILE / 6));
}

/// A connection with messages of many lengths in both directions for a while, and until the status of A is as
/// `is_so` says; panics unless all arrive unchanged.
fn converse_until(world: &World, is_so: impl Fn(&Value) -> bool) {
    let (mut to_b, mut at_b) = connect(world, B4);
    let mut length = 1;
    let mut converse = |duration| {
        let since = Instant::now();
        while since.elapsed() < duration {
            say_both_ways((&mut to_b, &mut at_b), &bytes(length, 5));
            length = (length * 3 + 7) % 20_000 + 1;
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    converse(WHILE);
    talk_until(world, Place::A, is_so, || converse(WHILE / 6));
}

fn domain(kind: &'static str) -> Domain {
    Domain { lease: true, host: SHORT.to_owned(), ..Domain::new(kind, "md") }
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, domain)?, Agent::start(world, Place::B, domain)?))
}
