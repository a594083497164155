//! Whatever happens to the shim or to its agent, traffic flows, and the shim changes nothing it must not
//! change.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::foreign::set_priority;
use crate::tally::{count, has_more, talk_until};
use crate::traffic::{PATIENCE, deliver, exchange_tcp, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

#[test]
fn traffic_flows_when_the_shim_is_deleted_and_there_is_a_new_one() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(mut a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    deliver(&at_a, &at_b, b"with INT");

    // While stopped, the agent cannot create a new one.
    a.signal(Signal::STOP);
    world.ip(Place::A, "link del int0");
    (0..50).for_each(|_| deliver(&at_a, &at_b, b"at once"));
    a.signal(Signal::CONT);
    let note = a.next_message();
    wait_until("INT is started again", || gets_int(&world, &at_a, &at_b));
    exchange_tcp(&world, B4, 400_000);

    assert!(note.starts_with("the shim of ab was gone"), "{note}");
    let (a, b) = (a.stop(), b.stop());
    assert!(alone(&a) >= 50 && count(&a, "started") > 100, "{a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn traffic_flows_when_a_side_of_the_shim_is_down() {
    for side in ["int0", "int1"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let domain = Domain::new("dscp", "md");
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        deliver(&at_a, &at_b, b"with INT");

        // While stopped, the agent cannot repair it.
        a.signal(Signal::STOP);
        world.ip(Place::A, &format!("link set {side} down"));
        (0..5).for_each(|_| deliver(&at_a, &at_b, b"without INT"));
        a.signal(Signal::CONT);
        wait_until("INT is started again", || gets_int(&world, &at_a, &at_b));

        let (a, b) = (a.stop(), b.stop());
        assert!(alone(&a) >= 5, "{side}: {a}");
        assert!(count(&b, "stripped") >= 2, "{side}: {b}");
    }
}

#[test]
fn an_agent_that_hangs_starts_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    let capture = Capture::start(&world, Place::FirstHop);
    a.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(2_200));
    (0..5).for_each(|_| deliver(&at_a, &at_b, b"without INT"));
    assert!(capture.decode(&world).iter().all(|packet| packet["kind"] != "int"));
    a.signal(Signal::CONT);
    // On a busy machine the agent takes a while until it goes on.
    let mut sent = 5;
    talk_until(&world, Place::A, has_more("started", 4), || {
        deliver(&at_a, &at_b, b"with INT, or before");
        sent += 1;
    });

    let (a, b) = (a.stop(), b.stop());
    let (silent, started) = (count(&a, "agent_silent"), count(&a, "started"));
    assert!(silent >= 5 && silent + started == sent, "{sent} datagrams: {a}");
    assert_eq!(count(&b, "stripped"), started, "{b}");
}

#[test]
fn the_priority_of_a_socket_chooses_the_class_of_packets_with_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    let commands = [
        "qdisc add dev ab root handle 1: htb default 10",
        "class add dev ab parent 1: classid 1:10 htb rate 100mbit",
        "class add dev ab parent 1: classid 1:20 htb rate 100mbit",
    ];
    if !commands.iter().all(|command| world.tc(Place::A, command)) {
        eprintln!("skipped: this kernel has no HTB");
        return;
    }
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    set_priority(&at_a, 0x0001_0020);

    (0..100).for_each(|_| deliver(&at_a, &at_b, b"in a class of its own"));

    let output = world.command(Place::A, "tc").args(["-s", "class", "show", "dev", "ab"]).output().unwrap();
    let classes = String::from_utf8(output.stdout).unwrap();
    let of_class = classes.split("class htb ").find(|class| class.starts_with("1:20")).unwrap();
    let packets = of_class.split("bytes ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(packets, "100", "{classes}");
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stripped")), (100, 100), "{a} {b}");
}

/// The packets that got no INT because of the shim, or because of an agent without a heartbeat: on a busy
/// machine either may come first.
fn alone(tally: &Value) -> u64 {
    count(tally, "shim_down") + count(tally, "agent_silent")
}

/// Whether a datagram gets INT, as seen at the first hop.
fn gets_int(world: &World, at_a: &UdpSocket, at_b: &UdpSocket) -> bool {
    let capture = Capture::start(world, Place::FirstHop);
    deliver(at_a, at_b, b"with INT?");
    capture.decode(world).iter().any(|packet| packet["kind"] == "int" && packet["flow"]["source"] == A4)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
