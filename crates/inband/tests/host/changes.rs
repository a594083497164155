//! Paths that change under flows with INT: INT ends within a lease, and what is delivered with it until then
//! is counted.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::pins::{BpfFs, remove};
use crate::tally::{count, status_of_now};
use crate::traffic::{bytes, connect, deliver, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

const LEASE: Duration = Duration::from_millis(1_000);
/// A lease, and the time to get one.
const WHILE: Duration = Duration::from_millis(1_800);
const PAYLOAD: &[u8] = b"payload";

#[test]
fn a_sink_whose_host_reboots_gets_int_for_no_longer_than_a_lease() {
    for (kind, reaches_sockets) in [("dscp", true), ("udp", false)] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some(bpf_fs) = BpfFs::mount(&world) else { return };
        let domain = leased(kind, &bpf_fs);
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        prove(&at_a, &at_b);

        // The agent disappears without notice, with its programs.
        let killed = Instant::now();
        b.kill();
        remove(&world, Place::B);
        let rebooted = Instant::now();
        // On a busy machine the removal may take longer than the rest of a lease.
        let least = u64::from(killed.elapsed() < LEASE / 2);
        let (with_int, last) = receive_for(&at_a, &at_b, rebooted, 2 * WHILE);

        let a = a.stop();
        assert!(last < LEASE + Duration::from_millis(100), "{kind}: {last:?} {a}");
        if reaches_sockets {
            assert!((least..=1_200).contains(&with_int), "{kind}: {with_int} {a}");
        } else {
            assert_eq!(with_int, 0, "{kind}: nothing with INT reaches a socket: {a}");
        }
        assert!(count(&a, "no_lease") > 100, "{kind}: {a}");
    }
}

#[test]
fn a_dscp_that_is_cleared_in_a_running_flow_ends_int_within_a_lease() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(bpf_fs) = BpfFs::mount(&world) else { return };
    let Some((a, b)) = agents(&world, &leased("dscp", &bpf_fs)) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    prove(&at_a, &at_b);

    let clear = "table ip clear { chain forward { type filter hook forward priority 0; ip dscp set cs0; } }";
    if !world.nft(Place::FirstHop, clear) {
        return;
    }
    let (with_int, last) = receive_for(&at_a, &at_b, Instant::now(), 2 * WHILE);

    let status = status_of_now(&world, Place::A);
    assert_eq!(status["states"]["probes_lost"], 1, "{status}");
    let (a, b) = (a.stop(), b.stop());
    assert!(last < LEASE + Duration::from_millis(100), "{last:?} {a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped") + with_int, "all are counted: {a} {b}");
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
        };
        let since = Instant::now();
        while since.elapsed() < WHILE {
            exchange("in front of the change");
            std::thread::sleep(Duration::from_millis(50));
        }
        for (place, device) in [(Place::FirstHop, "bc"), (Place::SecondHop, "cb")] {
            world.ip(place, &format!("link set {device} mtu 1300"));
        }
        let changed = Instant::now();
        while changed.elapsed() < 2 * WHILE {
            exchange("behind the change");
            std::thread::sleep(Duration::from_millis(50));
        }

        let (a, b) = (a.stop(), b.stop());
        assert!(count(&b, "stripped") > 100, "{kind}: {a} {b}");
        assert!(changed.elapsed() < Duration::from_secs(20), "{kind}: nothing waits for a timeout");
        leave(&world);
    }
}

/// Exchanges datagrams until the flow has a lease.
fn prove(at_a: &UdpSocket, at_b: &UdpSocket) {
    let since = Instant::now();
    while since.elapsed() < WHILE {
        deliver(at_a, at_b, PAYLOAD);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns how many datagrams arrive with INT, and how long after `since` the last of them does.
fn receive_for(at_a: &UdpSocket, at_b: &UdpSocket, since: Instant, duration: Duration) -> (u64, Duration) {
    at_b.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (mut with_int, mut last) = (0, Duration::ZERO);
    while since.elapsed() < duration {
        let _ = at_a.send(PAYLOAD);
        let mut buffer = [0; 2_000];
        if let Ok(length) = at_b.recv(&mut buffer)
            && &buffer[..length] != PAYLOAD
        {
            (with_int, last) = (with_int + 1, since.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    (with_int, last)
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
