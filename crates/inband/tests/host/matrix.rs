//! Typical networks, every encapsulation and kinds of traffic: bytes arrive unchanged, nothing hangs, no
//! application gets INT, and filters work as before.

use std::net::{IpAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::foreign::{
    DENIED, Order, Side, attach_cls_bpf, attach_tcx, send_merged, set_priority, take_merged,
};
use crate::pods::put_behind_bridge;
use crate::quic::exchange_quic;
use crate::tally::{count, has_more, talk_until};
use crate::traffic::{PATIENCE, bytes, exchange_tcp, receive, udp_pair};
use crate::world::{A4, A6, B4, B6, Offloads, Place, SOURCE_NAT, World};

/// What is between the hosts, or on the device beside the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Plain,
    SmallerMtu,
    SourceNat,
    PortForward,
    DscpCleared,
    TwoPaths,
    Merging,
    PodBehindBridge,
    ForeignTcx,
    ClsBpf,
    Htb,
}

const NETWORKS: [Network; 11] = [
    Network::Plain,
    Network::SmallerMtu,
    Network::SourceNat,
    Network::PortForward,
    Network::DscpCleared,
    Network::TwoPaths,
    Network::Merging,
    Network::PodBehindBridge,
    Network::ForeignTcx,
    Network::ClsBpf,
    Network::Htb,
];

/// Encapsulations with the version of INT.
const KINDS: [(&str, &str); 4] = [("dscp", "2.1"), ("udp", "2.1"), ("udp-port", "2.1"), ("dscp", "host-0.5")];
/// Longer than the time to get a lease.
const WHILE: Duration = Duration::from_millis(1_200);
const FORWARDED: u16 = 8_080;
/// The address of A behind source NAT.
const TRANSLATED: &str = "10.91.2.1";

#[test]
fn networks_as_others_have_them_change_no_byte() {
    // Each network once; encapsulations and IP versions alternate.
    for (number, network) in NETWORKS.into_iter().enumerate() {
        try_out(network, KINDS[number % KINDS.len()], number % 3 == 1);
    }
}

#[test]
#[ignore = "takes long: cargo xtask long host"]
fn every_network_kind_and_version_changes_no_byte() {
    let only = std::env::var("NETWORK").ok();
    let is_meant = |network: &Network| only.as_ref().is_none_or(|only| *only == format!("{network:?}"));
    let meant: Vec<_> = NETWORKS.into_iter().filter(is_meant).collect();
    assert!(!meant.is_empty(), "NETWORK is one of {NETWORKS:?}");
    for network in meant {
        for kind in KINDS {
            for is_ipv6 in [false, true] {
                println!("{network:?} {kind:?} {}", if is_ipv6 { "IPv6" } else { "IPv4" });
                try_out(network, kind, is_ipv6);
            }
        }
    }
}

/// Sends all kinds of traffic over one network; prints a note and returns `None` if this machine does not
/// support it.
fn try_out(network: Network, (kind, version): (&'static str, &'static str), is_ipv6: bool) -> Option<()> {
    let world = World::new(Offloads::On)?;
    let (from, to) = if is_ipv6 { (A6, B6) } else { (A4, B4) };
    let what = format!("{network:?}, {kind}, {version}, {to}");
    let _kept = build(&world, network)?;
    let domain = Domain {
        lease: true,
        version,
        // Sockets here receive merged datagrams; one datagram per call gets INT.
        coverage: "slices",
        host: "lease_ms = 2000\n".to_owned(),
        peers: "10.91.0.0/16 fd91::/16",
        ..Domain::new(kind, "md")
    };
    let a = Agent::start(&world, Place::A, &domain)?;
    let (far, device) = match network {
        Network::PodBehindBridge => (Place::SecondHop, "\"cb\""),
        _ => (Place::B, "\"dc\""),
    };
    let b = Agent::start_with(&world, far, &domain, |settings| settings.replace("\"dc\"", device))?;

    let has_int = match network {
        // Only IPv4 is translated and remarked here, and Host-INT supports only IPv4.
        Network::SourceNat => is_ipv6 && version == "2.1",
        Network::DscpCleared => (is_ipv6 && version == "2.1") || kind != "dscp",
        _ => !is_ipv6 || version == "2.1",
    };

    let ends = pair(&world, network, from, to);
    exchange_datagrams(&ends, WHILE, &what);
    if has_int {
        let talk = || exchange_datagrams(&ends, WHILE / 6, &what);
        talk_until(&world, Place::A, has_more("started", 0), talk);
    }
    exchange_merged(pair(&world, network, from, to), &what);
    exchange_quic(&world, to, 300_000, &what);
    for length in [2_000, 300_000] {
        exchange_tcp(&world, to, length);
    }
    match network {
        Network::PortForward => use_forwarded_port(&world, to),
        Network::ForeignTcx | Network::ClsBpf if !is_ipv6 => assert_denied(&world, &what),
        Network::Htb => assert_class(&world, from, to, &what),
        _ => {}
    }

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(count(&a, "started") > 0, has_int, "{what}: {a} {b}");
    // With a smaller MTU routers drop some; elsewhere INT is removed from every packet that has it.
    if network != Network::SmallerMtu {
        assert_eq!(count(&a, "started"), count(&b, "stripped"), "{what}: {a} {b}");
    }
    assert_eq!((count(&b, "segments"), count(&a, "segments")), (0, 0), "{what}: {a} {b}");
    Some(())
}

/// Builds what is between the hosts; the result must be kept alive.
fn build(world: &World, network: Network) -> Option<Vec<std::os::fd::OwnedFd>> {
    let mut kept = Vec::new();
    match network {
        Network::Plain => {}
        Network::SmallerMtu => {
            for (place, device) in [(Place::FirstHop, "bc"), (Place::SecondHop, "cb")] {
                world.ip(place, &format!("link set {device} mtu 1400"));
            }
        }
        Network::SourceNat => {
            world.nft(Place::FirstHop, SOURCE_NAT).then_some(())?;
        }
        Network::PortForward => {
            let rules = "table inet forward { chain prerouting { type nat hook prerouting priority -100; \
                         ip daddr 10.91.3.1 tcp dport 8080 dnat ip to 10.91.2.1:8080; \
                         ip6 daddr fd91:3::1 tcp dport 8080 dnat ip6 to [fd91:2::1]:8080; } }";
            world.nft(Place::FirstHop, rules).then_some(())?;
        }
        Network::DscpCleared => {
            let rules =
                "table ip clear { chain forward { type filter hook forward priority 0; ip dscp set cs0; } }";
            world.nft(Place::FirstHop, rules).then_some(())?;
        }
        Network::TwoPaths => add_second_path(world),
        Network::Merging => {
            // A veth merges only if its peer does not segment.
            for (place, device, offload, state) in [
                (Place::A, "ab", "tso", "off"),
                (Place::FirstHop, "ba", "gro", "on"),
                (Place::FirstHop, "bc", "tso", "off"),
                (Place::SecondHop, "cb", "gro", "on"),
                (Place::SecondHop, "cd", "tso", "off"),
                (Place::B, "dc", "gro", "on"),
            ] {
                world.offload(place, device, offload, state);
            }
        }
        Network::PodBehindBridge => put_behind_bridge(world),
        Network::ForeignTcx => {
            for order in [Order::Before, Order::After] {
                kept.push(attach_tcx(world, Place::A, "ab", Side::Egress, order));
                kept.push(attach_tcx(world, Place::B, "dc", Side::Ingress, order));
            }
        }
        Network::ClsBpf => {
            world.tc(Place::A, "qdisc add dev ab clsact").then_some(())?;
            attach_cls_bpf(world, Place::A, "ab", Side::Egress);
        }
        Network::Htb => {
            world.tc(Place::A, "qdisc add dev ab root handle 1: htb default 20").then_some(())?;
            for class in ["1:10", "1:20"] {
                let class =
                    format!("class add dev ab parent 1: classid {class} htb rate 10gbit quantum 60000");
                assert!(world.tc(Place::A, &class));
            }
        }
    }
    Some(kept)
}

/// A second link between the hops, beside the first, for the flows that hash to it.
fn add_second_path(world: &World) {
    world.ip(Place::FirstHop, "link add bc2 type veth peer name cb2");
    world.ip(Place::FirstHop, &format!("link set cb2 netns {}", world.name(Place::SecondHop)));
    for (place, commands) in [
        (
            Place::FirstHop,
            ["addr add 10.91.4.1/24 dev bc2", "addr add fd91:4::1/64 dev bc2 nodad", "link set bc2 up"],
        ),
        (
            Place::SecondHop,
            ["addr add 10.91.4.2/24 dev cb2", "addr add fd91:4::2/64 dev cb2 nodad", "link set cb2 up"],
        ),
    ] {
        commands.iter().for_each(|command| world.ip(place, command));
    }
    world.await_up(Place::FirstHop, "bc2");
    world.await_up(Place::SecondHop, "cb2");
    for command in [
        "route replace 10.91.3.0/24 nexthop via 10.91.2.2 nexthop via 10.91.4.2",
        "-6 route replace fd91:3::/64 nexthop via fd91:2::2 nexthop via fd91:4::2",
    ] {
        world.ip(Place::FirstHop, command);
    }
    for name in ["net.ipv4.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_policy"] {
        world.sysctl(Place::FirstHop, name, "1");
    }
}

/// Sockets of A and B, each connected to the other as it sees it.
fn pair(world: &World, network: Network, from: &str, to: &str) -> (UdpSocket, UdpSocket) {
    let (at_a, at_b) = udp_pair(world, from, to);
    if network == Network::SourceNat && from == A4 {
        // The source port stays, because it is free there.
        at_b.connect((TRANSLATED, at_a.local_addr().unwrap().port())).unwrap();
    }
    (at_a, at_b)
}

/// Datagrams of all lengths, like those of DNS and QUIC.
fn exchange_datagrams((at_a, at_b): &(UdpSocket, UdpSocket), duration: Duration, what: &str) {
    let since = Instant::now();
    let mut length = 1;
    while since.elapsed() < duration {
        for (from, to) in [(at_a, at_b), (at_b, at_a)] {
            let said = bytes(length, 3);
            let mut heard = vec![0xa5; 1 << 16];
            from.send(&said).unwrap_or_else(|error| panic!("{what}: {error}"));
            let length = receive(to, &mut heard);
            assert!(heard[..length] == said, "{what}: {} bytes have changed", said.len());
        }
        length = (length * 3 + 7) % 1_250 + 1;
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Several datagrams per call, to a socket that also receives several.
fn exchange_merged((at_a, at_b): (UdpSocket, UdpSocket), what: &str) {
    take_merged(&at_b);
    let since = Instant::now();
    let mut round = 0;
    while since.elapsed() < WHILE {
        // Until the first has arrived, neighbours may still be resolved.
        if round > 0 {
            send_merged(&at_a, 700);
        }
        let said = bytes(if round > 0 { 9 * 700 + 33 } else { 700 }, round + 1);
        at_a.send(&said).unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut heard = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while heard.len() < said.len() {
            let length = receive(&at_b, &mut buffer);
            heard.extend_from_slice(&buffer[..length]);
        }
        assert!(heard == said, "{what}: merged datagrams have changed, or their order");
        round += 1;
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Uses a port forwarded to the first hop, which has no agent.
fn use_forwarded_port(world: &World, to: &str) {
    let behind = if to.contains(':') { "fd91:2::1" } else { "10.91.2.1" };
    let address: IpAddr = behind.parse().unwrap();
    let listener = world.inside(Place::FirstHop, || TcpListener::bind((address, FORWARDED)).unwrap());
    let destination: IpAddr = to.parse().unwrap();
    let connect = || std::net::TcpStream::connect((destination, FORWARDED)).unwrap();
    let mut at_a = world.inside(Place::A, connect);
    let (mut there, _) = listener.accept().unwrap();
    there.set_read_timeout(Some(PATIENCE)).unwrap();
    let since = Instant::now();
    while since.elapsed() < WHILE {
        let said = bytes(3_000, 3);
        std::io::Write::write_all(&mut at_a, &said).unwrap();
        assert!(crate::traffic::read(&mut there, said.len()) == said, "{to}: the bytes have changed");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Packets to a denied port do not arrive, and packets to another one do.
fn assert_denied(world: &World, what: &str) {
    for (port, arrives) in [(0x1000 | DENIED, false), (0x1002, true)] {
        let at_b = world.inside(Place::B, || UdpSocket::bind((B4, port)).unwrap());
        let patience = if arrives { PATIENCE } else { Duration::from_millis(200) };
        at_b.set_read_timeout(Some(patience)).unwrap();
        let at_a = world.inside(Place::A, || UdpSocket::bind((A4, 0)).unwrap());
        at_a.send_to(b"payload", (B4, port)).unwrap();
        let mut buffer = [0; 100];
        assert_eq!(at_b.recv(&mut buffer).is_ok(), arrives, "{what}: port {port}");
    }
}

/// Packets of a socket with a priority use the class of that name.
fn assert_class(world: &World, from: &str, to: &str, what: &str) {
    let (at_a, at_b) = udp_pair(world, from, to);
    set_priority(&at_a, 0x1_0010);
    for _ in 0..50 {
        crate::traffic::deliver(&at_a, &at_b, b"payload");
        std::thread::sleep(Duration::from_millis(5));
    }
    let output =
        world.command(Place::A, "tc").args(["-s", "class", "show", "dev", "ab", "classid", "1:10"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let sent = text
        .split("Sent ")
        .nth(1)
        .and_then(|rest| rest.split(' ').nth(2))
        .and_then(|n| n.parse::<u64>().ok());
    assert_eq!(sent, Some(50), "{what}: {text}");
}
