//! Paths that change under flows with INT: INT ends within a lease, and what is delivered with it until then
//! is counted.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::pins::{BpfFs, remove};
use crate::tally::{await_status, count, has_more, talk_until};
use crate::traffic::{Arrived, bytes, connect, deliver, send_while_int_ends, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

const LEASE: Duration = Duration::from_millis(1_000);
/// A lease, and the time to get one.
const WHILE: Duration = Duration::from_millis(1_800);

#[test]
fn a_sink_whose_host_reboots_gets_int_for_no_longer_than_a_lease() {
    for (kind, reaches_sockets) in [("dscp", true), ("udp", false)] {
        let mut with_int = 0;
        // On a busy machine the removal may take longer than the rest of a lease.
        for _ in 0..10 {
            let Some(arrived) = reboot(kind) else { return };
            with_int = arrived.with_int;
            if with_int > 0 || !reaches_sockets {
                break;
            }
        }
        assert_eq!(with_int > 0, reaches_sockets, "{kind}: {with_int} datagrams with INT reach the socket");
    }
}

/// Ends the agent of a sink without notice, with its programs; returns what arrives behind it.
fn reboot(kind: &'static str) -> Option<Arrived> {
    let world = World::new(Offloads::On)?;
    let bpf_fs = BpfFs::mount(&world)?;
    let (a, b) = agents(&world, &leased(kind, &bpf_fs))?;
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    prove(&world, &at_a, &at_b);

    b.kill();
    remove(&world, Place::B);
    let arrived = send_while_int_ends(&at_a, &at_b, Instant::now(), 2 * WHILE);

    let a = a.stop();
    assert!(arrived.last_with_int < LEASE + Duration::from_millis(100), "{kind}: {arrived:?} {a}");
    assert!(arrived.with_int <= 1_200, "{kind}: {arrived:?} {a}");
    assert!(count(&a, "no_lease") > 100, "{kind}: {a}");
    Some(arrived)
}

#[test]
fn a_dscp_that_is_cleared_in_a_running_flow_ends_int_within_a_lease() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let Some((a, b)) = agents(&world, &leased("dscp", &bpf_fs)) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    prove(&world, &at_a, &at_b);

    let clear = "table ip clear { chain forward { type filter hook forward priority 0; ip dscp set cs0; } }";
    if !world.nft(Place::FirstHop, clear) {
        return;
    }
    let arrived = send_while_int_ends(&at_a, &at_b, Instant::now(), 2 * WHILE);

    await_status(&world, Place::A, |status| status["states"]["probes_lost"] == 1);
    let (a, b) = (a.stop(), b.stop());
    assert!(arrived.last_with_int < LEASE + Duration::from_millis(100), "{arrived:?} {a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped") + arrived.with_int, "all are counted: {a} {b}");
    leave(&world);
}

#[test]
fn a_route_to_a_path_with_a_smaller_mtu_stops_nothing() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some(bpf_fs) = BpfFs::mount(&world) else { return };
        let Some((a, b)) = agents(&world, &leased(kind, &bpf_fs)) else { return };
        let (mut to_b, mut at_b) = connect(&world, B4);
        let said = bytes(400_000, 3);
        let mut exchange = |what: &str| {
            std::thread::scope(|scope| {
                scope.spawn(|| to_b.write_all(&said).unwrap());
                let mut heard = vec![0xa5; said.len()];
                at_b.read_exact(&mut heard).unwrap_or_else(|error| panic!("{kind}, {what}: {error}"));
                assert!(heard == said, "{kind}, {what}: the bytes have changed");
            });
            std::thread::sleep(Duration::from_millis(50));
        };
        talk_until(&world, Place::A, has_more("started", 100), || exchange("in front of the change"));
        for (place, device) in [(Place::FirstHop, "bc"), (Place::SecondHop, "cb")] {
            world.ip(place, &format!("link set {device} mtu 1300"));
        }
        let changed = Instant::now();
        while changed.elapsed() < 2 * WHILE {
            exchange("behind the change");
        }
        assert!(changed.elapsed() < Duration::from_secs(30), "{kind}: nothing waits for a timeout");

        let (a, b) = (a.stop(), b.stop());
        assert!(count(&b, "stripped") > 100, "{kind}: {a} {b}");
        leave(&world);
    }
}

/// Exchanges datagrams until the flow has INT, and longer than a lease lasts.
fn prove(world: &World, at_a: &UdpSocket, at_b: &UdpSocket) {
    let talk = |duration| {
        let since = Instant::now();
        while since.elapsed() < duration {
            deliver(at_a, at_b, b"payload");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    talk(WHILE);
    talk_until(world, Place::A, has_more("started", 20), || talk(WHILE / 6));
}

fn leased(kind: &'static str, bpf_fs: &BpfFs) -> Domain {
    let domain = bpf_fs.domain();
    let host = format!("{}lease_ms = 1000\nlinger_ms = 1500\n", domain.host);
    Domain { kind, host, lease: true, ..domain }
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, domain)?, Agent::start(world, Place::B, domain)?))
}

fn leave(world: &World) {
    remove(world, Place::A);
    remove(world, Place::B);
}
