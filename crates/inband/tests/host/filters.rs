//! Programs and filters of others on the devices work as they do without the agent.

use std::net::UdpSocket;
use std::time::Duration;

use crate::agent::{Agent, Domain};
use crate::foreign::{DENIED, Order, Side, attach_cls_bpf, attach_tcx};
use crate::traffic::{deliver, exchange_tcp};
use crate::world::{A4, B4, Offloads, Place, World};

/// Ports of watched and of unwatched datagrams; the lower bits select which are denied.
const WATCHED: u16 = 0x1000;
const UNWATCHED: u16 = 0x2000;
const ALLOWED: u16 = 0x002;
const NOT_WATCHED: &str =
    "[[watch]]\nprotocol = \"udp\"\ndestination_port = \"8192-12287\"\naction = \"none\"\npriority = 1\n";

#[test]
fn a_cls_bpf_filter_at_the_ingress_denies_ports_beside_the_agent() {
    deny(|world| {
        world.tc(Place::B, "qdisc add dev dc clsact");
        attach_cls_bpf(world, Place::B, "dc", Side::Ingress);
    });
}

#[test]
fn a_cls_bpf_filter_at_the_egress_denies_ports_beside_the_agent() {
    deny(|world| {
        world.tc(Place::A, "qdisc add dev ab clsact");
        attach_cls_bpf(world, Place::A, "ab", Side::Egress);
    });
}

#[test]
fn tcx_programs_before_and_after_the_agents_deny_ports() {
    for (place, device, side) in [(Place::A, "ab", Side::Egress), (Place::B, "dc", Side::Ingress)] {
        for order in [Order::Before, Order::After] {
            deny(|world| vec![attach_tcx(world, place, device, side, order)]);
        }
    }
}

#[test]
fn tcx_programs_that_were_there_first_deny_ports() {
    let Some(world) = World::new(Offloads::On) else { return };
    let _egress = attach_tcx(&world, Place::A, "ab", Side::Egress, Order::After);
    let _ingress = attach_tcx(&world, Place::B, "dc", Side::Ingress, Order::After);
    let domain = Domain { more: NOT_WATCHED.to_owned(), ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

    assert_denied(&world, "from the start");

    a.stop();
    b.stop();
}

#[test]
fn u32_filters_mirror_each_packet_once_in_both_directions() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain { more: NOT_WATCHED.to_owned(), ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    for (place, device, side) in [(Place::A, "ab", "egress"), (Place::B, "dc", "ingress")] {
        add_mirror(&world, place);
        assert!(world.tc(place, &format!("qdisc add dev {device} clsact")));
        for port in [WATCHED | ALLOWED, UNWATCHED | ALLOWED] {
            let is_there = world.tc(
                place,
                &format!(
                    "filter add dev {device} {side} protocol ip u32 match ip dport {port} 0xffff \
                     action mirred egress mirror dev mirror0"
                ),
            );
            assert!(is_there, "this kernel has u32 and mirred");
        }
    }

    for base in [WATCHED, UNWATCHED] {
        let (at_a, at_b) = pair(&world, base | ALLOWED);
        (0..5).for_each(|_| deliver(&at_a, &at_b, b"payload"));
    }

    for place in [Place::A, Place::B] {
        assert_eq!(received_packets(&world, place, "mirror1"), 10, "{place:?}");
    }
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((&a["outcomes"]["started"], &b["outcomes"]["stripped"]), (&5.into(), &5.into()), "{a} {b}");
}

#[test]
fn a_u32_filter_redirects_what_the_agent_would_take_in() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    add_mirror(&world, Place::B);
    assert!(world.tc(Place::B, "qdisc add dev dc clsact"));
    let port = WATCHED | DENIED;
    assert!(world.tc(
        Place::B,
        &format!(
            "filter add dev dc ingress protocol ip u32 match ip dport {port} 0xffff \
             action mirred egress redirect dev mirror0"
        )
    ));

    assert_denied(&world, "redirected");

    assert_eq!(received_packets(&world, Place::B, "mirror1"), 1);
    exchange_tcp(&world, B4, 100_000);
    a.stop();
    b.stop();
}

/// Starts agents, attaches a filter that denies ports, and panics unless it does.
fn deny<T>(attach: impl Fn(&World) -> T) {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain { more: NOT_WATCHED.to_owned(), ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

    let attached = attach(&world);
    assert_denied(&world, "watched");
    exchange_tcp(&world, B4, 100_000);

    drop(attached);
    let (a, b) = (a.stop(), b.stop());
    assert!(a["outcomes"]["started"].as_u64().unwrap() > 10, "{a}");
    assert!(b["outcomes"]["stripped"].as_u64().unwrap() > 10, "{b}");
}

/// Panics unless allowed datagrams arrive and denied ones do not; the denied ones are sent first.
fn assert_denied(world: &World, when: &str) {
    let bases = if when == "redirected" { vec![WATCHED] } else { vec![WATCHED, UNWATCHED] };
    for base in bases {
        let (denied_a, denied_b) = pair(world, base | DENIED);
        let (at_a, at_b) = pair(world, base | ALLOWED);

        denied_a.send(b"denied").unwrap();
        deliver(&at_a, &at_b, b"allowed");

        denied_b.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(denied_b.recv(&mut [0; 100]).is_err(), "{when}: {base:#x}");
    }
}

/// Adds the devices mirror0 and mirror1.
fn add_mirror(world: &World, place: Place) {
    world.ip(place, "link add mirror0 type veth peer name mirror1");
    for end in ["mirror0", "mirror1"] {
        world.ip(place, &format!("link set {end} addrgenmode none"));
        world.ip(place, &format!("link set {end} up"));
    }
    world.await_up(place, "mirror0");
}

/// A socket of A, connected to one of B with this port.
fn pair(world: &World, port: u16) -> (UdpSocket, UdpSocket) {
    let at_b = world.inside(Place::B, || UdpSocket::bind((B4, port)).unwrap());
    let at_a = world.inside(Place::A, || UdpSocket::bind((A4, 0)).unwrap());
    at_a.connect((B4, port)).unwrap();
    at_b.set_read_timeout(Some(crate::traffic::PATIENCE)).unwrap();
    (at_a, at_b)
}

/// How many packets a device has received.
fn received_packets(world: &World, place: Place, device: &str) -> u64 {
    let output = world.command(place, "cat").arg("/proc/net/dev").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{device}:")));
    line.unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}
