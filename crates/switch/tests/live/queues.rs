//! Depth, latency and drops in the metadata are those of the queues.

use std::net::UdpSocket;
use std::time::Duration;

use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, outcome};

const INSTRUCTIONS: &str = "\
[source]
instructions = [\"node-id\", \"hop-latency\", \"queue-occupancy\", \"ingress-timestamp\"]
";
/// The frames that fit into the queue, but one.
const LEAST: u64 = 46;
/// The rate towards B, bits per second.
const RATE: u64 = 10_000_000;
/// The size of a datagram of 1,000 bytes while it waits, and when it is sent: with shim, MD header, one hop
/// of five words, and Ethernet's overhead.
const WAITING_BYTES: u64 = 1_042;
const SENT_BYTES: u64 = WAITING_BYTES + 4 + 12 + 20 + 24;

#[test]
fn a_bottleneck_shows_its_depth_within_a_packet_and_the_latency_that_follows_from_it() {
    let Some(world) = World::new() else { return };
    world.one_network();
    let config = crate::world::config(FIRST, INSTRUCTIONS);
    assert!(config.contains("rate = \"0\""));
    let first = world.switch_of(
        FIRST,
        &config.replacen("rate = \"0\"", "rate = \"1Gbit\"", 1).replacen(
            "rate = \"0\"",
            "rate = \"10Mbit\"\nqueue_bytes = 50000",
            1,
        ),
    );
    let second = world.switch(SECOND, INSTRUCTIONS);
    world.udp("10.94.0.2", 1..3);
    second.take_reports();

    let receiver = world.inside(B, || UdpSocket::bind("10.94.0.2:0").unwrap());
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    let to = receiver.local_addr().unwrap();
    for number in 0..60_u8 {
        sender.send_to(&[number; 1_000], to).unwrap();
    }

    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut arrived, mut buffer) = (0_u64, [0; 2_048]);
    while receiver.recv(&mut buffer).is_ok() {
        arrived += 1;
        // As many as the queue holds arrive, however long the switches wait for a processor.
        if arrived == LEAST {
            receiver.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        }
    }
    let (first, (_, reports)) = (first.stop(), second.stop_and_take_reports());
    // 50,000 bytes are 47 frames, and one more is being sent.
    let dropped = first.interfaces[1].drops.get("queue_full").copied().unwrap_or(0);
    assert_eq!(arrived + dropped, 60);
    // On a busy machine, some are sent while others still arrive.
    let came_at = |report: &Vec<u8>| hop(report, 11).ingress_ns;
    let took_ns = came_at(reports.last().unwrap()) - came_at(&reports[0]);
    let sent_meanwhile = took_ns * RATE / (SENT_BYTES * 8 * 1_000_000_000) + 1;
    assert!(
        (LEAST..=50 + sent_meanwhile).contains(&arrived),
        "{arrived} arrived, {sent_meanwhile} sent meanwhile"
    );
    assert_eq!(reports.len() as u64, arrived);
    assert!(outcome(&first, "dropped") >= dropped);

    let hops: Vec<[Hop; 2]> = reports.iter().map(|report| [11, 12].map(|node| hop(report, node))).collect();
    assert_depth(&hops);
    // The time between the kernel's timestamps is that in the first switch's metadata, plus the link's delay.
    let truth = |[first, second]: &[Hop; 2]| second.ingress_ns - first.ingress_ns;
    let tolerance = |truth: u64| (truth / 20).max(10_000);
    for pair in &hops {
        let (latency, truth) = (pair[0].latency_ns, truth(pair));
        assert!(latency <= truth + tolerance(truth), "{latency} ns at the node, {truth} ns between both");
    }
    // Where the machine runs other processes in between, the frame is later than the metadata. The kernel's
    // own timestamp is late as well, as long as its thread for received frames waits for a processor.
    let is_exact = |pair: &&[Hop; 2]| truth(pair) <= pair[0].latency_ns + tolerance(truth(pair));
    let exact = hops.iter().filter(is_exact).count();
    assert!(exact * 4 >= hops.len(), "{exact} of {} latencies are exact", hops.len());
}

/// The depth is that of a link of this rate at the time the packet came, within a packet. It is less where
/// the machine runs other processes before the switch takes the packet: others have left the queue by then.
fn assert_depth(hops: &[[Hop; 2]]) {
    let (mut free_at, mut starts) = (0, Vec::new());
    let mut exact = 0;
    for (number, [hop, _]) in hops.iter().enumerate() {
        let waiting = starts.iter().filter(|start| **start > hop.ingress_ns).count();
        let expected = WAITING_BYTES * u64::try_from(waiting).unwrap();
        assert!(hop.depth <= expected + WAITING_BYTES, "packet {number}: {hop:?}, not {expected}");
        exact += usize::from(hop.depth + WAITING_BYTES >= expected);
        let start = hop.ingress_ns.max(free_at);
        starts.push(start);
        free_at = start + SENT_BYTES * 8 * 1_000_000_000 / RATE;
    }
    assert!(exact * 4 >= hops.len() * 3, "{exact} of {} depths are exact", hops.len());
}

/// A node's metadata in a report.
#[derive(Clone, Copy, Debug)]
struct Hop {
    latency_ns: u64,
    depth: u64,
    ingress_ns: u64,
}

fn hop(report: &[u8], node: u32) -> Hop {
    let at =
        report.windows(4).rposition(|word| word == node.to_be_bytes()).expect("the node is in the report");
    let word = |number: usize| {
        let at = at + 4 * number;
        u64::from(u32::from_be_bytes(report[at..at + 4].try_into().unwrap()))
    };
    Hop { latency_ns: word(1), depth: word(2) & 0xff_ffff, ingress_ns: word(3) << 32 | word(4) }
}
