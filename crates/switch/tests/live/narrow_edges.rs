//! Links between switches carry longer packets than those to hosts.

use inband_linux::frames::{Batch, FrameSocket};

use crate::kernel::{
    KINDS, assert_is_balanced, bridge, config, exchange, node, plain_frame, socket, through,
};
use crate::world::{A, FIRST, SECOND, World, drops, outcome};

/// The MTU of hosts.
const EDGE_MTU: usize = 1_500;

/// A bridge whose device `right` has the MTU of hosts, and sockets before and behind it.
fn narrow_bridge(world: &World) -> (FrameSocket, FrameSocket) {
    bridge(world, FIRST);
    world.shrink(FIRST, "right");
    (socket(world, A, "right"), socket(world, SECOND, "left"))
}

/// Packets as long as an edge carries, and a little shorter, with INT of a source and `hops` nodes behind it.
fn long_frames(kind: &str, hops: u32) -> Vec<Vec<u8>> {
    long_frames_with(kind, hops, str::to_owned)
}

/// The same, with the nodes' configurations changed by `change`.
fn long_frames_with(kind: &str, hops: u32, change: impl Fn(&str) -> String) -> Vec<Vec<u8>> {
    let port = if kind == "geneve" { 6081 } else { 4790 };
    let mut nodes: Vec<_> = (0..=hops)
        .map(|hop| node(&change(&config(1 + hop, kind, if hop == 0 { &["left"] } else { &[] }, 2_000, ""))))
        .collect();
    let mut frames = Vec::new();
    for (protocol, is_v4, headers) in [(6, true, 52), (17, true, 28), (6, false, 72), (17, false, 48)] {
        for shorter in [0, 1, 2, 3, 20] {
            let plain = plain_frame(EDGE_MTU - headers - shorter, protocol, is_v4, port);
            let next = |frame: Vec<u8>, node: &mut _| through(node, &frame, 1, 2).unwrap();
            frames.push(nodes.iter_mut().fold(plain, next));
        }
    }
    frames.retain(|frame| frame.len() > 14 + EDGE_MTU);
    frames
}

#[test]
fn packets_too_long_for_an_edge_with_int_leave_it_as_they_leave_the_engine() {
    let Some(world) = World::new() else { return };
    let (from, to) = narrow_bridge(&world);
    let mut batch = Batch::new();
    for kind in KINDS.into_iter().chain(["probe-marker"]) {
        let text = config(12, kind, &["right"], 2_000, "");
        let switch = world.switch_of(FIRST, &text);
        let mut engine = node(&text);
        let mut sent = 0;
        for frame in (0..3).flat_map(|hops| long_frames(kind, hops)) {
            let expected = through(&mut engine, &frame, 1, 2).unwrap();
            assert!(expected.len() <= 14 + EDGE_MTU, "{kind}");

            let got = exchange(&from, &to, &frame, &mut batch);

            assert_eq!(got.as_ref(), Some(&expected), "{kind}, from {frame:02x?}");
            sent += 1;
        }
        let status = switch.stop();
        assert!(sent >= 12, "{kind}: {sent}");
        assert_eq!(outcome(&status, "stripped"), sent, "{kind}: {status:?}");
        for name in ["left_without_int", "lost_int", "too_long"] {
            assert_eq!(status.kernel[name], 0, "{kind}: {status:?}");
        }
        assert_is_balanced(&status);
    }
}

/// The configuration with a source of INT-MX.
fn in_mx(config: &str) -> String {
    config.replace("[source]\n", "[source]\nmode = \"mx\"\n")
}

#[test]
fn packets_with_int_mx_pass_an_edge_that_is_too_narrow_for_int() {
    let Some(world) = World::new() else { return };
    let (from, to) = narrow_bridge(&world);
    let mut batch = Batch::new();
    for kind in ["dscp", "udp-port", "udp", "gre", "vxlan-gpe"] {
        let text = in_mx(&config(12, kind, &["right"], 2_000, ""));
        let switch = world.switch_of(FIRST, &text);
        let mut engine = node(&text);
        let frames = long_frames_with(kind, 0, in_mx);
        assert!(frames.len() >= 4, "{kind}: {}", frames.len());
        for frame in &frames {
            let expected = through(&mut engine, frame, 1, 2).unwrap();

            let got = exchange(&from, &to, frame, &mut batch);

            assert_eq!(got.as_ref(), Some(&expected), "{kind}, from {frame:02x?}");
        }
        let status = switch.stop();
        assert_eq!(outcome(&status, "stripped"), frames.len() as u64, "{kind}: {status:?}");
    }
}

#[test]
fn what_has_no_room_for_int_on_a_link_between_switches_leaves_without_or_not_at_all() {
    let Some(world) = World::new() else { return };
    let (from, to) = narrow_bridge(&world);
    let mut batch = Batch::new();
    for kind in KINDS.into_iter().chain(["probe-marker"]) {
        let switch = world.switch_of(FIRST, &config(12, kind, &[], 1_500, ""));
        let mut sink = node(&config(12, kind, &["right"], 2_000, ""));
        let frames = long_frames(kind, 0);
        let is_plain_without = ["dscp", "probe-marker"].contains(&kind);
        for frame in &frames {
            if is_plain_without {
                let got = exchange(&from, &to, frame, &mut batch);
                assert_eq!(got, through(&mut sink, frame, 1, 2), "{kind}, from {frame:02x?}");
            } else {
                assert_eq!(from.send(std::iter::once(frame.as_slice())).unwrap(), 1);
            }
        }
        // A packet behind them is the next to arrive.
        let short = plain_frame(100, 17, true, 9);
        assert_eq!(exchange(&from, &to, &short, &mut batch), Some(short), "{kind}");
        let status = switch.stop();
        let sent = u64::try_from(frames.len()).unwrap();
        let counts = ["left_without_int", "too_long", "lost_int"].map(|name| status.kernel[name]);
        assert_eq!(counts, if is_plain_without { [sent, 0, 0] } else { [0, sent, 0] }, "{kind}: {status:?}");
    }
}

#[test]
fn bulk_traffic_with_int_passes_routers_of_linux_to_narrow_edges_also_with_nat_in_the_middle() {
    for (kind, is_translated) in [("dscp", false), ("dscp", true), ("udp", false), ("udp-port", true)] {
        let Some(world) = World::new() else { return };
        world.three_networks();
        for place in [FIRST, SECOND] {
            assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"));
        }
        let has_nat = is_translated
            && world.run(SECOND, "nft add table ip inbt")
            && world.run(SECOND, "nft add chain ip inbt post { type nat hook postrouting priority 100 ; }")
            && world.run(SECOND, "nft add rule ip inbt post oifname right masquerade");
        if is_translated && !has_nat {
            eprintln!("without NAT: no `nft`, or none in this kernel");
        }
        let first = world.switch_of(FIRST, &config(11, kind, &["left"], 2_000, ""));
        let second = world.switch_of(SECOND, &config(12, kind, &["right"], 2_000, ""));

        world.tcp("10.94.3.1", 600_000);
        world.udp("10.94.3.1", 1_440..=1_472);
        world.tcp("fd94:3::1", 600_000);
        world.udp("fd94:3::1", 1_420..=1_452);

        let (first, second) = (first.stop(), second.stop());
        assert_eq!(outcome(&first, "started"), outcome(&second, "stripped"), "{kind} {first:?} {second:?}");
        // `udp-port` carries no INT in TCP.
        let least = if kind == "udp-port" { 60 } else { 600 };
        assert!(outcome(&first, "started") > least, "{kind}: {first:?}");
        for status in [&first, &second] {
            assert_eq!(drops(status), 0, "{kind}: {status:?}");
            assert!(status.kernel_drops.is_empty(), "{kind}: {status:?}");
            assert_is_balanced(status);
        }
    }
}
