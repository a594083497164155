//! Paths with a smaller MTU than the device: transfers finish, and nothing is larger than the path allows.

use std::net::UdpSocket;
use std::time::Duration;

use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover};

use crate::agent::{Agent, Domain};
use crate::traffic::{bytes, deliver, exchange_tcp, udp_pair};
use crate::world::{A4, A6, B4, B6, Offloads, Place, World};

/// Enough for full segments and super-packets.
const TCP_BYTES: usize = 300_000;
/// Bytes of the IP and UDP headers of a datagram, for IPv4 and IPv6.
const UDP_HEADERS: [usize; 2] = [28, 48];

#[test]
fn tcp_behind_dscp_finishes_where_a_link_of_the_path_has_a_smaller_mtu() {
    for mtu in [1450, 1420, 1300] {
        finish_over(&Domain { host: "room_hops = 1\n".into(), ..Domain::new("dscp", "md") }, mtu, set_links);
    }
}

#[test]
fn tcp_behind_a_new_udp_header_finishes_where_a_link_of_the_path_has_a_smaller_mtu() {
    for mtu in [1450, 1420, 1300] {
        finish_over(&Domain { host: "room_hops = 1\n".into(), ..Domain::new("udp", "md") }, mtu, set_links);
    }
}

#[test]
fn tcp_finishes_where_a_routers_route_has_a_smaller_mtu() {
    for kind in ["dscp", "udp"] {
        finish_over(&Domain { host: "room_hops = 0\n".into(), ..Domain::new(kind, "md") }, 1420, set_routes);
    }
}

#[test]
fn tcp_finishes_where_the_hosts_own_route_has_a_smaller_mtu() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        // The link silently drops what is larger, so only the host's own route reveals the MTU.
        set_links(&world, 1300);
        set_own_routes(&world, 1300);
        let domain = Domain { host: "room_hops = 0\n".into(), ..Domain::new(kind, "md") };
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

        exchange_tcp(&world, B4, TCP_BYTES);
        exchange_tcp(&world, B6, TCP_BYTES);

        let (a, b) = (a.stop(), b.stop());
        assert_eq!(a["outcomes"]["started"], b["outcomes"]["stripped"], "none was too large: {a} {b}");
    }
}

#[test]
fn what_a_container_sends_finishes_where_a_routers_route_has_a_smaller_mtu() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        // A is the container, and the first hop its host, which has no socket of the connection.
        let domain = Domain { host: "room_hops = 1\n".into(), ..Domain::new(kind, "md") };
        let Some(host) = Agent::start(&world, Place::FirstHop, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        for route in [
            "route replace 10.91.3.0/24 dev cd scope link src 10.91.3.254 mtu 1300",
            "-6 route replace fd91:3::/64 dev cd metric 256 mtu 1300",
        ] {
            world.ip(Place::SecondHop, route);
        }

        exchange_tcp(&world, B4, TCP_BYTES);
        exchange_tcp(&world, B6, TCP_BYTES);

        let (host, b) = (host.stop(), b.stop());
        for (sender, receiver) in [(&host, &b), (&b, &host)] {
            assert!(receiver["outcomes"]["stripped"].as_u64().unwrap() > 10, "{kind}: {sender} {receiver}");
        }
    }
}

#[test]
fn datagrams_as_large_as_the_path_lets_pass_arrive_without_int() {
    for (kind, growth) in [("dscp", 44), ("udp", 52)] {
        let Some(world) = World::new(Offloads::On) else { return };
        set_links(&world, 1300);
        let domain = Domain::new(kind, "md");
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        for ((from, to), headers) in [(A4, B4), (A6, B6)].into_iter().zip(UDP_HEADERS) {
            let (at_a, at_b) = udp_pair(&world, from, to);
            let fills = bytes(1300 - headers, 7);
            deliver(&at_a, &at_b, b"the hops have found each other");

            // It leaves with INT, a router reports that it is too large, and the host learns the MTU.
            let _ = at_a.send(&fills);
            std::thread::sleep(Duration::from_millis(300));
            assert!(
                at_a.take_error().unwrap().is_none(),
                "{kind}: the application's datagram was not too large"
            );
            deliver(&at_a, &at_b, &fills);
            deliver(&at_a, &at_b, &bytes(1296 - headers - growth, 7));
        }

        let (a, b) = (a.stop(), b.stop());
        assert_eq!(a["outcomes"]["not_started_mtu"], 2, "{kind}: {a}");
        assert_eq!(a["outcomes"]["int_too_big"], 2, "{kind}: {a}");
        assert_eq!(b["outcomes"]["stripped"], 4, "{kind}: {b}");
    }
}

#[test]
fn datagrams_that_routers_may_cut_get_int_only_where_none_will() {
    let Some(world) = World::new(Offloads::On) else { return };
    set_links(&world, 700);
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    may_be_cut(&at_a);

    for length in [0, 400, 480, 524, 525, 600, 672, 673, 1000, 1400] {
        deliver(&at_a, &at_b, &bytes(length, 7));
    }

    let (a, b) = (a.stop(), b.stop());
    // 552 bytes with the headers of IP and UDP, and at least the fixed part of INT.
    assert_eq!(a["outcomes"]["started"], 3, "{a}");
    assert_eq!(b["outcomes"]["stripped"], 3, "{b}");
}

/// TCP in both directions over a path to which `make_smaller` has given this MTU, with INT in every packet, and
/// in the first segments of super-packets.
fn finish_over(domain: &Domain, mtu: u32, make_smaller: impl Fn(&World, u32)) {
    let of_first = Domain { coverage: "slices", interval_us: 1, ..domain.clone() };
    for domain in [domain, &of_first] {
        finish_once(domain, mtu, &make_smaller);
    }
}

fn finish_once(domain: &Domain, mtu: u32, make_smaller: impl Fn(&World, u32)) {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, domain) else { return };
    make_smaller(&world, mtu);

    exchange_tcp(&world, B4, TCP_BYTES);
    exchange_tcp(&world, B6, TCP_BYTES);

    let (a, b) = (a.stop(), b.stop());
    for (sender, receiver) in [(&a, &b), (&b, &a)] {
        assert!(receiver["outcomes"]["stripped"].as_u64().unwrap() > 10, "{mtu}: {sender} {receiver}");
    }
}

/// The link between the two hops.
fn set_links(world: &World, mtu: u32) {
    world.ip(Place::FirstHop, &format!("link set bc mtu {mtu}"));
    world.ip(Place::SecondHop, &format!("link set cb mtu {mtu}"));
}

/// The routes of the hops to the hosts.
fn set_routes(world: &World, mtu: u32) {
    for (place, there, via) in [
        (Place::FirstHop, "10.91.3.0/24", "10.91.2.2"),
        (Place::SecondHop, "10.91.1.0/24", "10.91.2.1"),
        (Place::FirstHop, "fd91:3::/64", "fd91:2::2"),
        (Place::SecondHop, "fd91:1::/64", "fd91:2::1"),
    ] {
        world.ip(place, &format!("route change {there} via {via} mtu {mtu}"));
    }
}

/// The routes of the hosts, so that no router reports anything.
fn set_own_routes(world: &World, mtu: u32) {
    for (place, via) in [
        (Place::A, "10.91.1.254"),
        (Place::B, "10.91.3.254"),
        (Place::A, "fd91:1::fe"),
        (Place::B, "fd91:3::fe"),
    ] {
        let family = if via.contains(':') { "-6 " } else { "" };
        world.ip(place, &format!("{family}route change default via {via} mtu {mtu}"));
    }
}

/// Permits routers to fragment this socket's packets, `IP_PMTUDISC_DONT`.
fn may_be_cut(socket: &UdpSocket) {
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::DONT).unwrap();
}
