//! Pods behind a host with an agent: its sink answers probes for addresses that arrive on its device and are
//! routed on, and accepts answers about their flows.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::pins::{BpfFs, remove};
use crate::tally::{count, has_more, talk_until};
use crate::traffic::{bytes, connect, deliver, exchange_tcp, say_both_ways, udp_pair};
use crate::world::{A4, B4, Offloads, Place, SOURCE_NAT, World};

/// The type of a request for leases, which every host in a domain may receive.
const ASK: u8 = 1;
const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";
/// Longer than a lease and the time to get one.
const WHILE: Duration = Duration::from_millis(1_800);

#[test]
fn a_pod_behind_a_route_or_a_bridge_is_proven_by_the_sink_of_its_host() {
    for kind in ["dscp", "udp"] {
        for has_bridge in [false, true] {
            let Some(world) = World::new(Offloads::On) else { return };
            if has_bridge {
                put_behind_bridge(&world);
            }
            let domain = pods(kind);
            let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
            // The pod's host is the second hop, and `cb` leads into the domain.
            let of_host = |settings: &str| settings.replace("\"dc\"", "\"cb\"");
            let Some(host) = Agent::start_with(&world, Place::SecondHop, &domain, of_host) else { return };

            talk(&world, &[(Place::A, "started", 50)]);
            exchange_tcp(&world, B4, 300_000);

            let (a, host) = (a.stop(), host.stop());
            assert!(count(&a, "started") > 50, "{kind}, bridge {has_bridge}: {a} {host}");
            assert_eq!(count(&a, "started"), count(&host, "stripped"), "{kind}: {a} {host}");
        }
    }
}

#[test]
fn what_a_pod_sends_is_proven_by_the_agent_of_its_host() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let domain = pods(kind);
        // A is the pod, and the first hop its host, whose `bc` leads into the domain.
        let Some(host) = Agent::start(&world, Place::FirstHop, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        // The pod receives no answers between agents.
        let at_port = world.inside(Place::A, || UdpSocket::bind(("0.0.0.0", 33123)).unwrap());

        let both = [(Place::FirstHop, "started", 50), (Place::B, "started", 50)];
        talk(&world, &[&both[..], &[(Place::FirstHop, "answer", 1)]].concat());
        exchange_tcp(&world, B4, 300_000);

        at_port.set_nonblocking(true).unwrap();
        let mut message = [0; 200];
        while at_port.recv(&mut message).is_ok() {
            assert_eq!(message[5], ASK, "{kind}: the pod gets answers");
        }
        let (host, b) = (host.stop(), b.stop());
        for (from, to) in [(&host, &b), (&b, &host)] {
            assert!(count(from, "started") > 50, "{kind}: {host} {b}");
            assert_eq!(count(from, "started"), count(to, "stripped"), "{kind}: {host} {b}");
        }
        assert!(count(&host, "answer") > 1, "{kind}: {host}");
    }
}

#[test]
fn what_a_pod_sends_behind_the_address_of_its_host_has_int() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        if !world.nft(Place::FirstHop, SOURCE_NAT) {
            return;
        }
        let domain = pods(kind);
        let Some(host) = Agent::start(&world, Place::FirstHop, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

        let (mut to_b, mut at_b) = connect(&world, B4);
        let mut talk = |duration| {
            let since = Instant::now();
            while since.elapsed() < duration {
                say_both_ways((&mut to_b, &mut at_b), &bytes(1_000, 3));
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        talk(WHILE);
        for place in [Place::FirstHop, Place::B] {
            talk_until(&world, place, has_more("started", 50), || talk(WHILE / 6));
        }
        exchange_tcp(&world, B4, 300_000);

        let (host, b) = (host.stop(), b.stop());
        for (from, to) in [(&host, &b), (&b, &host)] {
            assert!(count(from, "started") > 50, "{kind}: {host} {b}");
            assert_eq!(count(from, "started"), count(to, "stripped"), "{kind}: {host} {b}");
        }
    }
}

#[test]
fn connections_of_a_pod_outlive_the_agent_of_its_host_where_others_need_no_lease() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let domain = bpf_fs.domain();
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let of_host = |settings: &str| settings.replace("\"dc\"", "\"cb\"");
    let Some(host) = Agent::start_with(&world, Place::SecondHop, &domain, of_host) else { return };
    let (mut to_b, mut at_b) = connect(&world, B4);
    let mut talk = || (0..200).for_each(|n| say_both_ways((&mut to_b, &mut at_b), &bytes(1 + n * 37, 3)));

    talk();
    let host = host.stop();
    talk();

    let a = a.stop();
    assert!(count(&a, "started") > count(&host, "stripped"), "A goes on: {a} {host}");
    remove(&world, Place::SecondHop);
    remove(&world, Place::A);
}

/// Sends datagrams in both directions, until the agents in these places count more than the given packets.
fn talk(world: &World, counts: &[(Place, &str, u64)]) {
    let (at_a, at_b) = udp_pair(world, A4, B4);
    let mut length = 0;
    let mut talk = |duration| {
        let since = Instant::now();
        while since.elapsed() < duration {
            deliver(&at_a, &at_b, &bytes(length % 1_000, 3));
            deliver(&at_b, &at_a, &bytes(length % 900, 4));
            length += 1;
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    talk(WHILE);
    for (place, outcome, least) in counts {
        talk_until(world, *place, has_more(outcome, *least), || talk(WHILE / 6));
    }
}

fn pods(kind: &'static str) -> Domain {
    // The pod's host asks from its own address.
    Domain { lease: true, host: SHORT.to_owned(), peers: "10.91.0.0/16 fd91::/16", ..Domain::new(kind, "md") }
}

/// Puts a bridge between the second hop and B.
pub(crate) fn put_behind_bridge(world: &World) {
    for command in [
        "link add br0 type bridge",
        "link set br0 up",
        "addr del 10.91.3.254/24 dev cd",
        "-6 addr del fd91:3::fe/64 dev cd",
        "link set cd master br0",
        "addr add 10.91.3.254/24 dev br0",
        "addr add fd91:3::fe/64 dev br0 nodad",
    ] {
        world.ip(Place::SecondHop, command);
    }
    world.await_up(Place::SecondHop, "br0");
}
