//! INT is sent only on paths from which the destination's own sink is proven to remove it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::foreign::{Side, attach_end_of_chain};
use crate::tally::{await_status, count, has_flow, has_more, status, talk_until};
use crate::traffic::{PATIENCE, bytes, deliver, exchange_tcp, say_both_ways, send_while_int_ends, udp_pair};
use crate::world::{A4, B4, Offloads, Place, SOURCE_NAT, World};

const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";
/// Longer than a lease and the time to get one.
const WHILE: Duration = Duration::from_millis(1800);
/// Of an anycast service.
const PORT: u16 = 4_053;

#[test]
fn int_starts_in_a_connection_behind_every_mark_once_it_is_proven() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some((a, b)) = agents(&world, &domain(kind)) else { return };

        converse_until(&world, Place::B, has_more("probe", 1));
        converse_until(&world, Place::A, |status| {
            has_flow("proven")(status) && has_more("started", 20)(status)
        });

        let (a, b) = (a.stop(), b.stop());
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

    converse_until(&world, Place::A, has_flow("probes_lost"));
    exchange_tcp(&world, B4, 300_000);

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
        converse_until(&world, Place::A, has_more("started", 20));
        let listener = world.inside(Place::FirstHop, || TcpListener::bind("10.91.2.1:8080").unwrap());
        let to = world.inside(Place::A, || TcpStream::connect("10.91.3.1:8080").unwrap());
        let (at, _) = listener.accept().unwrap();
        converse((to, at), WHILE);

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
fn an_anycast_address_of_a_host_without_agent_gets_int_only_in_flows_that_another_removes_it_from() {
    let Some(world) = World::new(Offloads::On) else { return };
    // Flows to 10.91.6.1 are shared between B and the second hop, which has no agent.
    for (place, command) in [
        (Place::B, "addr add 10.91.6.1/32 dev lo"),
        (Place::SecondHop, "addr add 10.91.6.1/32 dev lo"),
        (Place::FirstHop, "link add bc2 type veth peer name cd2"),
    ] {
        world.ip(place, command);
    }
    world.ip(Place::FirstHop, &format!("link set cd2 netns {}", world.name(Place::B)));
    for (place, command) in [
        (Place::FirstHop, "addr add 10.91.5.254/24 dev bc2"),
        (Place::FirstHop, "link set bc2 up"),
        (Place::B, "addr add 10.91.5.1/24 dev cd2"),
        (Place::B, "link set cd2 up"),
        // Answers leave by the device of their probe.
        (Place::B, "route add default via 10.91.5.254 dev cd2 metric 100"),
        (
            Place::FirstHop,
            "route add 10.91.6.1/32 nexthop via 10.91.2.2 dev bc nexthop via 10.91.5.1 dev bc2",
        ),
    ] {
        world.ip(place, command);
    }
    world.await_up(Place::FirstHop, "bc2");
    world.await_up(Place::B, "cd2");
    world.sysctl(Place::FirstHop, "net.ipv4.fib_multipath_hash_policy", "1");
    for place in [Place::A, Place::B] {
        world.sysctl(place, "net.ipv4.conf.all.rp_filter", "0");
    }
    let domain = Domain { peers: "10.91.0.0/16 fd91:{far}::/64", ..domain("dscp") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let with_both = |settings: &str| settings.replace("[\"dc\"]", "[\"dc\", \"cd2\"]");
    let Some(b) = Agent::start_with(&world, Place::B, &domain, with_both) else { return };
    let bind = |place| {
        world.inside(place, || {
            let socket = UdpSocket::bind(("10.91.6.1", PORT)).unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            socket
        })
    };
    let hosts = [bind(Place::B), bind(Place::SecondHop)];
    let new_flows = || {
        let flow = |_| {
            let socket = world.inside(Place::A, || UdpSocket::bind((A4, 0)).unwrap());
            socket.connect(("10.91.6.1", PORT)).unwrap();
            socket
        };
        (0..16).map(flow).collect::<Vec<_>>()
    };

    let since = Instant::now();
    let mut arrived = [0; 2];
    // A veth keeps the hash of the packets' socket, by which the first hop chooses the path; probes have
    // another. So a probe takes the path of its flow by chance, and with bad luck no flow is proven.
    while since.elapsed() < PATIENCE && count(&status(&world, Place::A), "started") <= 20 {
        let (flows, since) = (new_flows(), Instant::now());
        while since.elapsed() < WHILE {
            flows.iter().for_each(|flow| assert_eq!(flow.send(b"payload").unwrap(), 7));
            for (host, arrived) in hosts.iter().zip(&mut arrived) {
                let mut buffer = [0; 2_000];
                while let Ok(length) = host.recv(&mut buffer) {
                    assert_eq!(&buffer[..length], b"payload");
                    *arrived += 1;
                }
            }
        }
    }

    let (a, b) = (a.stop(), b.stop());
    assert!(arrived.iter().all(|arrived| *arrived > 20), "both hosts have flows: {arrived:?}");
    assert!(count(&a, "started") > 20 && count(&a, "no_lease") > 20, "{a} {b}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn a_foreign_program_that_ends_the_chain_in_front_of_the_sink_gets_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &domain("dscp")) else { return };
    let _foreign = attach_end_of_chain(&world, Place::B, "dc", Side::Ingress);

    // The other way is free.
    converse_until(&world, Place::B, has_more("started", 20));
    exchange_tcp(&world, B4, 300_000);

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(count(&a, "started"), 0, "{a} {b}");
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
        talk_until(&world, Place::A, has_flow("only_probes_arrive"), || talk(&world, B4, WHILE));
        assert_no_int(a, b);
    }
}

#[test]
fn nat_that_does_not_look_at_checksums_gets_no_int_and_hangs_nothing() {
    // Such a router translates probes like other packets of their flow.
    let forward = "table ip forward { chain prerouting { type nat hook prerouting priority -100; \
                   ip daddr 10.91.3.1 tcp dport 8080 dnat to 10.91.2.1:8080; } }";
    for (kind, rules) in [("dscp", SOURCE_NAT), ("udp", SOURCE_NAT), ("dscp", forward), ("udp", forward)] {
        let Some(world) = World::new(Offloads::On) else { return };
        if !world.nft(Place::FirstHop, rules) {
            return;
        }
        world.sysctl(Place::FirstHop, "net.netfilter.nf_conntrack_checksum", "0");
        let domain = Domain { peers: "10.91.0.0/16 fd91:{far}::/64", ..domain(kind) };
        let Some((a, b)) = agents(&world, &domain) else { return };

        if rules == SOURCE_NAT {
            talk(&world, B4, WHILE);
            exchange_tcp(&world, B4, 300_000);
        } else {
            let listener = world.inside(Place::FirstHop, || TcpListener::bind("10.91.2.1:8080").unwrap());
            let to = world.inside(Place::A, || TcpStream::connect("10.91.3.1:8080").unwrap());
            let (at, _) = listener.accept().unwrap();
            converse((to, at), WHILE);
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
        let talk = |duration| {
            let since = Instant::now();
            while since.elapsed() < duration {
                deliver(&at_a, &at_b, b"payload");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        talk(WHILE);
        talk_until(&world, Place::A, has_more("started", 20), || talk(WHILE / 6));

        world.ip(Place::FirstHop, "addr add 10.91.3.1/32 dev lo");
        let moved = world.inside(Place::FirstHop, || UdpSocket::bind(to).unwrap());
        let arrived = send_while_int_ends(&at_a, &moved, Instant::now(), 3 * WHILE);

        let (a, b) = (a.stop(), b.stop());
        let last = arrived.last_with_int;
        assert!(last < Duration::from_millis(1100), "{kind}: no longer than a lease: {last:?} {a}");
        if reaches_sockets {
            let of_both = count(&b, "stripped") + arrived.with_int;
            assert_eq!(count(&a, "started"), of_both, "{kind}: all are counted");
        } else {
            assert_eq!(arrived.with_int, 0, "{kind}: nothing with INT reaches a socket");
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
fn int_of_strangers_opens_no_way_through_a_firewall() {
    let Some(world) = World::new(Offloads::On) else { return };
    // The firewall in front of B does not see the port behind a new UDP header.
    let rules =
        "table inet firewall { chain forward { type filter hook forward priority 0; udp dport 4161 drop; } }";
    if !world.nft(Place::SecondHop, rules) {
        return;
    }
    let stranger = Domain { lease: false, ..domain("udp") };
    let Some(a) = Agent::start(&world, Place::A, &stranger) else { return };
    let other_peers = Domain { peers: "10.99.0.0/16", ..domain("udp") };
    let Some(b) = Agent::start(&world, Place::B, &other_peers) else { return };
    let denied = world.inside(Place::B, || UdpSocket::bind((B4, 4_161)).unwrap());
    denied.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let at_a = world.inside(Place::A, || UdpSocket::bind((A4, 0)).unwrap());

    (0..10).for_each(|_| assert_eq!(at_a.send_to(b"payload", (B4, 4_161)).unwrap(), 7));

    assert!(denied.recv(&mut [0; 2_000]).is_err(), "the firewall denies this port");
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stranger"), count(&b, "stripped")), (10, 10, 0), "{a} {b}");
    assert_eq!(b["reports"]["sent"], 0, "{b}");
}

#[test]
fn forged_syns_cause_no_probe_and_keep_no_lease_from_others() {
    let Some(world) = World::new(Offloads::On) else { return };
    // Sources behind the second hop that never hear of the answers to their SYNs.
    let rules = "table ip forged { chain input { type filter hook input priority 0; \
                 ip daddr 10.91.200.0/22 drop; } }";
    if !world.nft(Place::SecondHop, rules) {
        return;
    }
    world.ip(Place::SecondHop, "route add local 10.91.200.0/22 dev lo");
    let domain = Domain { peers: "10.91.0.0/16", ..domain("dscp") };
    let Some((a, b)) = agents(&world, &domain) else { return };
    let listener = world.inside(Place::B, || TcpListener::bind((B4, 0)).unwrap());
    let address = listener.local_addr().unwrap();

    let forged: Vec<_> = world.inside(Place::SecondHop, || {
        let hosts = (0..4_u8).flat_map(|third| (1..=250).map(move |last| [10, 91, 200 + third, last]));
        hosts.map(|source| begin_connection(source.into(), address)).collect()
    });
    for place in [Place::A, Place::B] {
        converse_until(&world, place, has_more("started", 20));
    }
    let status = converse_until(&world, Place::B, has_flow("proven"));
    assert!(!status.to_string().contains("10.91.20"), "no forged address is asked: {status}");
    drop(forged);
    let (a, b) = (a.stop(), b.stop());
    assert!(count(&b, "no_lease") > 200, "B has answered the SYNs: {b}");
    for (from, to) in [(&a, &b), (&b, &a)] {
        assert!(count(from, "started") > 20, "{a} {b}");
        assert_eq!(count(from, "started"), count(to, "stripped"), "{a} {b}");
    }
}

#[test]
fn who_is_no_peer_gets_no_lease() {
    let Some(world) = World::new(Offloads::On) else { return };
    let other_peers = Domain { peers: "10.99.0.0/16", ..domain("dscp") };
    let Some(a) = Agent::start(&world, Place::A, &domain("dscp")) else { return };
    let Some(b) = Agent::start(&world, Place::B, &other_peers) else { return };

    talk(&world, B4, WHILE);

    await_status(&world, Place::A, |status| status["flows"][0]["state"] == "refused");
    assert_no_int(a, b);
}

#[test]
fn a_host_without_agent_sees_only_so_many_probes_and_all_are_harmless() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some(a) = Agent::start(&world, Place::A, &domain(kind)) else { return };
        let since = Instant::now();

        std::thread::scope(|scope| {
            for _ in 0..30 {
                scope.spawn(|| talk(&world, B4, WHILE));
            }
        });

        await_status(&world, Place::A, |status| has_flow("no_answer")(status) && has_flow("limited")(status));
        // Half of a minute's at once, and the other half over a minute.
        let most = 10 + since.elapsed().as_secs() / 6 + 1;
        let a = a.stop();
        assert_eq!(count(&a, "started"), 0, "{kind}: {a}");
        let probes = a["probes"]["sent"].as_u64().unwrap();
        assert!((1..=most).contains(&probes), "{kind}, at most {most}: {a}");
    }
}

/// Sends a SYN from `source`, and does not wait for its answer.
fn begin_connection(source: Ipv4Addr, to: SocketAddr) -> socket2::Socket {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.bind(&SocketAddr::new(source.into(), 0).into()).unwrap();
    // The connection is in progress.
    let _ = socket.connect(&to.into());
    socket
}

fn domain(kind: &'static str) -> Domain {
    Domain { lease: true, host: SHORT.to_owned(), ..Domain::new(kind, "md") }
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, domain)?, Agent::start(world, Place::B, domain)?))
}

/// Exchanges data in both directions over a connection from A to `address` of B for a while.
fn talk(world: &World, address: &str, duration: Duration) {
    converse(crate::traffic::connect(world, address), duration);
}

/// The same with B for a while, and until the status of an agent is as `is_so` says.
#[track_caller]
fn converse_until(world: &World, place: Place, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut ends = crate::traffic::connect(world, B4);
    converse_on(&mut ends, WHILE);
    talk_until(world, place, is_so, || converse_on(&mut ends, WHILE / 6))
}

/// Sends messages of many lengths in both directions; panics unless all arrive unchanged.
fn converse(mut ends: (TcpStream, TcpStream), duration: Duration) {
    for end in [&ends.0, &ends.1] {
        end.set_read_timeout(Some(PATIENCE)).unwrap();
    }
    converse_on(&mut ends, duration);
}

fn converse_on((to, at): &mut (TcpStream, TcpStream), duration: Duration) {
    let since = Instant::now();
    let (mut length, mut messages) = (1, 0);
    // On a busy machine few are sent in a while.
    while since.elapsed() < duration || messages < 15 {
        say_both_ways((to, at), &bytes(length, 5));
        length = (length * 3 + 7) % 20_000 + 1;
        messages += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn assert_no_int(a: Agent, b: Agent) {
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "started")), (0, 0), "{a} {b}");
    assert!(count(&a, "no_lease") > 20, "{a}");
}
