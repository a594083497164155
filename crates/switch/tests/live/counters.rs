//! The counters of a switch in its metadata.

use inband_linux::device;
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::netlink::Netlink;
use inband_linux::statistics::Statistics;
use inband_wire::int::{CodePoints, Md};
use inband_wire::{Link, Strictness, dissect};

use crate::kernel::{bridge, config, exchange, plain_frame, socket};
use crate::world::{A, FIRST, SECOND, World};

const DOMAIN: &str = "\
[source.domain]
id = 0x5453
instructions = [0, 1, 2, 3, 4, 5, 6]
[[domain]]
id = 0x5453
metadata = [
    { bit = 0, words = 2, placement = \"every-hop\", value = \"state-version\" },
    { bit = 1, words = 2, placement = \"every-hop\", value = \"rx-packets\" },
    { bit = 2, words = 2, placement = \"every-hop\", value = \"rx-bytes\" },
    { bit = 3, words = 2, placement = \"every-hop\", value = \"rx-drops\" },
    { bit = 4, words = 2, placement = \"every-hop\", value = \"tx-packets\" },
    { bit = 5, words = 2, placement = \"every-hop\", value = \"tx-bytes\" },
    { bit = 6, words = 2, placement = \"every-hop\", value = \"tx-drops\" },
]
";

/// The counters in a packet, in the order of the bits.
#[derive(Clone, Copy, Debug)]
struct Counters {
    state_version: u64,
    rx: [u64; 3],
    tx: [u64; 3],
}

impl Counters {
    fn read(frame: &[u8]) -> Self {
        let dissection = dissect(Link::Ethernet, frame, &CodePoints::DEFAULT, Strictness::Whole);
        let (_, location) = dissection.int().next().expect("the packet has INT");
        let md = Md::parse(frame, location, &[]).unwrap();
        let hop = md.stack.hops().next().unwrap().domain();
        let (values, _) = hop.as_chunks::<8>();
        let [state_version, a, b, c, d, e, f] =
            <[u64; 7]>::try_from(values.iter().map(|value| u64::from_be_bytes(*value)).collect::<Vec<_>>())
                .unwrap();
        Self { state_version, rx: [a, b, c], tx: [d, e, f] }
    }
}

/// The link that the frames take: a socket in front of the first switch, and one behind it.
struct Path {
    from: FrameSocket,
    to: FrameSocket,
    batch: Batch,
}

impl Path {
    fn new(world: &World) -> Self {
        Self { from: socket(world, A, "right"), to: socket(world, SECOND, "left"), batch: Batch::new() }
    }

    fn send(&mut self, frame: &[u8]) -> Option<Counters> {
        exchange(&self.from, &self.to, frame, &mut self.batch).map(|frame| Counters::read(&frame))
    }
}

/// Adds a route to the first switch's tables.
fn change_routes(world: &World) {
    assert!(world.run(FIRST, "ip route add blackhole 198.51.100.0/24"));
}

#[test]
fn a_switch_writes_its_own_counters() {
    let Some(world) = World::new() else { return };
    let text = format!(
        "[switch]\ndatapath = \"engine\"\nforwarding = \"static\"\n[[static]]\ndestination = \"10.0.0.0/8\"\n\
         interfaces = [2]\n{DOMAIN}"
    );
    let switch = world.switch_of(FIRST, &config(11, "dscp", &["left"], 2_000, &text));
    let mut path = Path::new(&world);
    let frame = plain_frame(100, 17, true, 80);
    let length = u64::try_from(frame.len()).unwrap();
    let first = path.send(&frame).expect("the frame comes");
    let mut last = first;
    for _ in 0..20 {
        let next = path.send(&frame).expect("the frame comes");
        // Neighbour discovery of the hosts may be in between.
        assert!(next.rx[0] > last.rx[0] && next.tx[0] > last.tx[0], "{last:?} {next:?}");
        assert!(next.rx[1] >= last.rx[1] + length && next.tx[1] >= last.tx[1] + length, "{last:?} {next:?}");
        last = next;
    }

    // No static entry leads there.
    let mut elsewhere = plain_frame(100, 17, false, 80);
    elsewhere[38] = 0x20;
    assert_eq!(path.from.send(std::iter::once(elsewhere.as_slice())).unwrap(), 1);
    change_routes(&world);
    let since = std::time::Instant::now();
    let after = loop {
        let after = path.send(&frame).expect("the frame comes");
        if after.rx[2] > last.rx[2] && after.state_version > last.state_version {
            break after;
        }
        assert!(since.elapsed() < crate::world::PATIENCE, "{last:?} {after:?}");
    };

    let status = switch.stop();
    let [left, right] = &status.interfaces[..] else { panic!("two interfaces: {status:?}") };
    assert!(after.rx[0] <= left.received_packets && after.rx[1] <= left.received_bytes, "{after:?} {left:?}");
    assert!(after.tx[0] < right.sent_packets && after.tx[1] < right.sent_bytes, "{after:?} {right:?}");
    assert!(after.state_version <= status.table_version, "{after:?} {status:?}");
    let dropped: u64 = left.drops.values().sum();
    assert!(after.rx[2] <= dropped + left.receive_losses, "{after:?} {left:?}");
    assert_eq!(after.tx[2], 0, "nothing was dropped on the way out: {after:?} {right:?}");
}

#[test]
fn where_linux_forwards_the_counters_are_those_of_its_devices() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let text = format!("[switch]\ndatapath = \"kernel\"\n{DOMAIN}");
    let switch = world.switch_of(FIRST, &config(11, "dscp", &["left"], 2_000, &text));
    let read = || {
        world.inside(FIRST, || {
            let mut netlink = Netlink::open().unwrap();
            ["left", "right"].map(|name| {
                let device = device::find(&mut netlink, name).unwrap().unwrap();
                Statistics::read(&mut netlink, device.index).unwrap().unwrap()
            })
        })
    };
    let mut path = Path::new(&world);
    let frame = plain_frame(100, 17, true, 80);
    path.send(&frame).expect("the frame comes");
    for _ in 0..20 {
        let [left_before, right_before] = read();
        let counters = path.send(&frame).expect("the frame comes");
        let [left, right] = read();
        let rx = |statistics: &Statistics| {
            [statistics.received_packets, statistics.received_bytes, statistics.receive_drops]
        };
        let tx =
            |statistics: &Statistics| [statistics.sent_packets, statistics.sent_bytes, statistics.send_drops];
        let is_within = |before: [u64; 3], value: [u64; 3], after: [u64; 3]| {
            (0..3).all(|at| (before[at]..=after[at]).contains(&value[at]))
        };
        assert!(is_within(rx(&left_before), counters.rx, rx(&left)), "{left_before:?} {counters:?} {left:?}");
        assert!(counters.rx[0] > left_before.received_packets, "this packet is included: {counters:?}");
        assert!(
            is_within(tx(&right_before), counters.tx, tx(&right)),
            "{right_before:?} {counters:?} {right:?}"
        );
        assert!(counters.tx[0] < right.sent_packets, "this packet is not: {counters:?} {right:?}");
    }

    let before = path.send(&frame).expect("the frame comes").state_version;
    change_routes(&world);
    let after = path.send(&frame).expect("the frame comes").state_version;
    assert!(after > before, "{before} {after}");
    assert!(switch.stop().table_version >= after);
}
