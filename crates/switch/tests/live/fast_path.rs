//! INT-MD forwarded by an XDP program with the kernel's routes.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use aya::programs::{Xdp, XdpMode};
use aya::{Ebpf, EbpfLoader};
use inband_linux::device::{self, Device};
use inband_linux::ethtool::{self, Offload};
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::neighbour::Neighbour;
use inband_linux::netlink::Netlink;
use inband_linux::route::{NextHop, Route};
use inband_node::{Node, NodeConfig};
use inband_switch::{LiveSwitch, Status};

use crate::kernel::{
    KINDS, assert_is_balanced, config, correct_ipv4_checksum, int_frames, malformed_frames, node,
    replace_instructions, socket, through,
};
use crate::world::{A, FIRST, PATIENCE, SECOND, World, outcome};

/// Addresses of routers behind the switch, which do not exist.
const GATEWAYS: [[u8; 6]; 2] = [[2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 1, 2]];

/// A line where the switch routes between a socket at its left and one at its right.
pub(crate) struct Line {
    pub(crate) world: World,
    pub(crate) left: Device,
    pub(crate) right: Device,
    pub(crate) from: FrameSocket,
    to: FrameSocket,
    batch: Batch,
}

impl Line {
    /// Packets are forwarded to the first `gateways` of the gateways.
    pub(crate) fn new(gateways: usize) -> Option<Self> {
        let world = World::new()?;
        for (name, v4, v6) in
            [("left", "10.94.1.254/24", "fd94:1::fe/64"), ("right", "10.94.2.1/24", "fd94:2::1/64")]
        {
            world.address(FIRST, name, v4);
            world.address(FIRST, name, v6);
        }
        let [left, right] = world.inside(FIRST, || {
            for name in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
                set(name, "1");
            }
            for name in ["all", "left", "right"] {
                set(&format!("ipv4/conf/{name}/rp_filter"), "0");
            }
            let mut netlink = Netlink::open().unwrap();
            ["left", "right"].map(|name| device::find(&mut netlink, name).unwrap().unwrap())
        });
        // Without it the other end of a veth pair accepts no packets from XDP.
        for (place, name) in [(A, "right"), (SECOND, "left")] {
            world.inside(place, || ethtool::set(name, Offload::ReceiveJoining, true).unwrap());
        }
        world.inside(FIRST, || add_routes(&right, gateways));
        let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
        Some(Self { world, left, right, from, to, batch: Batch::new() })
    }

    /// The frame as a host sends it to the router.
    pub(crate) fn addressed(&self, frame: &[u8]) -> Vec<u8> {
        let mut frame = frame.to_vec();
        frame[..6].copy_from_slice(&self.left.address);
        frame
    }

    /// The frame as a router without INT forwards it.
    pub(crate) fn routed(&self, frame: &[u8]) -> Vec<u8> {
        let mut frame = frame.to_vec();
        frame[..6].copy_from_slice(&GATEWAYS[0]);
        frame[6..12].copy_from_slice(&self.right.address);
        if frame[12..14] == [0x86, 0xdd] {
            frame[21] -= 1;
            return frame;
        }
        frame[22] -= 1;
        correct_ipv4_checksum(&mut frame);
        frame
    }

    /// Sends a frame, and returns the one that arrives at the other end; `None`: none arrives.
    pub(crate) fn exchange(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        self.exchange_within(frame, PATIENCE)
    }

    /// The next frame that has arrived at the other end, if any.
    pub(crate) fn receive(&mut self) -> Option<Vec<u8>> {
        let mut received = self.to.receive(&mut self.batch).unwrap();
        let is_routed = |bytes: &[u8]| GATEWAYS.iter().any(|gateway| bytes[..6] == *gateway);
        received.find(|received| is_routed(received.bytes)).map(|received| received.bytes.to_vec())
    }

    pub(crate) fn exchange_within(&mut self, frame: &[u8], patience: Duration) -> Option<Vec<u8>> {
        assert_eq!(self.from.send(std::iter::once(frame)).unwrap(), 1);
        let since = Instant::now();
        while since.elapsed() < patience {
            if let Some(got) = self.receive() {
                return Some(got);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// Attaches a foreign program to XDP of the left device until the returned value is dropped.
    pub(crate) fn attach_foreign(&self) -> Ebpf {
        // The switch's own object, which passes everything as long as it has no interfaces.
        let object = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf/switch.bpf.o")).unwrap();
        let mut foreign = EbpfLoader::new().load(&object).unwrap();
        let program: &mut Xdp = foreign.program_mut("forward").unwrap().try_into().unwrap();
        program.load().unwrap();
        let index = self.left.index;
        self.world.inside(FIRST, || program.attach_to_if_index(index, XdpMode::default()).unwrap());
        foreign
    }
}

fn set(name: &str, value: &str) {
    std::fs::write(format!("/proc/sys/net/{name}"), value).unwrap();
}

fn add_routes(right: &Device, gateways: usize) {
    let mut netlink = Netlink::open().unwrap();
    // The last is the end of tunnels.
    for (destination, prefix_length, network) in
        [("10.2.0.0", 16, "10.94.2."), ("fd94::", 112, "fd94:2::"), ("192.0.2.0", 24, "10.94.2.")]
    {
        let hops = GATEWAYS.iter().zip(2..).take(gateways).map(|(address, number)| {
            let ip: IpAddr = format!("{network}{number}").parse().unwrap();
            let neighbour = Neighbour {
                device: right.index,
                ip,
                address: Some(*address),
                has_failed: false,
                is_permanent: true,
            };
            neighbour.replace(&mut netlink).unwrap();
            NextHop::by(ip, right.index)
        });
        let route = Route::new(destination.parse().unwrap(), prefix_length, hops.collect());
        route.add(&mut netlink).unwrap();
    }
}

/// The configuration of a transit hop, with `text` appended.
pub(crate) fn transit(kind: &str, mtu: u32, xdp: &str, text: &str) -> String {
    config(11, kind, &[], mtu, &format!("{text}[switch]\nxdp = \"{xdp}\"\n"))
}

#[test]
fn packets_leave_the_fast_path_as_they_leave_the_engine() {
    let Some(mut line) = Line::new(1) else { return };
    for (xdp, word) in [("auto", "native"), ("native", "native"), ("generic", "generic")] {
        for kind in KINDS {
            for mtu in [2_000, 1_300] {
                let text = transit(kind, mtu, xdp, "");
                let switch = line.world.switch_of(FIRST, &text);
                let mut engine = node(&text);
                let (mut sent, mut fast) = (0, 0);
                for frame in (0..3).flat_map(|hops| int_frames(kind, hops)) {
                    let before = count(&engine, "transit");
                    let expected = through(&mut engine, &line.routed(&frame), 1, 2);
                    // Packets longer than the interface's MTU may still have to be segmented; they pass the
                    // stack.
                    let is_short = frame.len() <= 14 + mtu as usize;
                    fast += u64::from(is_short && count(&engine, "transit") > before);

                    let got = line.exchange(&line.addressed(&frame));

                    assert_eq!(got, expected, "{xdp}, {kind}, MTU {mtu}, from {frame:02x?}");
                    sent += 1;
                }
                let status = switch.stop();
                for name in ["transit", "pushed", "hops_exceeded", "mtu_exceeded"] {
                    assert_eq!(outcome(&status, name), count(&engine, name), "{kind} {name} of {sent}");
                }
                assert!(fast > 10, "{kind}");
                assert_eq!(status.kernel["forwarded"], fast, "{kind}, {mtu}: {status:?}");
                // Linux itself sends a few.
                assert!(status.interfaces[1].sent_packets >= sent, "{status:?}");
                assert_eq!([&status.xdp["left"], &status.xdp["right"]], [word; 2], "{xdp}");
                assert_is_balanced(&status);
            }
        }
    }
}

#[test]
fn malformed_int_leaves_the_fast_path_as_it_leaves_the_engine() {
    let Some(mut line) = Line::new(1) else { return };
    for kind in ["dscp", "udp-port", "udp"] {
        let text = transit(kind, 2_000, "native", "");
        let switch = line.world.switch_of(FIRST, &text);
        let mut engine = node(&text);
        let mut sent = 0;
        for frame in malformed_frames(kind) {
            let expected = through(&mut engine, &line.routed(&frame), 1, 2);

            let got = line.exchange(&line.addressed(&frame));

            assert_eq!(got, expected, "{kind}, from {frame:02x?}");
            sent += 1;
        }
        let status = switch.stop();
        for name in ["malformed", "pushed", "hops_exceeded", "unknown_version"] {
            assert_eq!(outcome(&status, name), count(&engine, name), "{kind} {name} of {sent}");
        }
        let own = count(&engine, "malformed") + count(&engine, "pushed") + count(&engine, "hops_exceeded");
        assert!(status.kernel["forwarded"] > sent / 2, "{kind}, {sent}: {status:?}");
        assert!(status.kernel["forwarded"] <= own, "{kind}, {sent}: {status:?}");
        assert_is_balanced(&status);
    }
}

fn count(engine: &Node, name: &str) -> u64 {
    engine.counters().iter().find(|(outcome, _)| outcome.name() == name).unwrap().1
}

#[test]
fn equal_paths_of_the_fast_path_are_those_of_linux() {
    let Some(mut line) = Line::new(2) else { return };
    // Flows, by their source ports.
    let frames: Vec<_> = int_frames("dscp", 0).into_iter().take(4).collect();
    let flows: Vec<_> = frames.iter().flat_map(|frame| (0..16).map(|port| flow(frame, port))).collect();
    for policy in ["0", "1"] {
        line.world.inside(FIRST, || {
            set("ipv4/fib_multipath_hash_policy", policy);
            set("ipv6/fib_multipath_hash_policy", policy);
        });
        let mut paths = Vec::new();
        for xdp in ["off", "native"] {
            let switch = line.world.switch_of(FIRST, &transit("dscp", 2_000, xdp, ""));
            let gateways: Vec<_> =
                flows.iter().map(|frame| line.exchange(&line.addressed(frame)).unwrap()[5]).collect();
            let status = switch.stop();
            assert_eq!(status.kernel["forwarded"] > 0, xdp == "native", "{status:?}");
            assert_eq!(outcome(&status, "pushed"), u64::try_from(flows.len()).unwrap());
            paths.push(gateways);
        }
        assert!(paths[0].contains(&1) && paths[0].contains(&2), "policy {policy}: {:?}", paths[0]);
        assert_eq!(paths[0], paths[1], "policy {policy}");
    }
}

/// The packet in another flow: with policy 0 by another source address, else by its port. Checksums are not
/// checked on the path.
fn flow(frame: &[u8], number: u8) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let is_v4 = frame[12..14] == [8, 0];
    let (source, port) = if is_v4 { (29, 34) } else { (37, 54) };
    frame[source] = number + 1;
    frame[port + 1] = number;
    if is_v4 {
        correct_ipv4_checksum(&mut frame);
    }
    frame
}

#[test]
fn times_of_the_fast_path_are_those_of_the_clock() {
    let Some(mut line) = Line::new(1) else { return };
    let asked = "[\"hop-latency\", \"ingress-timestamp\", \"egress-timestamp\", \"queue-occupancy\"]";
    let text = config(1, "dscp", &["left"], 2_000, "");
    let source: NodeConfig = toml::from_str(&replace_instructions(&text, asked)).unwrap();
    let mut source = Node::new(&source).unwrap();
    let plain = crate::kernel::plain_frame(100, 17, true, 4_790);
    let frame = through(&mut source, &plain, 1, 2).unwrap();
    let switch = line.world.switch_of(FIRST, &transit("dscp", 2_000, "native", ""));
    let before = inband_linux::clock::realtime();

    let got = line.exchange(&line.addressed(&frame)).unwrap();

    let after = inband_linux::clock::realtime();
    let status = switch.stop();
    assert_eq!(status.kernel["forwarded"], 1);
    // Behind Ethernet, IPv4, UDP, shim and header.
    let hop = &got[14 + 20 + 8 + 4 + 12..];
    let time = |at: usize| u64::from_be_bytes(hop[at..at + 8].try_into().unwrap());
    let (latency, queue) = (&hop[..4], &hop[4..8]);
    let (ingress, egress) = (time(8), time(16));
    let slack = 1_000_000;
    assert!(before - slack <= ingress && ingress <= egress && egress <= after + slack, "{before} {ingress}");
    assert_eq!(u64::from(u32::from_be_bytes(latency.try_into().unwrap())), egress - ingress);
    assert_eq!(queue, [0xff; 4], "nothing waits, and nobody measures");
}

#[test]
fn the_stack_sees_packets_as_soon_as_something_there_has_to() {
    let Some(mut line) = Line::new(1) else { return };
    let frames: Vec<_> = int_frames("dscp", 1).into_iter().take(8).collect();
    let text = transit("dscp", 2_000, "auto", "");
    let mut engine = node(&text);
    let expected: Vec<_> =
        frames.iter().map(|frame| through(&mut engine, &line.routed(frame), 1, 2)).collect();
    // The switch forwards between the steps of the test.
    let config: NodeConfig = toml::from_str(&text).unwrap();
    let namespace = inband_linux::namespace::Namespace::open(line.world.name(FIRST)).unwrap();
    namespace.enter().unwrap();
    let mut switch = LiveSwitch::start(&config).unwrap();
    let mut forwarded = |switch: &LiveSwitch| {
        for (frame, expected) in frames.iter().zip(&expected) {
            let frame = line.addressed(frame);
            assert_eq!(line.exchange(&frame), *expected);
        }
        switch.status().kernel["forwarded"]
    };
    assert_eq!(forwarded(&switch), 8, "{:?}", switch.status());

    set("ipv4/fib_multipath_hash_policy", "2");
    step_until(&mut switch, |status| status.xdp["left"].contains("fib_multipath_hash_policy"));
    assert_eq!(forwarded(&switch), 8, "{:?}", switch.status());

    set("ipv4/fib_multipath_hash_policy", "1");
    step_until(&mut switch, |status| status.xdp["left"] == "native");
    assert_eq!(forwarded(&switch), 16, "{:?}", switch.status());
}

fn step_until(switch: &mut LiveSwitch, is_so: impl Fn(&Status) -> bool) -> Status {
    let since = Instant::now();
    loop {
        switch.step().unwrap();
        let status = switch.status();
        if is_so(&status) {
            return status;
        }
        assert!(since.elapsed() < PATIENCE, "{status:?}");
    }
}

#[test]
fn a_program_of_somebody_else_at_xdp_stays_in_effect() {
    let Some(mut line) = Line::new(1) else { return };
    let _foreign = line.attach_foreign();

    let demanded: NodeConfig = toml::from_str(&transit("dscp", 2_000, "native", "")).unwrap();
    let error = line.world.inside(FIRST, || LiveSwitch::start(&demanded).map(drop)).unwrap_err();
    let text = transit("dscp", 2_000, "auto", "");
    let switch = line.world.switch_of(FIRST, &text);
    let frame = int_frames("dscp", 0).remove(0);
    let got = line.exchange(&line.addressed(&frame));

    assert_eq!(error.key(), Some("switch.xdp"), "{error}");
    assert_eq!(got, through(&mut node(&text), &line.routed(&frame), 1, 2));
    let status = switch.stop();
    assert_eq!((status.kernel["forwarded"], status.kernel["extended"]), (0, 1));
    assert!(status.xdp["left"].contains("not in: "), "{:?}", status.xdp);
}

/// The program uses a route for the flow's packets until the next tick of the kernel's timer.
#[test]
fn a_flow_follows_its_route_as_it_changes() {
    let Some(mut line) = Line::new(2) else { return };
    let text = transit("dscp", 2_000, "native", "");
    let switch = line.world.switch_of(FIRST, &text);
    let frames = int_frames("dscp", 0);
    let frame = frames.iter().find(|frame| frame[12] == 8 && frame[23] == 17 && frame.len() > 1_000).unwrap();
    let frame = line.addressed(frame);
    let mut sent = 0;
    let mut leaves_by = |line: &mut Line| {
        // The kernel's timer ticks at least 100 times a second.
        std::thread::sleep(Duration::from_millis(30));
        sent += 2;
        let first = line.exchange(&frame).unwrap();
        assert_eq!(line.exchange(&frame).as_ref(), Some(&first), "by the route that is known");
        first[..6].to_vec()
    };
    for _ in 0..3 {
        for (number, gateway) in (2..).zip(GATEWAYS) {
            let route = format!("ip route replace 10.2.0.0/16 via 10.94.2.{number} dev right");
            assert!(line.world.run(FIRST, &route));
            assert_eq!(leaves_by(&mut line), gateway);
        }
    }
    // Its next hop has another address.
    let neighbour = "ip neigh replace 10.94.2.3 lladdr 02:00:00:00:01:01 dev right nud permanent";
    assert!(line.world.run(FIRST, neighbour));
    assert_eq!(leaves_by(&mut line), GATEWAYS[0]);
    assert!(line.world.run(FIRST, "ip route replace blackhole 10.2.0.0/16"));
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(line.exchange_within(&frame, Duration::from_millis(200)), None);

    let status = switch.stop();
    assert_eq!(status.kernel["forwarded"], sent, "{status:?}");
}

/// A route that is known is one for packets as long as it carries.
#[test]
fn packets_longer_than_their_route_carries_are_left_to_the_stack() {
    let Some(mut line) = Line::new(1) else { return };
    let switch = line.world.switch_of(FIRST, &transit("dscp", 2_000, "native", ""));
    let frames = int_frames("dscp", 0);
    let mut udp: Vec<_> = frames.iter().filter(|frame| frame[12] == 8 && frame[23] == 17).collect();
    udp.sort_by_key(|frame| frame.len());
    let (short, long) = (line.addressed(udp[0]), line.addressed(udp[udp.len() - 1]));
    assert!(line.world.run(FIRST, "ip route replace 10.2.0.0/16 via 10.94.2.2 dev right mtu lock 600"));
    std::thread::sleep(Duration::from_millis(30));
    for _ in 0..20 {
        assert!(line.exchange(&short).is_some());
        assert_eq!(line.from.send(std::iter::once(long.as_slice())).unwrap(), 1);
    }
    let status = switch.stop();
    assert_eq!(status.kernel["forwarded"], 20, "{status:?}");
}

#[test]
fn what_only_the_stack_can_answer_does_not_take_the_fast_path() {
    let Some(mut line) = Line::new(1) else { return };
    let switch = line.world.switch_of(FIRST, &transit("dscp", 2_000, "native", ""));
    let frames = int_frames("dscp", 1);
    let good = frames.iter().find(|frame| frame[12] == 8 && frame[23] == 17).unwrap();
    let v6 = frames.iter().find(|frame| frame[12] == 0x86 && frame[20] == 17).unwrap();
    let mut changed = Vec::new();
    let mut change = |frame: &[u8], at: usize, bytes: &[u8]| {
        let mut frame = line.addressed(frame);
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        if frame[12] == 8 {
            correct_ipv4_checksum(&mut frame);
        }
        changed.push(frame);
    };
    change(good, 0, &[2, 0xff, 0, 0, 0, 9]);
    change(good, 22, &[1]);
    change(good, 26, &[127, 0, 0, 1]);
    change(good, 26, &[224, 0, 0, 1]);
    change(good, 30, &[10, 99, 0, 1]);
    change(good, 20, &[0x20, 0]);
    change(v6, 21, &[1]);
    change(v6, 22, &[0xfe, 0x80]);
    change(v6, 38, &[0xff, 2]);
    for frame in &changed {
        assert_eq!(line.from.send(std::iter::once(frame.as_slice())).unwrap(), 1);
    }
    // Packets behind them prove that they have been handled.
    let good = line.addressed(good);

    assert!(line.exchange(&good).is_some());

    let status = switch.stop();
    assert_eq!(status.kernel["forwarded"], 1, "{status:?}");
}
