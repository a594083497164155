//! A host that forwards for containers: A is the container, and the first hop its host.

use crate::agent::{Agent, Domain};
use crate::traffic::{exchange_tcp, exchange_udp};
use crate::world::{A4, A6, B4, B6, Offloads, Place, World};

/// Large enough for super-packets, which the container's kernel leaves to others to segment.
const TCP_BYTES: usize = 400_000;

#[test]
fn what_a_container_sends_and_receives_by_the_hosts_device_has_int_outside() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(host) = Agent::start(&world, Place::FirstHop, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };

    exchange_udp(&world, A4, B4, (0..=1400).step_by(35));
    exchange_udp(&world, A6, B6, (0..=1400).step_by(35));
    exchange_tcp(&world, B4, TCP_BYTES);
    exchange_tcp(&world, B6, TCP_BYTES);

    let (host, b) = (host.stop(), b.stop());
    for (sender, receiver) in [(&host, &b), (&b, &host)] {
        let started = sender["outcomes"]["started"].as_u64().unwrap();
        assert!(started > 200, "{sender}");
        assert_eq!(receiver["outcomes"]["stripped"], started, "{sender} {receiver}");
    }
}

#[test]
fn a_containers_own_device_may_be_among_those_of_the_host() {
    let Some(world) = World::new(Offloads::On) else { return };
    // The far side of `ba` has no agent, and gets no INT.
    let devices = Domain::new("dscp", "md").with_devices("bc\", \"ba");
    let on_host = Domain { lease: true, peers: "10.91.{far}.0/24 10.91.1.0/24", ..devices };
    let Some(host) = Agent::start(&world, Place::FirstHop, &on_host) else { return };

    exchange_udp(&world, A4, B4, (0..=1400).step_by(35));
    exchange_tcp(&world, B4, TCP_BYTES);

    let host = host.stop();
    assert_eq!(host["outcomes"]["started"], 0, "{host}");
    assert!(host["outcomes"]["no_lease"].as_u64().unwrap() > 40, "{host}");
}
