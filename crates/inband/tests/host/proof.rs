//! INT is sent only on paths from which the destination's own sink is proven to remove it.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::foreign::{Side, attach_end_of_chain};
use crate::traffic::{PATIENCE, bytes, deliver, exchange_tcp, read, udp_pair};
use crate::world::{A4, B4, Offloads, Place, SOURCE_NAT, World};

const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";
/// Longer than a lease and the time to get one.
const WHILE: Duration = Duration::from_millis(1800);

#[test]
fn int_starts_in_a_connection_behind_every_mark_once_it_is_proven() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };

        talk(&world, B4, WHILE);

        let status = status(&world, Place::A);
        assert!(status["states"]["proven"].as_u64().unwrap() >= 1, "{kind}: {status}");
        let (a, b) = (a.stop(), b.stop());
        assert!(count(&a, "started") > 20, "{kind}: {a}");
        assert!(count(&b, "probe") > 1, "{kind}: probes renew the lease: {b}");
        assert_eq!(count(&a, "started"), count(&b, "stripped"), "{kind}: {a} {b}");
        assert!(b["drops"].as_object().unwrap().is_empty(), "{kind}: a probe is no loss: {b}");
    }
}

#[test]
fn a_router_that_clears_the_dscp_gets_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let rules = "table ip clear { chain forward { type filter hook forward priority 0; ip dscp set cs0; } }";
    if !world.nft(Place::FirstHop, rules) {
        return;
    }
    let Some((a, b)) = agents(&world, &domain("dscp")) else { return };

    talk(&world, B4, WHILE);
    exchange_tcp(&world, B4, 300_000);

    let status = status(&world, Place::A);
    assert!(status["states"]["probes_lost"].as_u64().unwrap() >= 1, "{status}");
    assert_no_int(a, b);
}

#[test]
fn a_port_forward_to_a_host_without_agent_gets_no_int() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let rules = "table ip forward { chain prerouting { type nat hook prerouting priority -100; \
                     ip daddr 10.91.3.1 tcp dport 8080 dnat to 10.91.2.1:8080; } }";
        if !world.nft(Place::FirstHop, rules) {
            return;
        }
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };

        // The host itself gets INT, and the target of the forwarded port does not.
        talk(&world, B4, WHILE);
        let listener = world.inside(Place::FirstHop, || TcpListener::bind("10.91.2.1:8080").unwrap());
        let to = world.inside(Place::A, || TcpStream::connect("10.91.3.1:8080").unwrap());
        let (at, _) = listener.accept().unwrap();
        converse(to, at, WHILE);

        let (a, b) = (a.stop(), b.stop());
        assert!(count(&a, "started") > 20, "{kind}: {a}");
        assert_eq!(count(&a, "started"), count(&b, "stripped"), "{kind}: {a} {b}");
    }
}

#[test]
fn a_second_way_in_by_a_device_that_is_not_listed_gets_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    world.ip(Place::SecondHop, "link add cd2 type veth peer name dc2");
    world.ip(Place::SecondHop, &format!("link set dc2 netns {}", world.name(Place::B)));
    for (place, command) in [
        (Place::SecondHop, "addr add 10.91.5.254/24 dev cd2"),
        (Place::SecondHop, "link set cd2 up"),
        (Place::B, "addr add 10.91.5.1/24 dev dc2"),
        (Place::B, "link set dc2 up"),
        (Place::B, "addr add 10.91.6.1/32 dev lo"),
        (Place::FirstHop, "route add 10.91.6.1/32 via 10.91.2.2"),
        (
            Place::SecondHop,
            "route add 10.91.6.1/32 nexthop via 10.91.3.1 dev cd nexthop via 10.91.5.1 dev cd2",
        ),
    ] {
        world.ip(place, command);
    }
    world.await_up(Place::SecondHop, "cd2");
    world.await_up(Place::B, "dc2");
    world.sysctl(Place::SecondHop, "net.ipv4.fib_multipath_hash_policy", "1");
    for place in [Place::A, Place::B] {
        world.sysctl(place, "net.ipv4.conf.all.rp_filter", "0");
    }
    let domain = Domain { peers: "10.91.0.0/16 fd91:{far}::/64", ..domain("dscp") };
    let Some((a, b)) = agents(&world, &domain) else { return };

    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| talk(&world, "10.91.6.1", WHILE));
        }
    });

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
    assert!(count(&a, "no_lease") > 20, "{a}");
}

#[test]
fn a_foreign_program_that_ends_the_chain_in_front_of_the_sink_gets_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &domain("dscp")) else { return };
    let _foreign = attach_end_of_chain(&world, Place::B, "dc", Side::Ingress);

    talk(&world, B4, WHILE);
    exchange_tcp(&world, B4, 300_000);

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(count(&a, "started"), 0, "{a} {b}");
    assert!(count(&b, "started") > 20, "the other way is free: {b}");
    assert_eq!(count(&b, "started"), count(&a, "stripped"), "{a} {b}");
}

#[test]
fn source_nat_gets_no_int_and_hangs_nothing() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        if !world.nft(Place::FirstHop, SOURCE_NAT) {
            return;
        }
        let domain = Domain { peers: "10.91.0.0/16 fd91:{far}::/64", ..domain(kind) };
        let Some((a, b)) = agents(&world, &domain) else { return };

        exchange_tcp(&world, B4, 300_000);
        // A probe may be lost, and the next comes a second later.
        let since = Instant::now();
        loop {
            talk(&world, B4, WHILE);
            let status = status(&world, Place::A);
            if status["states"]["only_probes_arrive"].as_u64().unwrap() >= 1 {
                break;
            }
            assert!(since.elapsed() < PATIENCE, "{kind}: {status}");
        }
        assert_no_int(a, b);
    }
}

#[test]
fn an_address_that_moves_to_a_host_without_agent_gets_int_for_no_longer_than_a_lease() {
    for (kind, reaches_sockets) in [("dscp", true), ("udp", false)] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        let to = at_b.local_addr().unwrap();
        let since = Instant::now();
        while since.elapsed() < WHILE {
            deliver(&at_a, &at_b, b"payload");
            std::thread::sleep(Duration::from_millis(2));
        }

        world.ip(Place::FirstHop, "addr add 10.91.3.1/32 dev lo");
        let moved = world.inside(Place::FirstHop, || UdpSocket::bind(to).unwrap());
        moved.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let since = Instant::now();
        let (mut with_int, mut last) = (0, Duration::ZERO);
        let mut arrived = 0;
        while since.elapsed() < 3 * WHILE {
            let _ = at_a.send(b"payload");
            let mut buffer = [0; 2000];
            if let Ok(length) = moved.recv(&mut buffer) {
                arrived += 1;
                if &buffer[..length] != b"payload" {
                    (with_int, last) = (with_int + 1, since.elapsed());
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }

        let (a, b) = (a.stop(), b.stop());
        assert!(last < Duration::from_millis(1100), "{kind}: no longer than a lease: {last:?} {a}");
        assert!(arrived > 100, "{kind}: {arrived}");
        if reaches_sockets {
            assert_eq!(count(&a, "started"), count(&b, "stripped") + with_int, "{kind}: all are counted");
        } else {
            assert_eq!(with_int, 0, "{kind}: nothing with INT reaches a socket");
        }
    }
}

#[test]
fn int_of_strangers_is_left_alone_and_counted() {
    let Some(world) = World::new(Offloads::On) else { return };
    let stranger = Domain { lease: false, ..domain("dscp") };
    let Some(a) = Agent::start(&world, Place::A, &stranger) else { return };
    let other_peers = Domain { peers: "10.99.0.0/16", ..domain("dscp") };
    let Some(b) = Agent::start(&world, Place::B, &other_peers) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    at_a.send(b"payload").unwrap();
    let mut buffer = [0; 2000];
    let length = at_b.recv(&mut buffer).unwrap();

    assert!(length > 7 && buffer[..length].ends_with(b"payload"), "as its sender wants it");
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stranger"), count(&b, "stripped")), (1, 1, 0), "{a} {b}");
    assert_eq!(b["reports"]["sent"], 0, "{b}");
}

#[test]
fn who_is_no_peer_gets_no_lease() {
    let Some(world) = World::new(Offloads::On) else { return };
    let other_peers = Domain { peers: "10.99.0.0/16", ..domain("dscp") };
    let Some(a) = Agent::start(&world, Place::A, &domain("dscp")) else { return };
    let Some(b) = Agent::start(&world, Place::B, &other_peers) else { return };

    talk(&world, B4, WHILE);

    let status = status(&world, Place::A);
    assert_eq!(status["flows"][0]["state"], "refused", "{status}");
    assert_no_int(a, b);
}

#[test]
fn a_host_without_agent_sees_only_so_many_probes_and_all_are_harmless() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some(a) = Agent::start(&world, Place::A, &domain(kind)) else { return };

        std::thread::scope(|scope| {
            for _ in 0..30 {
                scope.spawn(|| talk(&world, B4, WHILE));
            }
        });

        let status = status(&world, Place::A);
        assert!(status["states"]["no_answer"].as_u64().unwrap() >= 1, "{kind}: {status}");
        assert!(status["states"]["limited"].as_u64().unwrap() >= 1, "{kind}: {status}");
        let a = a.stop();
        assert_eq!(count(&a, "started"), 0, "{kind}: {a}");
        let probes = a["probes"]["sent"].as_u64().unwrap();
        assert!((1..=11).contains(&probes), "{kind}: half of a minute's at once: {a}");
    }
}

fn domain(kind: &'static str) -> Domain {
    Domain { lease: true, host: SHORT.to_owned(), ..Domain::new(kind, "md") }
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, domain)?, Agent::start(world, Place::B, domain)?))
}

/// Exchanges data in both directions over a connection from A to `address` of B for a while.
fn talk(world: &World, address: &str, duration: Duration) {
    let (to, at) = crate::traffic::connect(world, address);
    converse(to, at, duration);
}

/// Sends messages of many lengths in both directions; panics unless all arrive unchanged.
fn converse(mut to: TcpStream, mut at: TcpStream, duration: Duration) {
    use std::io::Write;
    for end in [&to, &at] {
        end.set_read_timeout(Some(PATIENCE)).unwrap();
    }
    let since = Instant::now();
    let mut length = 1;
    while since.elapsed() < duration {
        let said = bytes(length, 5);
        to.write_all(&said).unwrap();
        assert!(read(&mut at, length) == said, "{length} bytes have changed");
        at.write_all(&said).unwrap();
        assert!(read(&mut to, length) == said, "{length} bytes have changed");
        length = (length * 3 + 7) % 20_000 + 1;
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn assert_no_int(a: Agent, b: Agent) {
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "started")), (0, 0), "{a} {b}");
    assert!(count(&a, "no_lease") > 20, "{a}");
}

/// The output of `inband host status` beside a running agent, at most one second old.
fn status(world: &World, place: Place) -> Value {
    let mut command = world.command(place, env!("CARGO_BIN_EXE_inband"));
    let output = command.args(["host", "status", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn count(tally: &Value, outcome: &str) -> u64 {
    tally["outcomes"][outcome].as_u64().unwrap()
}
