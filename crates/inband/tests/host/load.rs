//! Queue and link metadata of a host match the actual load.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::traffic::{bytes, connect, deliver, receive, udp_pair};
use crate::world::{A4, B4, COLLECTOR, Offloads, Place, World};

/// Datagrams per burst, and the bytes of each. A socket has room for all of them, however late the test reads
/// them: each takes up to 4,352 of its 212,992 bytes, where the sink has to copy a packet that is captured.
const BURST: usize = 45;
const DATAGRAM_BYTES: usize = 1_000;
/// A queue that empties slowly, also beside a sender that has to wait for a processor within its burst.
const SLOW: &str = "qdisc add dev ab root tbf rate 1mbit burst 4kb limit 400kb";
/// The link speed that a veth reports.
const LINK_BITS_PER_SECOND: f64 = 10e9;
/// Longer than the averaging time of the link utilization.
const FORGOTTEN: Duration = Duration::from_millis(3_500);

#[test]
fn packets_say_how_many_bytes_waited_in_front_of_them() {
    let Some(world) = World::new(Offloads::On) else { return };
    if !world.tc(Place::A, SLOW) {
        eprintln!("skipped: this kernel has no token buckets");
        return;
    }
    let domain = domain("md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    deliver(&at_a, &at_b, b"the hops have found each other");
    let capture = Capture::start(&world, Place::FirstHop);

    (0..BURST).for_each(|_| assert_eq!(at_a.send(&bytes(DATAGRAM_BYTES, 5)).unwrap(), DATAGRAM_BYTES));
    (0..BURST).for_each(|_| assert_eq!(receive(&at_b, &mut [0; 2_000]), DATAGRAM_BYTES));
    std::thread::sleep(Duration::from_millis(100));
    (0..5).for_each(|_| deliver(&at_a, &at_b, b"alone"));
    deliver(&at_b, &at_a, b"from where nothing queues");

    let packets = capture.decode(&world);
    let waited = of_source(&packets, A4, "queue_occupancy");
    let most = waited.iter().flatten().max().copied().unwrap_or_default();
    // Each has some 130 bytes of headers and INT; part of the burst left while it was being sent.
    assert!((20_000..=115_000).contains(&most), "{waited:?}");
    // Each packet passes two devices of the hop.
    let (burst, alone) = waited.split_at(waited.len() - 10);
    assert!(burst.len() >= BURST && burst.iter().all(Option::is_some), "{waited:?}");
    assert!(alone.iter().all(|waited| *waited == Some(0)), "{waited:?}");
    // A veth has no queue, so nothing is reported about it.
    assert!(of_source(&packets, B4, "queue_occupancy").iter().all(Option::is_none));
    a.stop();
    b.stop();
}

#[test]
fn postcards_say_how_many_bytes_waited_too() {
    let Some(world) = World::new(Offloads::On) else { return };
    if !world.tc(Place::A, SLOW) {
        eprintln!("skipped: this kernel has no token buckets");
        return;
    }
    let Some(a) = Agent::start(&world, Place::A, &domain("xd")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    // So that reports to the collector cause no ICMP errors.
    let _collector = world.inside(Place::FirstHop, || UdpSocket::bind((COLLECTOR, 32766)).unwrap());
    deliver(&at_a, &at_b, b"the hops have found each other");
    let capture = Capture::start(&world, Place::FirstHop);

    (0..BURST).for_each(|_| assert_eq!(at_a.send(&bytes(DATAGRAM_BYTES, 5)).unwrap(), DATAGRAM_BYTES));
    (0..BURST).for_each(|_| assert_eq!(receive(&at_b, &mut [0; 2_000]), DATAGRAM_BYTES));
    a.stop();

    let packets = capture.decode(&world);
    let told = packets.iter().filter(|packet| packet["node_id"] == 101);
    let waited: Vec<_> =
        told.filter_map(|report| report["reports"][0]["metadata"]["queue_occupancy"].as_u64()).collect();
    assert!(waited.iter().any(|waited| (20_000..=115_000).contains(waited)), "{waited:?}");
}

#[test]
fn packets_say_how_busy_the_link_was() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = domain("md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    deliver(&at_a, &at_b, b"the hops have found each other");

    let busy = || assert_eq!(at_a.send(b"busy").unwrap(), 4);
    let (arrived, capture) = send_for(&world, Duration::from_millis(2_000), busy);
    let offered = arrived / LINK_BITS_PER_SECOND * 10_000.0;
    assert_eq!(receive(&at_b, &mut [0; 2_000]), 4);
    std::thread::sleep(FORGOTTEN);
    deliver(&at_a, &at_b, b"idle");

    let said = of_source(&capture.decode(&world), A4, "egress_utilization");
    let [Some(busy), _, idle, _] = said.as_slice() else { panic!("{said:?}") };
    let busy = f64::from(u32::try_from(*busy).unwrap());
    assert!(busy > offered / 4.0 && busy < offered * 4.0, "{busy} of {offered} hundredths of a percent");
    // Leases and reports are little traffic, and none of it may be mistaken for what was sent before.
    assert!(idle.is_some_and(|idle| idle < 10), "{said:?}");
    a.stop();
    b.stop();
}

/// Sources that report queue and link, for every packet.
fn domain(mode: &'static str) -> Domain {
    Domain {
        asks: "\"queue-occupancy\", \"egress-utilization\", ",
        interval_us: 0,
        ..Domain::new("dscp", mode)
    }
}

/// The value of `key` from the source's hop in each UDP packet of `source`, in the order they passed.
fn of_source(packets: &[Value], source: &str, key: &str) -> Vec<Option<u64>> {
    let is_meant = |packet: &&Value| packet["kind"] == "int" && packet["flow"]["source"] == source;
    let of_udp = packets.iter().filter(is_meant).filter(|packet| packet["flow"]["protocol"] == 17);
    of_udp.map(|packet| packet["int"][0]["hops"][0][key].as_u64()).collect()
}

/// Sends over TCP for a while, and then `last`; returns how many bits per second arrived, and a capture of the
/// end.
fn send_for(world: &World, duration: Duration, last: impl FnOnce()) -> (f64, Capture) {
    let (mut to_b, mut at_b) = connect(world, B4);
    let since = Instant::now();
    let (received, capture) = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut chunk, mut received) = (vec![0; 1 << 18], 0);
            loop {
                match at_b.read(&mut chunk).unwrap() {
                    0 => return received,
                    length => received += length,
                }
            }
        });
        let chunk = vec![0x5a; 1 << 17];
        while since.elapsed() < duration {
            to_b.write_all(&chunk).unwrap();
        }
        let capture = Capture::start(world, Place::FirstHop);
        // The link is busy until `last`, however long a thread waits for a processor in between.
        (0..16).for_each(|_| to_b.write_all(&chunk).unwrap());
        last();
        drop(to_b);
        (reader.join().unwrap(), capture)
    });
    (f64::from(u32::try_from(received).unwrap()) * 8.0 / since.elapsed().as_secs_f64(), capture)
}
