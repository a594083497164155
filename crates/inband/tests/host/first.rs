//! The first segment of a super-packet has INT, the others stay in one piece, and connections notice nothing.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::foreign::send_merged;
use crate::tally::{count, counter};
use crate::traffic::{bytes, connect, exchange_tcp, read, received, udp_pair};
use crate::world::{A4, B4, B6, Offloads, Place, World};

/// Every outcome of a watched packet, of those that occur here.
const OUTCOMES: [&str; 6] =
    ["started", "between_slices", "not_started_mtu", "not_started_checksum", "unanswered", "shim_down"];

/// Bytes of a datagram, and calls that send three of them.
const DATAGRAM: u32 = 1_200;
const CALLS: u64 = 100;

#[test]
fn only_the_first_segment_has_int_and_nothing_is_lost_or_doubled() {
    for domain in [Domain::new("dscp", "md"), Domain::new("udp", "md"), Domain::of_host_int("dscp")] {
        let Some(world) = World::new(Offloads::On) else { return };
        let addresses = if domain.version == "2.1" { &[B4, B6][..] } else { &[B4] };
        let Some((a, b)) = agents(&world, domain) else { return };

        for address in addresses {
            exchange_tcp(&world, address, 3_000_000);
            // Short connections: their last super-packets end with PSH, and their FIN comes with data.
            for number in 1..40 {
                exchange_tcp(&world, address, 1 + number * 9_973 % 200_000);
            }
        }

        let (a, b) = (a.stop(), b.stop());
        for (from, to) in [(&a, &b), (&b, &a)] {
            let (steered, started) = (count(from, "steered"), count(from, "started"));
            assert!(started > 200 && count(from, "between_slices") > started, "{from}");
            assert_eq!(started, count(to, "stripped"), "{from} {to}");
            assert!(steered <= started + count(from, "not_started_checksum"), "{from}");
            assert_eq!(outcomes(from), from["watched"]["packets"].as_u64().unwrap(), "{from}");
            for fault in ["no_room", "segments", "malformed", "shim_down"] {
                assert_eq!(count(from, fault), 0, "{fault}: {from}");
            }
        }
        for place in [Place::A, Place::B] {
            let of = |file, line, name| counter(&world, place, (file, line, name));
            assert_eq!(of("snmp", "Tcp:", "InErrs") + of("snmp", "Tcp:", "InCsumErrors"), 0, "{place:?}");
            assert_eq!(of("netstat", "TcpExt:", "TCPOFOQueue"), 0, "{place:?}");
        }
        // On a busy machine TCP itself may send something twice.
        let doubled = counter(&world, Place::B, ("netstat", "TcpExt:", "TCPDSACKOldSent"));
        let resent = counter(&world, Place::A, ("snmp", "Tcp:", "RetransSegs"));
        assert!(doubled <= resent, "{doubled} of {resent}");
    }
}

#[test]
fn a_bridge_filter_that_drops_every_segment_costs_a_flow_at_most_one_packet_a_second() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, Domain::new("dscp", "md")) else { return };
    let (mut to_b, mut at_b) = connect(&world, B4);
    let (datagrams_to_b, datagrams_at_b) = udp_pair(&world, A4, B4);
    send_merged(&datagrams_to_b, DATAGRAM);
    let rules = "table bridge filter { chain output { type filter hook output priority 0; \
                 meta length 1000-65535 drop; }; }";
    if !world.nft(Place::A, rules) {
        eprintln!("skipped: this machine has no nft, or no bridge filters");
        return;
    }

    let began = Instant::now();
    let length = 5_000_000;
    let before = counter(&world, Place::A, ("snmp", "Tcp:", "RetransSegs"));
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(read(&mut at_b, length) == bytes(length, 1), "the bytes have changed"));
        std::io::Write::write_all(&mut to_b, &bytes(length, 1)).unwrap();
    });
    let resent = counter(&world, Place::A, ("snmp", "Tcp:", "RetransSegs")) - before;
    let mut delivered = 0;
    for _ in 0..CALLS {
        datagrams_to_b.send(&[0x5a; 3 * DATAGRAM as usize]).unwrap();
        // Longer than any packet is in the shim.
        std::thread::sleep(Duration::from_millis(2));
        delivered += received(&datagrams_at_b);
    }
    let seconds = began.elapsed().as_secs();

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "shim_down") > 100, "{a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
    // One before the filter, then one of each flow at once, and one more of each in every further second.
    assert!(count(&a, "steered") <= 3 + 2 * seconds, "{seconds} s: {a}");
    // On a busy machine TCP itself may send something twice.
    assert!(resent < 50, "{resent} sent again: {a}");
    assert!(delivered >= 3 * (CALLS - 1 - seconds), "{delivered} in {seconds} s: {a}");
}

/// Agents of both hosts with INT in every super-packet of TCP, in its first segment.
fn agents(world: &World, domain: Domain) -> Option<(Agent, Agent)> {
    let domain = Domain { coverage: "slices", interval_us: 1, ..domain };
    Some((Agent::start(world, Place::A, &domain)?, Agent::start(world, Place::B, &domain)?))
}

/// The watched packets with an outcome.
fn outcomes(tally: &Value) -> u64 {
    OUTCOMES.iter().map(|outcome| count(tally, outcome)).sum()
}
