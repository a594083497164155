//! Linux forwards, and programs in the kernel do INT on the path.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use inband_linux::device;
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::netlink::Netlink;
use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{Node, NodeConfig, Passage, Verdict};
use inband_switch::{LiveSwitch, Status};
use inband_wire::int::TcpOptions;
use inband_wire::int::locate::payload_at;
use inband_wire::{Layers, Link, Strictness};

use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, drops, outcome};

pub(crate) const KINDS: [&str; 6] = ["dscp", "udp-port", "udp", "gre", "vxlan-gpe", "geneve"];
/// Values that do not depend on the observer: there is no queue, and the rest is not measured.
const INSTRUCTIONS: &str = "[\"node-id\", \"level1-interfaces\", \"queue-occupancy\", \"level2-interfaces\", \
     \"egress-utilization\", \"buffer-occupancy\"]";

/// The configuration of a node between `left` and `right`, with those in `edges` as edges.
pub(crate) fn config(id: u32, kind: &str, edges: &[&str], mtu: u32, text: &str) -> String {
    let interface = |number: u16, device: &str| {
        let edge = edges.contains(&device);
        let mtu = if edge { mtu.min(1_500) } else { mtu };
        format!(
            "[[interface]]\nid = {number}\nlevel2_id = {number}000\ndevice = \"{device}\"\nedge = {edge}\nmtu = {mtu}\n"
        )
    };
    format!(
        "[node]\nid = {id}\n[encapsulation]\nkind = \"{kind}\"\n[source]\nremaining_hops = 2\n\
         instructions = {INSTRUCTIONS}\n{}{}[[watch]]\n{text}",
        interface(1, "left"),
        interface(2, "right")
    )
}

pub(crate) fn socket(world: &World, place: usize, name: &str) -> FrameSocket {
    world.inside(place, || {
        let device = device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap();
        FrameSocket::open(device.index).unwrap()
    })
}

/// Makes a bridge of `left` and `right`.
pub(crate) fn bridge(world: &World, place: usize) {
    world.inside(place, || {
        let mut netlink = Netlink::open().unwrap();
        device::create(&mut netlink, "bridge", "br").unwrap();
        let index = |netlink: &mut Netlink, name: &str| device::find(netlink, name).unwrap().unwrap().index;
        let bridge = index(&mut netlink, "br");
        for name in ["left", "right"] {
            let port = index(&mut netlink, name);
            device::set_master(&mut netlink, port, Some(bridge)).unwrap();
        }
        device::set_mtu(&mut netlink, bridge, 2_000).unwrap();
        device::set_up(&mut netlink, bridge, true).unwrap();
    });
}

/// Frames with UDP and TCP in IPv4 and IPv6, without INT and with correct checksums.
fn plain_frames(tunnel_port: u16) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for payload in [0, 1, 18, 1_000, 1_201] {
        for protocol in [6_u8, 17] {
            for is_v4 in [true, false] {
                frames.push(plain_frame(payload, protocol, is_v4, tunnel_port));
            }
        }
    }
    frames
}

pub(crate) fn plain_frame(payload: usize, protocol: u8, is_v4: bool, port: u16) -> Vec<u8> {
    let header = if protocol == 6 { 32 } else { 8 };
    let length = u16::try_from(header + payload).unwrap();
    let mut l4 = vec![0x30, 0x39, 0, 0];
    l4[2..4].copy_from_slice(&port.to_be_bytes());
    let checksum_at = if protocol == 6 {
        l4.extend([
            0, 0, 0, 1, 0, 0, 0, 2, 0x80, 0x10, 1, 0, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2,
        ]);
        16
    } else {
        l4.extend(length.to_be_bytes());
        l4.extend([0, 0]);
        6
    };
    // Variants of a tunnel's payload: VXLAN-GPE with Ethernet inside, Geneve without an option and with
    // foreign ones.
    let inner: &[u8] = match port {
        6081 if payload > 500 => &[2, 0, 0x65, 0x58, 0, 0, 7, 0, 0xff, 0xf0, 1, 0xe1, 1, 2, 3, 4],
        6081 => &[0, 0, 0x65, 0x58, 0, 0, 7, 0],
        _ => &[0x0c, 0, 0, 3, 0, 0, 7, 0],
    };
    l4.extend((0..payload).map(|at| inner.get(at).copied().unwrap_or(u8::try_from(at % 251).unwrap())));
    let (ethertype, ip, addresses) = if is_v4 {
        let mut ip = vec![0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 1, 0, 1, 10, 2, 0, 2];
        ip[2..4].copy_from_slice(&(length + 20).to_be_bytes());
        let checksum = inband_wire::checksum::Sum::of(&ip).checksum();
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        let addresses = ip[12..20].to_vec();
        ([8, 0], ip, addresses)
    } else {
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend(length.to_be_bytes());
        ip.extend([protocol, 64]);
        for last in [1, 2] {
            ip.extend([0xfd, 0x94, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        let addresses = ip[8..40].to_vec();
        ([0x86, 0xdd], ip, addresses)
    };
    let pseudo = [&addresses[..], &[0, protocol], &length.to_be_bytes()].concat();
    let padded = [&l4[..], if l4.len() % 2 == 1 { &[0][..] } else { &[] }].concat();
    let checksum =
        inband_wire::checksum::Sum::of(&pseudo).plus(inband_wire::checksum::Sum::of(&padded)).checksum();
    l4[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
    let ethernet = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], &ethertype[..]].concat();
    [ethernet, ip, l4].concat()
}

/// Corrects the checksum of a frame's IPv4 header, which has no options.
pub(crate) fn correct_ipv4_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let checksum = inband_wire::checksum::Sum::of(&frame[14..34]).checksum();
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}

/// The configuration with these instructions instead of its own.
pub(crate) fn replace_instructions(text: &str, with: &str) -> String {
    let (front, behind) = text.split_once("instructions = [").unwrap();
    format!("{front}instructions = {with}{}", behind.split_once(']').unwrap().1)
}

/// The frame as `node` sends it; `None`: it is not sent.
pub(crate) fn through(node: &mut Node, frame: &[u8], ingress: u16, egress: u16) -> Option<Vec<u8>> {
    let mut buffer = [vec![0xa5; MAX_GROWTH], frame.to_vec()].concat();
    let mut expected = Frame::behind_headroom(&mut buffer).unwrap();
    let passage = Passage { ingress, egress, ..Passage::default() };
    let verdict = node.handle_frame(Link::Ethernet, &mut expected, &passage);
    while node.poll_output().is_some() {}
    (verdict == Verdict::Forward).then(|| expected.bytes().to_vec())
}

pub(crate) fn node(config: &str) -> Node {
    Node::new(&toml::from_str::<NodeConfig>(config).unwrap()).unwrap()
}

/// Sends a frame, and returns the one that arrives at the other end; `None`: none arrives.
pub(crate) fn exchange(
    from: &FrameSocket,
    to: &FrameSocket,
    frame: &[u8],
    batch: &mut Batch,
) -> Option<Vec<u8>> {
    assert_eq!(from.send(std::iter::once(frame)).unwrap(), 1);
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        for received in to.receive(batch).unwrap() {
            if received.bytes[6..12] == [2, 0, 0, 0, 0, 1] {
                return Some(received.bytes.to_vec());
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// Packets sent by a source of `kind` and `hops` nodes behind it.
pub(crate) fn int_frames(kind: &str, hops: u32) -> Vec<Vec<u8>> {
    int_frames_with(kind, hops, INSTRUCTIONS)
}

/// The same with these instructions.
pub(crate) fn int_frames_with(kind: &str, hops: u32, instructions: &str) -> Vec<Vec<u8>> {
    let port = if kind == "geneve" { 6081 } else { 4790 };
    let mut source = node(&config(1, kind, &["left"], 2_000, "").replace(INSTRUCTIONS, instructions));
    let started = plain_frames(port).into_iter().filter_map(|frame| through(&mut source, &frame, 1, 2));
    let mut frames: Vec<_> = started.collect();
    for hop in 0..hops {
        let mut transit = node(&config(2 + hop, kind, &[], 2_000, ""));
        for frame in &mut frames {
            *frame = through(&mut transit, frame, 1, 2).unwrap();
        }
    }
    frames
}

#[test]
fn packets_leave_the_kernels_programs_as_they_leave_the_engine() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let mut batch = Batch::new();
    for kind in KINDS {
        for mtu in [2_000, 1_300] {
            let text = config(11, kind, &[], mtu, "");
            let switch = world.switch_of(FIRST, &text);
            let mut engine = node(&text);
            let (mut sent, mut changed) = (0, 0);
            // With hops left, and with none.
            for frame in (0..3).flat_map(|hops| int_frames(kind, hops)) {
                let expected = through(&mut engine, &frame, 1, 2).unwrap();

                let got = exchange(&from, &to, &frame, &mut batch);

                assert_eq!(got.as_ref(), Some(&expected), "{kind}, MTU {mtu}, from {frame:02x?}");
                sent += 1;
                changed += u64::from(expected != frame);
            }
            assert!(changed > 0, "{kind}");
            let status = switch.stop();
            let counters =
                |name| engine.counters().iter().find(|(outcome, _)| outcome.name() == name).unwrap().1;
            for name in ["transit", "pushed", "hops_exceeded", "mtu_exceeded"] {
                assert_eq!(outcome(&status, name), counters(name), "{kind} {name} of {sent}");
            }
            // The bridge's own group messages have an extension header; empty tunnels are malformed.
            let others = outcome(&status, "no_int") + outcome(&status, "malformed");
            assert_eq!(status.kernel["to_engine"], others, "{kind}: {status:?}");
            assert_eq!(status.kernel["extended"], counters("pushed"), "{kind}");
            assert_is_balanced(&status);
        }
    }
}

#[test]
fn the_header_of_a_tunnel_that_reads_like_a_shim_is_none() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let text = config(11, "dscp", &[], 2_000, "");
    let switch = world.switch_of(FIRST, &text);
    let mut engine = node(&text);
    let mut batch = Batch::new();
    let udp = int_frames("dscp", 0).into_iter().find(|frame| frame[12] == 8 && frame[23] == 17).unwrap();
    let (port, shim) = (14 + 20 + 2, 14 + 20 + 8);
    // Geneve, GTP-U, and a port without a meaning.
    for (number, is_tunnel) in [(6_081_u16, true), (2_152, true), (6_082, false)] {
        // As a source writes it; a Next Protocol Type; reserved bits.
        for (at, bits) in [(0, 0), (0, 4), (0, 8), (0, 1), (2, 0x65), (3, 2)] {
            let mut frame = udp.clone();
            frame[port..port + 2].copy_from_slice(&number.to_be_bytes());
            frame[shim + at] |= bits;
            let expected = through(&mut engine, &frame, 1, 2).unwrap();
            assert_eq!(expected == frame, is_tunnel && bits != 0, "{number} {at}");

            let got = exchange(&from, &to, &frame, &mut batch);

            assert_eq!(got, Some(expected), "{number}, byte {at} with {bits:#x}");
        }
    }
    assert_eq!(outcome(&switch.stop(), "pushed"), 8);
}

/// Every packet passed to the engine was received, and every packet it returned arrived.
pub(crate) fn assert_is_balanced(status: &Status) {
    assert_eq!(
        status.kernel["to_engine"],
        status.kernel["taken"] + status.kernel["engine_losses"],
        "{status:?}"
    );
    assert_eq!(status.kernel["not_handed"], 0);
}

#[test]
fn linux_routes_between_a_source_and_a_sink_that_the_engine_does() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    for place in [FIRST, SECOND] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"));
    }
    let timed = "[report]\ncollector = \"127.0.0.1:32766\"\n";
    let first = world.switch_of(FIRST, &config(11, "dscp", &["left"], 1_900, timed));
    let second = world.switch_of(SECOND, &config(12, "dscp", &["right"], 1_900, timed));

    world.tcp("10.94.3.1", 400_000);
    world.tcp("fd94:3::1", 400_000);
    world.udp("10.94.3.1", (0..1_400).step_by(101));
    world.udp("fd94:3::1", (0..1_400).step_by(101));

    let reports = second.take_reports();
    // The socket has room for some of them.
    assert!(reports.len() > 50, "{}", reports.len());
    let (first, second) = (first.stop(), second.stop());
    assert!(outcome(&first, "started") > 500, "{first:?}");
    assert_eq!(outcome(&second, "stripped"), outcome(&first, "started"));
    for status in [&first, &second] {
        assert_eq!(drops(status), 0, "{status:?}");
        assert_is_balanced(status);
        assert_eq!(status.kernel["from_engine"], status.kernel["taken"], "{status:?}");
    }
    // The interfaces are clean, and Linux continues to forward.
    world.udp("10.94.3.1", std::iter::once(100));
}

#[test]
fn frames_that_wait_for_the_engine_at_the_end_leave_and_are_counted() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    for place in [FIRST, SECOND] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1"));
    }
    world.udp("10.94.3.1", std::iter::once(100));
    let receiver = world.inside(B, || UdpSocket::bind("10.94.3.1:0").unwrap());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let to = receiver.local_addr().unwrap();
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    let config: NodeConfig = toml::from_str(&config(11, "dscp", &["left"], 1_900, "")).unwrap();

    let status = world.inside(FIRST, || {
        let mut switch = LiveSwitch::start(&config).unwrap();
        sender.send_to(b"waits", to).unwrap();
        let since = Instant::now();
        // The first packet passed on may be one of the kernel's own.
        while switch.status().interfaces[0].received_packets == 0 && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        switch.finish();
        switch.status()
    });

    assert_eq!(outcome(&status, "started"), 1);
    assert_is_balanced(&status);
    assert_eq!(status.kernel["from_engine"], status.kernel["taken"], "{status:?}");
    assert!(status.interfaces[1].sent_packets >= 1, "{status:?}");
    assert!(receiver.recv(&mut [0; 2_000]).is_ok());
}

#[test]
fn nothing_that_looks_like_int_leaves_by_an_edge() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let text = config(12, "dscp", &["right"], 2_000, "");
    let switch = world.switch_of(FIRST, &text);
    let mut engine = node(&text);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let mut batch = Batch::new();
    for frame in int_frames("dscp", 1) {
        // As it came from the host, and with an unknown version.
        let expected = through(&mut engine, &frame, 1, 2);
        assert_eq!(exchange(&from, &to, &frame, &mut batch), expected);
    }
    let mut unknown = int_frames("dscp", 1).into_iter().find(|frame| frame[23] == 17).unwrap();
    unknown[14 + 20 + 8 + 4] = 0xf0;
    assert_eq!(through(&mut engine, &unknown, 1, 2), None);

    assert_eq!(from.send(std::iter::once(unknown.as_slice())).unwrap(), 1);
    switch.await_status(|status| outcome(status, "unknown_version") == 1);
    std::thread::sleep(Duration::from_millis(100));

    assert!(to.receive(&mut batch).unwrap().all(|received| received.bytes[6..12] != [2, 0, 0, 0, 0, 1]));
    let status = switch.stop();
    assert_eq!(outcome(&status, "unknown_version"), 1);
    assert_is_balanced(&status);
}

#[test]
fn a_configuration_that_the_kernel_cannot_follow_is_refused_by_its_key() {
    let Some(world) = World::new() else { return };
    for (text, key) in [
        ("[switch]\nforwarding = \"static\"\n", "switch.forwarding"),
        ("[switch]\nio = \"af-xdp\"\n", "switch.io"),
        ("[[interface]]\nid = 3\ndevice = \"lo\"\npriorities = 2\n", "interface.priorities"),
    ] {
        let config: NodeConfig = toml::from_str(&config(1, "dscp", &[], 1_500, text)).unwrap();
        let error = world.inside(FIRST, || LiveSwitch::start(&config).map(drop)).unwrap_err();
        assert_eq!(error.key(), Some(key), "{error}");
    }
}

/// Frames with INT that is malformed, or of another kind than `kind` says.
pub(crate) fn malformed_frames(kind: &str) -> Vec<Vec<u8>> {
    let layers = |frame: &[u8]| Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    // Behind a port only UDP carries INT.
    let carries = |frame: &&Vec<u8>| kind == "dscp" || layers(frame).protocol == 17;
    let damage = |frame: &Vec<u8>| damaged(frame, payload_at(&layers(frame), TcpOptions::After));
    int_frames(kind, 1).iter().filter(carries).take(8).flat_map(damage).collect()
}

/// Changes of a packet with INT at byte `shim` that make it malformed, or of another kind.
fn damaged(frame: &[u8], shim: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut add = |at: usize, values: &[u8]| {
        for value in values {
            let mut frame = frame.to_vec();
            frame[shim + at] = *value;
            frames.push(frame);
        }
    };
    let npt = frame[shim] & 0x0c;
    // Types and Next Protocol Types, and shims of earlier versions.
    add(0, &[npt, 0x40 | npt, 0xf0 | npt, 0x20 | npt, 0x30 | npt, 0x10, 0x14, 0x18, 0x1c, 1, 2, 3, 0]);
    let length = frame[shim + 1];
    add(1, &[0, 1, 2, 3, length.saturating_sub(1), length + 1, 0xff]);
    add(4, &[0x00, 0x10, 0x30, 0xf0, 0x21, 0x28]);
    // Reserved bits, Hop ML, hops left, instructions, the domain and its instructions.
    add(5, &[1]);
    let words = frame[shim + 6];
    add(6, &[0, 1, words + 1, 31, words | 0x20]);
    add(7, &[0]);
    add(8, &[0, 0x80, 0xff]);
    add(9, &[1, 2, 0x40, 0xff]);
    add(11, &[7]);
    add(12, &[0x80]);
    frames
}

#[test]
fn malformed_int_leaves_the_kernels_programs_as_it_leaves_the_engine() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let mut batch = Batch::new();
    for kind in ["dscp", "udp-port", "udp"] {
        let text = config(11, kind, &[], 2_000, "");
        let switch = world.switch_of(FIRST, &text);
        let mut engine = node(&text);
        let mut sent = 0;
        for frame in malformed_frames(kind) {
            let expected = through(&mut engine, &frame, 1, 2).unwrap();

            let got = exchange(&from, &to, &frame, &mut batch);

            assert_eq!(got.as_ref(), Some(&expected), "{kind}, from {frame:02x?}");
            sent += 1;
        }
        let status = switch.stop();
        for (found, count) in engine.counters().iter() {
            // The bridge's own messages carry no INT.
            if !["no_int", "received"].contains(&found.name()) {
                assert_eq!(outcome(&status, found.name()), count, "{kind} {} of {sent}", found.name());
            }
        }
        assert!(outcome(&status, "malformed") > sent / 3, "{kind}: {status:?}");
        assert_is_balanced(&status);
    }
}

#[test]
fn a_flood_of_malformed_int_is_only_counted() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let switch = world.switch_of(FIRST, &config(11, "dscp", &[], 2_000, ""));
    let mut batch = Batch::new();
    let frame = int_frames("dscp", 0).into_iter().find(|frame| frame.len() > 200).unwrap();
    let layers = Layers::parse(Link::Ethernet, &frame, Strictness::Whole).unwrap().unwrap();
    let shim = payload_at(&layers, TcpOptions::After);
    let changes: [(usize, u8); 5] = [(0, 0x70), (1, 2), (4, 0x30), (6, 31), (9, 0xff)];
    let mut sent = 0;
    for _ in 0..100 {
        for (at, value) in changes {
            let mut frame = frame.clone();
            frame[shim + at] = value;
            assert_eq!(exchange(&from, &to, &frame, &mut batch), Some(frame));
            sent += 1;
        }
    }
    let status = switch.stop();
    assert_eq!(outcome(&status, "malformed"), sent, "{status:?}");
    let others = status.outcomes.iter().filter(|(name, _)| !["malformed", "no_int"].contains(name));
    assert!(others.into_iter().all(|(_, count)| *count == 0), "{status:?}");
    // Only the bridge's own group messages, which have an extension header, pass the engine.
    assert_eq!(status.kernel["to_engine"], outcome(&status, "no_int"), "{status:?}");
    assert_eq!(status.reports["sent"], 0, "{status:?}");
}
