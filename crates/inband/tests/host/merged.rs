//! Datagrams with INT that a device merges for a socket arrive one by one, unchanged and in order.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover, set_socket_recv_buffer_size_force};
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::foreign::{send_merged, take_merged};
use crate::tally::{count, has_more, talk_until};
use crate::traffic::{bytes, receive, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

const DATAGRAM: usize = 700;
const WHOLE: usize = 400;
/// Datagrams per call.
const CALL: usize = 9;

#[test]
fn merged_datagrams_with_int_in_each_are_taken_apart() {
    for version in ["2.1", "host-0.5"] {
        let Some(world) = World::new(Offloads::On) else { return };
        merge(&world);
        let domain = Domain { version, ..Domain::new("dscp", "md") };
        let Some((a, b)) = agents(&world, &domain) else { return };
        let (at_a, at_b) = merging_pair(&world, DATAGRAM);
        let calls = 200;
        for number in 0..calls {
            let said = bytes(CALL * DATAGRAM + 33, number);
            at_a.send(&said).unwrap();
            assert!(
                hear(&at_b, said.len()) == said,
                "{version}: {number}: datagrams have changed, or their order"
            );
        }

        let (a, b) = (a.stop(), b.stop());
        assert!(count(&b, "taken_apart") > calls / 2, "{version}: the device merges: {b}");
        assert_eq!(count(&b, "segments"), 0, "{version}: {b}");
        assert!(b["drops"].as_object().unwrap().is_empty(), "{version}: nothing is lost: {b}");
        assert_eq!(count(&a, "started"), calls * (CALL as u64 + 1), "{version}: {a}");
        assert_eq!(count(&b, "stripped"), count(&a, "started"), "{version}: {a} {b}");
    }
}

#[test]
fn leases_of_flows_that_are_merged_are_renewed() {
    let Some(world) = World::new(Offloads::On) else { return };
    merge(&world);
    let host = "lease_ms = 1000\nlinger_ms = 1500\n".to_owned();
    let Some((a, b)) = agents(&world, &Domain { lease: true, host, ..Domain::new("dscp", "md") }) else {
        return;
    };
    let (at_a, at_b) = merging_pair(&world, DATAGRAM);
    let said = bytes(CALL * DATAGRAM, 3);
    let talk = |duration| {
        let since = Instant::now();
        while since.elapsed() < duration {
            at_a.send(&said).unwrap();
            assert!(hear(&at_b, said.len()) == said, "datagrams have changed, or their order");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    talk(Duration::from_secs(6));
    // A lease that is not renewed is over before the next probe: half of the datagrams would be without.
    let is_renewed = |tally: &Value| count(tally, "started") > 2 * count(tally, "no_lease");
    talk_until(&world, Place::B, has_more("taken_apart", 100), || talk(Duration::from_millis(500)));
    talk_until(&world, Place::A, is_renewed, || talk(Duration::from_millis(500)));

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&b, "taken_apart") > 100, "the device merges: {b}");
    let (started, without) = (count(&a, "started"), count(&a, "no_lease"));
    assert!(started > 2 * without, "{started} with INT, {without} without a lease: {a} {b}");
}

#[test]
fn a_datagram_behind_merged_ones_does_not_overtake_them() {
    let Some(world) = World::new(Offloads::On) else { return };
    merge(&world);
    let Some((a, b)) = agents(&world, &Domain::new("dscp", "md")) else { return };
    let (at_a, at_b) = merging_pair(&world, WHOLE);
    set_socket_recv_buffer_size_force(&at_b, 64 << 20).unwrap();
    let numbers = 20_000_u32;
    let numbered = |number: u32| {
        let mut datagram = vec![0; length(number)];
        datagram[..4].copy_from_slice(&number.to_be_bytes());
        datagram
    };
    let (mut next, mut buffer) = (0, vec![0; 1 << 16]);
    for first in (0..numbers).step_by(10) {
        // One call of datagrams that are merged again, followed by others that are not.
        at_a.send(&(first..first + 8).flat_map(numbered).collect::<Vec<_>>()).unwrap();
        at_a.send(&numbered(first + 8)).unwrap();
        at_a.send(&numbered(first + 9)).unwrap();
        // In flight are at most as many as a processor receives without loss.
        while next + 200 < first + 10 || (first + 10 == numbers && next < numbers) {
            let received = receive(&at_b, &mut buffer);
            let mut rest = &buffer[..received];
            // Merged datagrams have one length, except the last.
            while !rest.is_empty() {
                assert_eq!(rest[..4], next.to_be_bytes(), "{next}");
                rest = &rest[length(next).min(rest.len())..];
                next += 1;
            }
        }
    }

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&b, "taken_apart") > 0, "{b}");
    assert_eq!((count(&b, "stripped"), count(&b, "segments")), (count(&a, "started"), 0), "{a} {b}");
}

#[test]
fn merged_datagrams_of_a_host_whose_agent_is_gone_do_not_arrive_with_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    merge(&world);
    let Some((a, b)) =
        agents(&world, &Domain { host: "linger_ms = 10000\n".into(), ..Domain::new("dscp", "md") })
    else {
        return;
    };
    let (at_a, at_b) = merging_pair(&world, DATAGRAM);
    at_b.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
    b.kill();
    let said = bytes(CALL * DATAGRAM, 3);
    let mut buffer = vec![0; 1 << 16];
    for _ in 0..20 {
        at_a.send(&said).unwrap();
        while let Ok(length) = at_b.recv(&mut buffer) {
            let is_said = buffer[..length]
                .chunks(DATAGRAM)
                .all(|part| said.chunks(DATAGRAM).any(|whole| whole == part));
            assert!(is_said, "a datagram of {length} bytes has INT in it");
        }
    }
    assert!(count(&a.stop(), "started") > 100);
}

/// The same length, except for two of ten datagrams.
fn length(number: u32) -> usize {
    match number % 10 {
        8 => 100,
        9 => 200,
        _ => WHOLE,
    }
}

/// Sockets of A and B: A's sends several datagrams of this length per call, as QUIC does, and B's receives
/// several.
fn merging_pair(world: &World, length: usize) -> (UdpSocket, UdpSocket) {
    let (at_a, at_b) = udp_pair(world, A4, B4);
    take_merged(&at_b);
    send_merged(&at_a, u32::try_from(length).unwrap());
    set_ip_mtu_discover(&at_a, Ipv4PathMtuDiscovery::DO).unwrap();
    (at_a, at_b)
}

/// Makes the device of B merge datagrams for sockets that allow it. A veth merges only if its peer does not
/// segment.
pub(crate) fn merge(world: &World) {
    for (place, device, offload, state) in
        [(Place::SecondHop, "cd", "tso", "off"), (Place::B, "dc", "gro", "on")]
    {
        world.offload(place, device, offload, state);
    }
}

/// Receives `bytes` bytes, in any number of datagrams.
fn hear(socket: &UdpSocket, bytes: usize) -> Vec<u8> {
    let (mut heard, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    while heard.len() < bytes {
        let length = receive(socket, &mut buffer);
        heard.extend_from_slice(&buffer[..length]);
    }
    heard
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, domain)?, Agent::start(world, Place::B, domain)?))
}
