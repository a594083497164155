//! Single packets get INT at the device itself; what `steer` cannot complete the checksum of passes the shim.

use std::net::{IpAddr, UdpSocket};

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::tally::count;
use crate::traffic::{bytes, connect, deliver, say_both_ways, udp_pair};
use crate::world::{A4, A6, B4, B6, Offloads, Place, World};

/// The largest payload with room for INT on these links.
const MAX_PAYLOAD: usize = 1_300;
/// Lengths around the parts in which payload is summed.
const AROUND_PARTS: [usize; 6] = [511, 512, 513, 1_023, 1_024, 1_025];

#[test]
fn datagrams_pass_the_shim_only_if_they_are_short() {
    for kind in ["dscp", "udp-port", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some((a, b)) = agents(&world, kind) else { return };
        let capture = Capture::start(&world, Place::FirstHop);

        let (mut sent, mut short) = (0, 0);
        for (from, to, least) in [(A4, B4, 27), (A6, B6, 47)] {
            let (at_a, at_b) = udp_pair(&world, from, to);
            for length in (0..=MAX_PAYLOAD).step_by(31).chain(20..55).chain(AROUND_PARTS) {
                deliver(&at_a, &at_b, &bytes(length, 5));
                sent += 1;
                short += u64::from(length < least);
            }
        }

        assert_checksums(capture, &world, kind);
        let (a, b) = (a.stop(), b.stop());
        assert_eq!((count(&a, "started"), count(&b, "stripped")), (sent, sent), "{kind}: {a} {b}");
        assert_eq!(count(&a, "steered"), short, "{kind}: {a}");
        assert_eq!(a["watched"]["int_packets"], sent, "{kind}: {a}");
    }
}

#[test]
fn no_packet_passes_the_shim_where_checksums_are_complete() {
    let Some(world) = World::new(Offloads::Off) else { return };
    let Some((a, b)) = agents(&world, "dscp") else { return };
    for (from, to) in [(A4, B4), (A6, B6)] {
        let (at_a, at_b) = udp_pair(&world, from, to);
        (0..60).for_each(|length| deliver(&at_a, &at_b, &bytes(length, 7)));
    }

    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stripped")), (120, 120), "{a} {b}");
    assert_eq!(count(&a, "steered"), 0, "{a}");
}

#[test]
fn a_connection_of_small_messages_is_unchanged_and_in_order() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some((a, b)) = agents(&world, kind) else { return };
        let capture = Capture::start(&world, Place::FirstHop);
        for address in [B4, B6] {
            let (mut to_b, mut at_b) = connect(&world, address);
            for end in [&to_b, &at_b] {
                end.set_nodelay(true).unwrap();
            }
            for length in (1..60).chain((60..1_200).step_by(37)) {
                say_both_ways((&mut to_b, &mut at_b), &bytes(length, 9));
            }
        }

        assert_checksums(capture, &world, kind);
        let (a, b) = (a.stop(), b.stop());
        for (from, to) in [(&a, &b), (&b, &a)] {
            assert_eq!(count(from, "started"), count(to, "stripped"), "{kind}: {from} {to}");
            // The shortest messages, and acknowledgements without one.
            assert!(count(from, "steered") < count(from, "started") / 2, "{kind}: {from}");
        }
    }
}

/// RFC 768: a checksum that is zero is sent as all ones, and zero is none.
#[test]
fn a_checksum_of_zero_is_not_taken_for_none() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, "dscp") else { return };
    let capture = Capture::start(&world, Place::FirstHop);
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    deliver(&at_a, &at_b, &payload_with_checksum_zero(&at_a, 600));

    assert_checksums(capture, &world, "dscp");
    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stripped")), (1, 1), "{a} {b}");
    assert_eq!(count(&a, "steered"), 0, "{a}");
}

#[test]
fn single_packets_get_int_while_the_shim_is_down() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, "dscp") else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let (long, short) = (bytes(100, 11), bytes(10, 11));
    deliver(&at_a, &at_b, &long);
    world.ip(Place::A, "link set int0 down");

    // The agent repairs the shim within a fraction of a second.
    (0..20).for_each(|_| deliver(&at_a, &at_b, &long));
    (0..20).for_each(|_| deliver(&at_a, &at_b, &short));

    let (a, b) = (a.stop(), b.stop());
    // On a busy machine the agent may have no heartbeat for a while.
    let silent = count(&a, "agent_silent");
    assert!(count(&a, "started") + silent >= 21, "{a}");
    assert_eq!(count(&a, "started") + count(&a, "shim_down") + silent, 41, "{a}");
    assert_eq!(count(&b, "stripped"), count(&a, "started"), "{a} {b}");
}

/// Agents at both ends, with INT in every packet.
fn agents(world: &World, kind: &'static str) -> Option<(Agent, Agent)> {
    let domain = Domain::new(kind, "md");
    Some((Agent::start(world, Place::A, &domain)?, Agent::start(world, Place::B, &domain)?))
}

/// Every packet with INT has a correct checksum; with a new UDP header that is in front of INT, and absent.
#[track_caller]
fn assert_checksums(capture: Capture, world: &World, kind: &str) {
    let packets = capture.decode(world);
    let with_int: Vec<_> = packets.iter().filter(|packet| packet["kind"] == "int").collect();
    assert!(!with_int.is_empty());
    for packet in with_int {
        assert_eq!(packet["checksum"], if kind == "udp" { "absent" } else { "ok" }, "{packet}");
    }
}

/// A payload of `length` bytes, an even number, that makes the sum over the datagram all ones: the checksum
/// is zero.
fn payload_with_checksum_zero(from: &UdpSocket, length: u16) -> Vec<u8> {
    let (source, destination) = (from.local_addr().unwrap(), from.peer_addr().unwrap());
    let address = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => panic!("{address}"),
    };
    let datagram_bytes = (length + 8).to_be_bytes();
    let mut payload = bytes(usize::from(length), 13);
    let (rest, last) = payload.split_last_chunk_mut::<2>().unwrap();
    let mut summed = [address(source.ip()), address(destination.ip())].concat();
    summed.extend([0, 17]);
    summed.extend([datagram_bytes, source.port().to_be_bytes(), destination.port().to_be_bytes()].concat());
    summed.extend(datagram_bytes);
    summed.extend_from_slice(rest);
    let mut sum: u32 = summed.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    *last = (0xffff - u16::try_from(sum).unwrap()).to_be_bytes();
    payload
}
