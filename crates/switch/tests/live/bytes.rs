//! The same packet through a switch and through the engine alone gives the same bytes.

use std::time::{Duration, Instant};

use inband_linux::device;
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::netlink::Netlink;
use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{Node, NodeConfig, Passage, Verdict};
use inband_switch::Switch;
use inband_wire::Link;

use crate::world::{A, FIRST, PATIENCE, SECOND, World, config};

const STATIC: &str = "\
[switch]
datapath = \"engine\"
forwarding = \"static\"
[[static]]
destination = \"10.0.0.0/8\"
interfaces = [2]
[source]
instructions = [\"node-id\", \"level1-interfaces\"]
";

fn socket(world: &World, place: usize, name: &str) -> FrameSocket {
    world.inside(place, || {
        let device = device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap();
        FrameSocket::open(device.index).unwrap()
    })
}

/// Frames with UDP in IPv4, of several lengths, tagged and not.
fn frames() -> Vec<Vec<u8>> {
    let udp = |payload: usize, vlan: &[u8]| {
        let [high, low] = u16::try_from(28 + payload).unwrap().to_be_bytes();
        let mut ip = vec![0x45, 0, high, low, 0, 1, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 2];
        let checksum = inband_wire::checksum::Sum::of(&ip).checksum();
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        let [high, low] = u16::try_from(8 + payload).unwrap().to_be_bytes();
        let header = [4, 1, 0, 80, high, low, 0, 0];
        let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        [&addresses[..], vlan, &[8, 0], &ip, &header, &vec![7; payload]].concat()
    };
    vec![udp(18, &[]), udp(1_000, &[]), udp(1_400, &[]), udp(100, &[0x81, 0, 0, 7])]
}

#[test]
fn frames_leave_a_switch_as_they_leave_the_engine() {
    let Some(world) = World::new() else { return };
    let _switch = world.switch(FIRST, STATIC);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let node_config: NodeConfig = toml::from_str(&config(FIRST, STATIC)).unwrap();
    let mut node = Node::new(&node_config).unwrap();
    let mut batch = Batch::new();

    for frame in frames() {
        let mut buffer = [vec![0; MAX_GROWTH], frame.clone()].concat();
        let mut expected = Frame::behind_headroom(&mut buffer).unwrap();
        let passage = Passage { ingress: 1, egress: 2, ..Passage::default() };
        assert_eq!(node.handle_frame(Link::Ethernet, &mut expected, &passage), Verdict::Forward);

        assert_eq!(from.send(std::iter::once(frame.as_slice())).unwrap(), 1);

        let since = Instant::now();
        let mut got = None;
        while got.is_none() && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
            for received in to.receive(&mut batch).unwrap() {
                let (addresses, rest) = received.bytes.split_at(12);
                let tag = received
                    .vlan
                    .map(|(protocol, contents)| [protocol.to_be_bytes(), contents.to_be_bytes()].concat());
                let bytes = [addresses, &tag.unwrap_or_default(), rest].concat();
                if addresses[6..] == [2, 0, 0, 0, 0, 1] {
                    got = Some(bytes);
                }
            }
        }
        let got = got.expect("the frame comes");
        assert_ne!(got, frame, "INT was added");
        assert_eq!(got, expected.bytes());
    }
}

#[test]
fn wrong_configurations_are_refused_by_their_key() {
    let Some(world) = World::new() else { return };
    let good = config(FIRST, "");
    for (text, key) in [
        (good.replace("device = \"left\"", "device = \"none\""), "interface.device"),
        (good.replace("device = \"left\"", "device = \"right\""), "interface.device"),
        (good.replace("device = \"left\"", "device = \"lo\""), "interface.device"),
        (good.replacen("rate = \"0\"", "rate = \"0\"\npriorities = 9", 1), "interface.priorities"),
        (good.replacen("rate = \"0\"", "rate = \"0\"\nqueue_bytes = 10", 1), "interface.queue_bytes"),
        (good.replacen("mtu = 1500", "mtu = 9000", 1), "interface.mtu"),
        (
            good.replace("datapath = \"engine\"", "datapath = \"engine\"\nforwarding = \"static\""),
            "switch.forwarding",
        ),
        (format!("{good}[[static]]\ndestination = \"10.0.0.0/8\"\ninterfaces = [9]\n"), "static.interfaces"),
        (format!("{good}[[static]]\ndestination = \"10.0.0.0/8\"\ninterfaces = [1]\n"), "static"),
        (
            format!("{good}[source]\nremaining_hops = 8\ninstructions = [\"queue-congestion\"]\n"),
            "source.instructions",
        ),
    ] {
        let config: NodeConfig = toml::from_str(&text).unwrap();
        let error = world.inside(FIRST, || Switch::start(&config).map(drop)).unwrap_err();
        assert_eq!(error.key(), Some(key), "{error}");
    }
}
