//! The drop program reports the right flow, reason and number of what this kernel drops.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::net::{SocketAddr, UdpSocket};

use inband_host::HostInt;
use inband_host::drops::{DropCount, DropOutcome, DroppedPacket, Drops, InterfaceIds, Namespace};
use inband_node::config::{EncapsulationKind, InterfaceConfig, NodeConfig, WatchEntry};
use inband_node::{Node, Outcome, Passage};
use inband_testkit::packet::packet;
use inband_testkit::path::send;
use inband_wire::FiveTuple;
use inband_wire::drop_reason::Table;
use inband_wire::layers::Link;
use inband_wire::report::{Drop, ReportGroup};

use support::Space;

/// The offset from the monotonic clock to the time in the tests' reports.
const CLOCK_OFFSET: u64 = 1_700_000_000_000_000_000;

fn watching(entries: &[&str]) -> HostInt {
    let mut node = NodeConfig::new(7);
    node.watchlist = entries.iter().map(|entry| toml::from_str::<WatchEntry>(entry).unwrap()).collect();
    HostInt { ingress: 1, egress: 2, clock_offset: CLOCK_OFFSET, ..HostInt::of(node) }
}

fn listening(host: &HostInt, space: &Space) -> Drops {
    let mut drops = Drops::load(host, &[Namespace::at(&space.path()).unwrap()]).unwrap();
    drops.attach().unwrap();
    drops
}

/// Sends `times` packets with this payload from the namespace; returns the socket's address.
fn udp(space: &Space, to: &str, ttl: u32, bytes: &[u8], times: usize) -> SocketAddr {
    let to: SocketAddr = to.parse().unwrap();
    space.inside(move || {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).unwrap();
        socket.set_ttl(ttl).unwrap();
        for _ in 0..times {
            // A full queue is an error of the call.
            let _ = socket.send_to(bytes, to);
        }
        socket.local_addr().unwrap()
    })
}

/// The namespaces of a sender and of the router that is its default; device `in0` leads to it there.
fn sender_and_router() -> Option<(Space, Space)> {
    let (sender, router) = (Space::new()?, Space::new()?);
    sender.ip(&format!("link add out0 type veth peer name in0 netns {}", router.name()));
    for (space, device, address) in [(&sender, "out0", "10.9.0.1/24"), (&router, "in0", "10.9.0.2/24")] {
        space.sysctl(&format!("net.ipv6.conf.{device}.disable_ipv6"), "1");
        space.ip(&format!("addr add {address} dev {device}"));
        space.ip(&format!("link set {device} up"));
    }
    let address = |space: &Space, device: &str| {
        let path = format!("/sys/class/net/{device}/address");
        space.run("cat", &path).trim().to_owned()
    };
    let (to, from) = (address(&router, "in0"), address(&sender, "out0"));
    sender.ip(&format!("neigh replace 10.9.0.2 lladdr {to} dev out0 nud permanent"));
    router.ip(&format!("neigh replace 10.9.0.1 lladdr {from} dev in0 nud permanent"));
    sender.ip("route add default via 10.9.0.2");
    router.sysctl("net.ipv4.ip_forward", "1");
    router.ip("link add far0 type veth peer name far1");
    router.ip("addr add 10.53.0.1/24 dev far0");
    router.ip("link set far0 up");
    router.ip("link set far1 up");
    sender.await_up("out0");
    for device in ["in0", "far0"] {
        router.await_up(device);
    }
    Some((sender, router))
}

fn index(space: &Space, device: &str) -> u32 {
    space.run("cat", &format!("/sys/class/net/{device}/ifindex")).trim().parse().unwrap()
}

fn packets(drops: &mut Drops) -> Vec<DroppedPacket> {
    std::iter::from_fn(|| drops.poll_packet()).collect()
}

fn one(counts: Vec<DropCount>) -> DropCount {
    let [count] = <[DropCount; 1]>::try_from(counts).unwrap();
    count
}

/// The identifiers of the router's interfaces.
struct Ids {
    near: u32,
    far: u32,
}

impl InterfaceIds for Ids {
    fn id(&self, _: Namespace, device: u32) -> Option<u16> {
        [(self.near, 11), (self.far, 12)].iter().find(|(known, _)| *known == device).map(|(_, id)| *id)
    }

    fn host(&self) -> u16 {
        1
    }
}

fn datagrams(node: &mut Node) -> Vec<Vec<u8>> {
    node.flush_reports();
    std::iter::from_fn(|| Some(node.poll_output()?.into_report()?.payload.to_vec())).collect()
}

#[test]
fn a_packet_to_a_closed_port_has_no_socket() {
    let Some(space) = Space::new() else { return };
    let mut drops = listening(&watching(&["destination = \"127.0.0.9\"", "source = \"::1\""]), &space);
    for (to, source) in [("127.0.0.9:4000", "127.0.0.1"), ("[::1]:4000", "::1")] {
        let from = udp(&space, to, 64, b"payload", 3);

        let told = packets(&mut drops);
        assert_eq!(told.len(), 1, "{to}: {told:?}");
        let loopback = 1;
        let (reason, place) = (&*told[0].reason, (told[0].device, told[0].ingress_device));
        assert_eq!((reason, told[0].code, place), ("NO_SOCKET", 190, (loopback, loopback)));
        assert!(told[0].time > CLOCK_OFFSET && told[0].packet.ends_with(b"payload"));
        assert_eq!(usize::try_from(told[0].length).unwrap(), told[0].packet.len());

        assert_eq!(drops.take_counts().unwrap(), [], "they are of the interval at hand");
        let count = one(drops.take_counts().unwrap());
        let to: SocketAddr = to.parse().unwrap();
        let flow = FiveTuple {
            source: source.parse().unwrap(),
            destination: to.ip(),
            protocol: 17,
            source_port: from.port(),
            destination_port: to.port(),
        };
        assert_eq!((count.flow, count.code, count.device), (flow, 190, loopback));
        assert_eq!((count.packets, count.segments, count.bytes), (3, 3, 3 * u64::from(told[0].length)));
        assert!(count.first == told[0].time && count.last > count.first);
    }
}

#[test]
fn a_router_says_why_it_does_not_forward() {
    let Some((sender, router)) = sender_and_router() else { return };
    for (kind, prefix) in [("blackhole", 50), ("unreachable", 51), ("prohibit", 52)] {
        router.ip(&format!("route add {kind} 10.{prefix}.0.0/16"));
    }
    let mut drops = listening(&watching(&["source = \"10.9.0.1\""]), &router);
    let in0 = index(&router, "in0");
    let cases = [
        ("10.50.0.1:9", 64, "routing-v4-drop"),
        ("10.51.0.1:9", 64, "route-miss"),
        ("10.52.0.1:9", 64, "acl-deny"),
        ("10.54.0.1:9", 64, "route-miss"),
        ("10.53.0.9:9", 1, "ttl-zero"),
        ("10.9.0.2:9", 64, "no-socket"),
    ];
    for (to, ttl, name) in cases {
        let from = udp(&sender, to, ttl, b"payload", 2);

        let told = packets(&mut drops);
        assert_eq!(told.len(), 1, "{to}: {told:?}");
        assert_eq!((told[0].device, told[0].ingress_device), (in0, in0));
        drops.take_counts().unwrap();
        let count = one(drops.take_counts().unwrap());
        let flow =
            (count.flow.source_port, SocketAddr::from((count.flow.destination, count.flow.destination_port)));
        assert_eq!(flow, (from.port(), to.parse().unwrap()));
        assert_eq!((count.packets, count.code), (2, told[0].code));
        assert_eq!(Table::default().get(told[0].code).unwrap().name, name, "{to}: {}", told[0].reason);
    }
}

#[test]
fn what_is_not_watched_or_elsewhere_is_not_told() {
    let (Some(space), Some(other)) = (Space::new(), Space::new()) else { return };
    let watched = "destination_port = \"4000-4001\"\nprotocol = \"udp\"";
    let not_for_drops = "destination_port = 4002\naction = [\"start-int\", \"report-flow\"]";
    let mut drops = listening(&watching(&[watched, not_for_drops]), &space);

    udp(&space, "127.0.0.1:3999", 64, b"", 1);
    udp(&space, "127.0.0.1:4002", 64, b"", 1);
    udp(&other, "127.0.0.1:4000", 64, b"", 1);

    assert_eq!((packets(&mut drops), drops.finish().unwrap()), (vec![], vec![]));
    // Each packet causes an ICMP message, which the sender's socket receives.
    assert_eq!(drops.count(DropOutcome::NotWatched).unwrap(), 2);
    assert!(drops.count(DropOutcome::Elsewhere).unwrap() >= 1);
    assert_eq!(drops.count(DropOutcome::Counted).unwrap(), 0);
}

#[test]
fn drops_of_several_namespaces_are_told_apart_though_their_devices_have_one_index() {
    let (Some(one), Some(other), Some(third)) = (Space::new(), Space::new(), Space::new()) else { return };
    let namespace = |space: &Space| Namespace::at(&space.path()).unwrap();
    let host = watching(&["destination_port = 4000"]);
    let mut drops = Drops::load(&host, &[namespace(&one), namespace(&other)]).unwrap();
    drops.attach().unwrap();
    for (space, times) in [(&one, 1), (&other, 2), (&third, 3)] {
        udp(space, "127.0.0.1:4000", 64, b"", times);
    }

    let places: Vec<_> = packets(&mut drops).iter().map(|packet| (packet.namespace, packet.device)).collect();
    assert_eq!(places, [(namespace(&one), 1), (namespace(&other), 1)], "each has its loopback");
    drops.take_counts().unwrap();
    let mut counts: Vec<_> =
        drops.take_counts().unwrap().iter().map(|count| (count.namespace, count.packets)).collect();
    counts.sort_unstable();
    let mut expected = [(namespace(&one), 1), (namespace(&other), 2)];
    expected.sort_unstable();
    assert_eq!(counts, expected);

    // Containers come and go.
    drops.look_at(&[namespace(&third)]).unwrap();
    for space in [&one, &other, &third] {
        udp(space, "127.0.0.1:4000", 64, b"", 1);
    }
    let places: Vec<_> = packets(&mut drops).iter().map(|packet| packet.namespace).collect();
    assert_eq!(places, [namespace(&third)]);
    let many: Vec<_> = (0..257).map(|_| namespace(&one)).collect();
    drops.look_at(&many).unwrap();
}

#[test]
fn the_watchlist_can_change_and_after_the_end_nothing_is_heard() {
    let Some(space) = Space::new() else { return };
    let mut drops = listening(&watching(&["destination_port = 4000"]), &space);
    drops.configure(&watching(&["destination_port = 4001"])).unwrap();
    udp(&space, "127.0.0.1:4000", 64, b"", 1);
    udp(&space, "127.0.0.1:4001", 64, b"", 1);
    assert_eq!(one(drops.finish().unwrap()).flow.destination_port, 4001);

    udp(&space, "127.0.0.1:4001", 64, b"", 1);
    assert_eq!(drops.finish().unwrap(), []);
}

#[test]
fn a_full_queue_is_counted_as_the_queue_counts_itself() {
    let Some((sender, router)) = sender_and_router() else { return };
    sender.tc("qdisc add dev out0 root tbf rate 200kbit burst 3000 limit 6000");
    let mut drops = listening(&watching(&["source = \"10.9.0.1\""]), &sender);
    let out0 = index(&sender, "out0");

    udp(&sender, "10.9.0.2:9", 64, &[0xa5; 1000], 400);

    let counts = drops.finish().unwrap();
    assert!(counts.iter().all(|count| count.code == Table::default().tail_drop() && count.device == out0));
    let counted: u64 = counts.iter().map(|count| count.packets).sum();
    let said = sender.tc("-s qdisc show dev out0");
    let dropped = said.split("dropped ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert_eq!(counted, dropped.parse::<u64>().unwrap(), "{said}");
    assert!(counted > 300, "the queue holds few of 400 packets: {said}");
    let told = packets(&mut drops);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].device, told[0].ingress_device, told[0].length), (out0, 0, 1028));
    drop(router);
}

#[test]
fn the_flow_of_a_packet_with_int_is_the_one_before_int() {
    let Some(space) = Space::new() else { return };
    let mut host = watching(&["source = \"127.0.0.1\""]);
    host.node.encapsulation.kind = Some(EncapsulationKind::UdpPort);
    host.node.interfaces =
        vec![InterfaceConfig { edge: true, ..InterfaceConfig::new(1) }, InterfaceConfig::new(2)];
    let mut source = Node::new(&host.node).unwrap();
    let plain = packet().addresses(&[127, 0, 0, 1], &[127, 0, 0, 1]).udp(5, 4000).payload(b"payload").build();
    let passage = Passage { ingress: 1, egress: 2, ..Passage::default() };
    let marked = send(&mut source, &plain, &passage).unwrap();
    // To a port that is not watched; INT indicates that the packet is of a watched flow.
    host.node.watchlist =
        vec![WatchEntry { destination_port: Some("1".parse().unwrap()), ..WatchEntry::default() }];
    let mut drops = listening(&host, &space);

    let behind_udp = &marked[14 + 20 + 8..];
    udp(&space, "127.0.0.1:33122", 64, behind_udp, 1);

    assert_eq!(one(drops.finish().unwrap()).flow.destination_port, 4000);
}

#[test]
fn what_cannot_be_held_is_counted() {
    let Some(space) = Space::new() else { return };
    let mut drops = listening(&watching(&["source = \"127.0.0.1\""]), &space);
    let (flows, held) = (17_000, 16_384);
    space.inside(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for port in (1..u16::MAX).filter(|port| *port != socket.local_addr().unwrap().port()).take(flows) {
            let _ = socket.send_to(b"", ("127.0.0.1", port));
        }
    });

    let count = |outcome| usize::try_from(drops.count(outcome).unwrap()).unwrap();
    assert_eq!((count(DropOutcome::Counted), count(DropOutcome::NotHeld)), (held, flows - held));
    let (sampled, lost) = (count(DropOutcome::Sampled), count(DropOutcome::SampleLost));
    assert!(sampled > 1_000 && lost > 0 && sampled + lost == held, "{sampled} + {lost}");
    assert_eq!(packets(&mut drops).len(), sampled);
    assert_eq!(drops.finish().unwrap().len(), held);
}

#[test]
fn a_drop_becomes_a_report_and_further_ones_a_summary() {
    // report-2.0/individual-08
    let Some((sender, router)) = sender_and_router() else { return };
    let host = watching(&["source = \"10.9.0.1\""]);
    let ids = Ids { near: index(&router, "in0"), far: index(&router, "far0") };
    let mut node = Node::new(&host.node).unwrap();
    let mut drops = listening(&host, &router);

    udp(&sender, "10.53.0.9:9", 1, b"payload", 5);
    let told = packets(&mut drops);
    told.iter().for_each(|dropped| dropped.tell(&mut node, &ids));
    drops.finish().unwrap().iter().for_each(|count| count.tell(&mut node, &ids));

    let sent = datagrams(&mut node);
    assert_eq!(sent.len(), 2);
    let group = ReportGroup::parse(&sent[0]).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    assert!(report.dropped() && !report.congested_queue());
    assert_eq!(report.drop(), Some(Drop { queue_id: 0xff, reason: 26 }));
    let metadata = report.metadata();
    assert_eq!(metadata.interfaces.map(|ids| (ids.ingress, ids.egress)), Some((11, 0)));
    assert_eq!((metadata.ingress_timestamp, metadata.queue), (Some(told[0].time), None));
    let (link, inner, _) = report.packet().unwrap();
    assert_eq!((link, &inner[..told[0].packet.len()]), (Link::Ip, &*told[0].packet));

    let group = ReportGroup::parse(&sent[1]).unwrap();
    let summary = group.reports().next().unwrap().unwrap();
    let further = 4_u32.to_be_bytes();
    assert!(summary.dropped() && summary.domain_specific_id() == 0x4849);
    assert_eq!(summary.domain_metadata()[20..], further);
    assert_eq!(node.counters().get(Outcome::Dropped), 5);
}
