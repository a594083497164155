//! Switches that are routers, with the kernel's tables.

use std::io::Read;
use std::net::{SocketAddrV6, UdpSocket};
use std::time::{Duration, Instant};

use inband_linux::device;
use inband_linux::frames::Batch;
use inband_linux::neighbour::{self, Neighbour};
use inband_linux::netlink::Netlink;
use inband_testkit::packet;
use inband_wire::checksum::Sum;
use socket2::{Domain, Protocol, Socket, Type};

use crate::fast_path::Line;
use crate::kernel::{plain_frame, socket};
use crate::rings;
use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, drops, outcome};

const ROUTES: &str = "[switch]\ndatapath = \"engine\"\nforwarding = \"routes\"\n";

#[test]
fn routers_forward_once_by_the_kernels_routes_also_where_the_kernel_would() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    for place in [FIRST, SECOND] {
        world.inside(place, || {
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
        });
    }
    let (first, second) = (world.switch(FIRST, ROUTES), world.switch(SECOND, ROUTES));

    for to in ["10.94.3.1", "fd94:3::1"] {
        world.udp(to, (0..=1_400).step_by(97));
        world.tcp(to, 300_000);
    }

    let (first, second) = (first.stop(), second.stop());
    assert_eq!(outcome(&first, "started"), outcome(&second, "stripped"));
    assert_eq!((drops(&first), drops(&second)), (0, 0), "{first:?} {second:?}");
    assert!(first.routes >= 4 && first.neighbours >= 2, "{first:?}");
}

#[test]
fn packets_of_a_vlan_are_left_to_the_kernel() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    let first = world.switch(FIRST, ROUTES);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let address =
        world.inside(FIRST, || device::find(&mut Netlink::open().unwrap(), "left").unwrap().unwrap().address);
    let tagged = |id: u16| {
        let mut frame = packet().vlan(id).udp(9, 9).addresses(&[10, 94, 1, 1], &[10, 94, 2, 2]).build();
        frame[..6].copy_from_slice(&address);
        frame
    };

    for id in [7, 4095, 0] {
        assert_eq!(from.send(std::iter::once(tagged(id).as_slice())).unwrap(), 1);
    }

    let mut batch = Batch::new();
    let (since, mut tags) = (Instant::now(), Vec::new());
    let mut first_at = None;
    // Those that must not come have the time that the first one takes, and some more.
    while first_at.is_none_or(|at: Instant| at.elapsed() < Duration::from_millis(300)) {
        assert!(since.elapsed() < PATIENCE, "nothing comes");
        let received = to.receive(&mut batch).unwrap();
        tags.extend(received.filter_map(|frame| frame.vlan).map(|(_, contents)| contents));
        if !tags.is_empty() {
            first_at.get_or_insert_with(Instant::now);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = first.stop();
    assert_eq!(tags, [0], "{status:?}");
    assert!(status.interfaces[0].to_host >= 2, "{status:?}");
}

#[test]
fn neighbours_that_are_there_for_good_stay_so() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    let known = world.inside(FIRST, || {
        let mut netlink = Netlink::open().unwrap();
        let device = device::find(&mut netlink, "right").unwrap().unwrap().index;
        let address = Some([2, 0, 0, 0, 0, 9]);
        let ip = "10.94.2.9".parse().unwrap();
        let known = Neighbour { device, ip, address, has_failed: false, is_permanent: true };
        known.replace(&mut netlink).unwrap();
        known
    });
    let switch = world.switch(FIRST, ROUTES);

    // On start it checks whether its neighbours exist.
    std::thread::sleep(Duration::from_millis(1_500));

    let all = world.inside(FIRST, || neighbour::all(&mut Netlink::open().unwrap()).unwrap());
    assert!(all.contains(&known), "{all:?}");
    assert!(switch.stop().neighbours >= 1);
}

#[test]
fn packets_to_link_local_addresses_are_the_hosts_also_to_those_that_are_not_known_yet() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    let index_of = |place, name| {
        world.inside(place, || {
            let device = device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap();
            (device.index, device.address)
        })
    };
    let bytes: Vec<_> = index_of(FIRST, "left").1.iter().map(|byte| format!("{byte:02x}")).collect();
    let neighbour = format!("ip -6 neigh add fe80::99 lladdr {} dev right nud permanent", bytes.join(":"));
    assert!(world.run(A, &neighbour));
    let first = world.switch(FIRST, ROUTES);
    let sender = world.inside(A, || UdpSocket::bind("[::]:0").unwrap());

    let to = SocketAddrV6::new("fe80::99".parse().unwrap(), 9, 0, index_of(A, "right").0);
    for _ in 0..20 {
        sender.send_to(b"here?", to).unwrap();
    }
    first.await_status(|status| status.interfaces[0].to_host >= 20);

    let first = first.stop();
    assert_eq!(drops(&first), 0, "{first:?}");
    assert!(first.interfaces[0].to_host >= 20, "{first:?}");
}

#[test]
fn a_router_says_whose_time_is_over_and_where_no_route_leads() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    let (first, second) = (world.switch(FIRST, ROUTES), world.switch(SECOND, ROUTES));
    world.udp("10.94.3.1", 1..3);
    let messages = world.inside(A, || Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap());
    messages.set_read_timeout(Some(PATIENCE)).unwrap();
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());

    for (ttl, to, expected) in [
        (1, "10.94.3.1:9", ([10, 94, 1, 254], 11, 0)),
        (2, "10.94.3.1:9", ([10, 94, 2, 2], 11, 0)),
        (64, "10.99.0.1:9", ([10, 94, 1, 254], 3, 0)),
    ] {
        sender.set_ttl(ttl).unwrap();
        sender.send_to(b"where", to).unwrap();
        let mut buffer = [0; 256];
        let length =
            (&messages).read(&mut buffer).unwrap_or_else(|error| panic!("{to} with TTL {ttl}: {error}"));
        let bytes = &buffer[..length];
        assert_eq!((&bytes[12..16], bytes[20], bytes[21]), (&expected.0[..], expected.1, expected.2));
    }

    let (first, second) = (first.stop(), second.stop());
    assert_eq!(first.interfaces[0].drops.get("ttl_exceeded"), Some(&1));
    assert_eq!(first.interfaces[0].drops.get("no_route"), Some(&1));
    assert_eq!(second.interfaces[0].drops.get("ttl_exceeded"), Some(&1));
}

#[test]
fn routes_are_followed_as_they_change() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    world.address(B, "lo", "10.98.0.1/32");
    let (first, second) = (world.switch(FIRST, ROUTES), world.switch(SECOND, ROUTES));
    world.udp("10.94.3.1", 1..3);

    let known = [&first, &second].map(|switch| switch.status().routes);
    world.route(FIRST, "right", "10.98.0.0/16", "10.94.2.2");
    world.route(SECOND, "right", "10.98.0.0/16", "10.94.3.1");
    for (switch, known) in [&first, &second].into_iter().zip(known) {
        switch.await_status(|status| status.routes > known);
    }
    world.udp("10.98.0.1", 1..20);

    assert_eq!((drops(&first.stop()), drops(&second.stop())), (0, 0));
}

/// The frame with `bytes` at `at`, and the checksum of its IPv4 header.
fn with(frame: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[at..at + bytes.len()].copy_from_slice(bytes);
    if frame[12..14] == [8, 0] {
        frame[24..26].fill(0);
        let checksum = Sum::of(&frame[14..34]).checksum();
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
    frame
}

#[test]
fn a_router_drops_what_is_damaged_or_comes_from_a_group() {
    for io in ["af-packet", "af-xdp"] {
        let Some(mut line) = Line::new(1) else { return };
        let switch = line.world.switch_of(FIRST, &rings::router("dscp", 2_000, io));
        let [v4, v6] = [true, false].map(|is_v4| line.addressed(&plain_frame(100, 17, is_v4, 9)));
        let checksum = [v4[24] ^ 0x40, v4[25]];
        let mut wrong = v4.clone();
        wrong[24..26].copy_from_slice(&checksum);
        let group = [&[0xff, 2][..], &[0; 13], &[5]].concat();
        let damaged = [wrong, with(&v4, 16, &[3, 0x84]), with(&v6, 18, &[3, 0x84])];
        let groups = [with(&v4, 26, &[224, 0, 0, 5]), with(&v6, 22, &group)];
        for frame in damaged.iter().chain(&groups) {
            assert_eq!(line.from.send(std::iter::once(frame.as_slice())).unwrap(), 1);
        }

        // Nothing arrives before it.
        assert_eq!(line.exchange(&v4), Some(line.routed(&v4)), "{io}");
        let status = switch.stop();
        let drops = &status.interfaces[0].drops;
        assert_eq!(drops.get("malformed"), Some(&3), "{io}: {status:?}");
        assert_eq!(drops.get("not_forwarded"), Some(&2), "{io}: {status:?}");
    }
}
