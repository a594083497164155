//! INT is sent only to hosts that remove it, whenever agents come and go; datagrams are intact at every
//! moment.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::tally::{count, has_more, talk_until};
use crate::traffic::{bytes, deliver, udp_pair};
use crate::world::{A4, A6, B4, B6, Offloads, Place, World};

/// Leases of one second; after a kill the sink stays for a second and a half.
const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";
/// The default of `control_port`.
const CONTROL_PORT: u16 = 33_123;
/// Longer than a lease and the time to get one.
const WHILE: Duration = Duration::from_millis(1800);

#[test]
fn nobody_gets_int_who_does_not_take_it_out() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, &domain()) else { return };

    talk(&world, WHILE);

    let a = a.stop();
    assert_eq!(count(&a, "started"), 0, "{a}");
    assert!(count(&a, "no_lease") > 100, "{a}");
}

#[test]
fn int_begins_and_ends_with_the_agent_that_takes_it_out() {
    let Some(world) = World::new(Offloads::On) else { return };
    // A lease is for one address; here the peer is also a whole prefix.
    let domain = Domain { peers: "10.91.{far}.1 fd91:{far}::1", ..domain() };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

    talk_with_int(&world);
    let first = b.stop();
    talk(&world, WHILE);
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    talk_with_int(&world);

    let (second, a) = (b.stop(), a.stop());
    assert!(count(&a, "no_lease") > 100, "{a}");
    assert!(count(&first, "stripped") > 100 && count(&second, "stripped") > 100, "{first} {second}");
    assert_eq!(count(&a, "started"), count(&first, "stripped") + count(&second, "stripped"), "{a}");
}

#[test]
fn an_agent_that_is_killed_takes_int_out_until_its_leases_are_over() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, &domain()) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain()) else { return };

    talk_with_int(&world);
    b.kill();
    talk(&world, 2 * WHILE);
    let Some(b) = Agent::start(&world, Place::B, &domain()) else { return };
    talk_with_int(&world);

    let (b, a) = (b.stop(), a.stop());
    assert!(count(&a, "no_lease") > 100, "{a}");
    assert!(count(&b, "stripped") > 100, "{b}");
    assert!(count(&a, "started") > count(&b, "stripped"), "{a} {b}");
}

#[test]
fn leases_begin_when_the_agents_port_is_free() {
    let Some(world) = World::new(Offloads::On) else { return };
    // The kernel may give this port to any program.
    let other = world.inside(Place::B, || UdpSocket::bind(("::", CONTROL_PORT)).unwrap());
    let Some(mut b) = Agent::start(&world, Place::B, &domain()) else { return };
    let Some(a) = Agent::start(&world, Place::A, &domain()) else { return };

    talk(&world, WHILE);
    drop(other);
    loop {
        let message = b.next_message();
        assert!(!message.is_empty(), "the agent has ended");
        if message.contains("is free") {
            break;
        }
    }
    talk_with_int(&world);

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "no_lease") > 100 && count(&a, "started") > 100, "{a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn agents_with_other_keys_or_other_int_do_not_agree() {
    let Some(world) = World::new(Offloads::On) else { return };
    let secrets = [&b"a secret of this network\n"[..], b"A secret of this network\n"];
    let (one, other) = (world.write("one.key", secrets[0]), world.write("other.key", secrets[1]));
    let with_key =
        |path: &std::path::Path| Domain { host: format!("{SHORT}key_file = {path:?}\n"), ..domain() };
    let other_int = Domain { kind: "udp", ..with_key(&one) };
    for (of_b, begins) in [(with_key(&other), false), (other_int, false), (with_key(&one), true)] {
        let Some(a) = Agent::start(&world, Place::A, &with_key(&one)) else { return };
        let Some(b) = Agent::start(&world, Place::B, &of_b) else { return };

        talk(&world, WHILE / 2);
        if begins {
            talk_until(&world, Place::A, has_more("started", 0), || talk(&world, WHILE / 10));
        }

        let (a, _) = (a.stop(), b.stop());
        assert_eq!(count(&a, "started") > 0, begins, "{of_b:?}: {a}");
    }
}

/// A domain whose hosts ask each other for leases.
fn domain() -> Domain {
    Domain { lease: true, host: SHORT.to_owned(), ..Domain::new("dscp", "md") }
}

/// Sends many datagrams from A to B, for a while; panics unless each arrives unchanged.
fn talk(world: &World, duration: Duration) {
    let pairs = [udp_pair(world, A4, B4), udp_pair(world, A6, B6)];
    let since = Instant::now();
    let mut number = 0;
    // On a busy machine few are sent in a while.
    while since.elapsed() < duration || number < 100 {
        for (at_a, at_b) in &pairs {
            deliver(at_a, at_b, &bytes(number * 37 % 1400, 8));
        }
        number += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The same, for a while from when B takes INT out. An agent waits longer and longer between its questions to
/// a host that does not answer.
fn talk_with_int(world: &World) {
    talk_until(world, Place::B, has_more("stripped", 100), || talk(world, WHILE / 10));
    talk(world, WHILE);
}
