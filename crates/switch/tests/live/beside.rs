//! Other work of Linux on the packets it forwards stays in effect beside the switch's programs.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use inband_linux::bpf::{Attached, load_classifier};
use inband_linux::device;
use inband_linux::frames::Batch;
use inband_linux::netlink::Netlink;
use inband_linux::tcx::{self, Direction, Order};

use crate::kernel::{assert_is_balanced, bridge, config, int_frames, node, socket, through};
use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, drops, outcome};

/// Source and sink of kernel datapaths between routers.
const EDGES: [(usize, u32, &str); 2] = [(FIRST, 11, "left"), (SECOND, 12, "right")];

fn routers(world: &World) {
    world.three_networks();
    for place in [FIRST, SECOND] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"));
    }
}

#[test]
fn source_nat_of_nftables_translates_flows_with_int() {
    let Some(world) = World::new() else { return };
    routers(&world);
    let has_nat = world.run(FIRST, "nft add table ip inbt")
        && world.run(FIRST, "nft add chain ip inbt post { type nat hook postrouting priority 100 ; }")
        && world.run(FIRST, "nft add rule ip inbt post oifname right masquerade");
    if !has_nat {
        return eprintln!("skipped: no `nft`, or no NAT in this kernel");
    }
    let [first, second] =
        EDGES.map(|(place, id, edge)| world.switch_of(place, &config(id, "dscp", &[edge], 1_900, "")));

    world.tcp("10.94.3.1", 300_000);
    world.udp("10.94.3.1", (0..1_400).step_by(101));

    // B sees the router's address, so the flow was translated; the answers are translated back.
    let receiver = world.inside(B, || UdpSocket::bind("10.94.3.1:0").unwrap());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    sender.set_read_timeout(Some(PATIENCE)).unwrap();
    sender.send_to(b"there", receiver.local_addr().unwrap()).unwrap();
    let (_, from) = receiver.recv_from(&mut [0; 64]).unwrap();
    assert_eq!(from.ip().to_string(), "10.94.2.1");
    receiver.send_to(b"and back", from).unwrap();
    assert_eq!(sender.recv(&mut [0; 64]).unwrap(), 8);

    let (first, second) = (first.stop(), second.stop());
    // Packets in the other direction are acknowledgements, in a number that the receiver decides.
    assert!(outcome(&first, "started") > 50 && outcome(&second, "started") > 10, "{first:?} {second:?}");
    // Each removes the INT that the other has inserted.
    assert_eq!(outcome(&first, "started"), outcome(&second, "stripped"));
    assert_eq!(outcome(&second, "started"), outcome(&first, "stripped"));
    for status in [&first, &second] {
        assert_eq!(drops(status), 0, "{status:?}");
        assert_is_balanced(status);
    }
}

/// Drops UDP to port 999 in IPv4 without options, and passes all else to the next program.
fn foreign() -> Vec<u64> {
    let instruction = |code: u8, registers: u8, offset: i16, immediate: i32| {
        let ([a, b], [c, d, e, f]) = (offset.to_ne_bytes(), immediate.to_ne_bytes());
        u64::from_ne_bytes([code, registers, a, b, c, d, e, f])
    };
    vec![
        // r6 = skb
        instruction(0xbf, 0x16, 0, 0),
        // bpf_skb_load_bytes(skb, 14 + 20 + 2, fp - 8, 2)
        instruction(0xb7, 2, 0, 36),
        instruction(0xbf, 0xa3, 0, 0),
        instruction(0x07, 3, 0, -8),
        instruction(0xb7, 4, 0, 2),
        instruction(0x85, 0, 0, 26),
        // Such bytes are missing, or the port differs: continue.
        instruction(0x55, 0, 4, 0),
        instruction(0x69, 0xa1, -8, 0),
        instruction(0x55, 1, 2, i32::from(999_u16.to_be())),
        // TCX_DROP
        instruction(0xb7, 0, 0, 2),
        instruction(0x95, 0, 0, 0),
        // TCX_NEXT
        instruction(0xb7, 0, 0, -1),
        instruction(0x95, 0, 0, 0),
    ]
}

#[test]
fn programs_of_others_at_tcx_run_in_front_of_the_switchs_and_behind_them() {
    let Some(world) = World::new() else { return };
    routers(&world);
    let program = load_classifier(&foreign()).unwrap();
    let attach = |name: &str, direction, order| -> Attached {
        world.inside(FIRST, || {
            let index = device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap().index;
            tcx::attach(program.as_fd(), index, direction, order).unwrap().into()
        })
    };
    let second = world.switch_of(SECOND, &config(12, "dscp", &["right"], 1_900, ""));
    for (device, direction) in [("left", Direction::Ingress), ("right", Direction::Egress)] {
        for order in [Order::First, Order::Last] {
            for is_there_before in [true, false] {
                let before = is_there_before.then(|| attach(device, direction, order));
                let first = world.switch_of(FIRST, &config(11, "dscp", &["left"], 1_900, ""));
                let link = before.unwrap_or_else(|| attach(device, direction, order));

                let receivers = [999, 998].map(|port| {
                    let receiver = world.inside(B, || UdpSocket::bind(("10.94.3.1", port)).unwrap());
                    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
                    receiver
                });
                let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
                for port in [999, 998] {
                    sender.send_to(b"x", ("10.94.3.1", port)).unwrap();
                }

                let case = format!("{device}, {direction:?}, {order:?}, before: {is_there_before}");
                // The packet sent behind it has arrived.
                assert!(receivers[1].recv(&mut [0; 8]).is_ok(), "{case}");
                receivers[0].set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                assert!(receivers[0].recv(&mut [0; 8]).is_err(), "{case}: the program has no effect");
                drop(link);
                let status = first.stop();
                assert!(outcome(&status, "started") >= 1, "{case}: {status:?}");
                assert_is_balanced(&status);
            }
        }
    }
    let status = second.stop();
    assert!(outcome(&status, "stripped") >= 8, "{status:?}");
}

#[test]
fn tagged_frames_through_a_bridge_leave_as_they_leave_the_engine() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let text = config(11, "dscp", &[], 2_000, "");
    let switch = world.switch_of(FIRST, &text);
    let mut engine = node(&text);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let mut batch = Batch::new();
    for frame in int_frames("dscp", 0) {
        let tagged = [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat();
        let expected = through(&mut engine, &tagged, 1, 2).unwrap();
        assert_ne!(expected, tagged);

        assert_eq!(from.send(std::iter::once(tagged.as_slice())).unwrap(), 1);

        let (since, mut got) = (Instant::now(), None);
        while got.is_none() && since.elapsed() < PATIENCE {
            for received in to.receive(&mut batch).unwrap() {
                let tag = received
                    .vlan
                    .map(|(protocol, contents)| [protocol.to_be_bytes(), contents.to_be_bytes()].concat());
                if received.bytes[6..12] == [2, 0, 0, 0, 0, 1] {
                    let tag = tag.unwrap_or_default();
                    got = Some([&received.bytes[..12], &tag, &received.bytes[12..]].concat());
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(got, Some(expected));
    }
    let status = switch.stop();
    assert!(outcome(&status, "pushed") > 10, "{status:?}");
    assert_is_balanced(&status);
}
