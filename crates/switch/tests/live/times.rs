//! The time of arrival of packets that pass the stack: where it is requested, and where a packet has another.

use std::io::IoSlice;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use inband_linux::frames::Batch;
use nix::libc::{CLOCK_MONOTONIC, sock_txtime};
use nix::sys::socket::sockopt::TxTime;
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrIn, sendmsg, setsockopt};

use crate::kernel::{
    bridge, config, correct_ipv4_checksum, exchange, node, plain_frame, replace_instructions, socket, through,
};
use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, drops};

/// Instructions, and the bytes of metadata of each.
const TIMES: [(&str, usize); 3] = [("hop-latency", 4), ("ingress-timestamp", 8), ("egress-timestamp", 8)];
/// Nanoseconds.
const SLACK: u64 = 1_000_000;

#[test]
fn packets_that_request_times_get_them_and_no_others_change() {
    let Some(world) = World::new() else { return };
    bridge(&world, FIRST);
    let (from, to) = (socket(&world, A, "right"), socket(&world, SECOND, "left"));
    let mut batch = Batch::new();
    // Without edges, and with one that packets could leave by.
    for edges in [&[][..], &["left"]] {
        let switch = world.switch_of(FIRST, &config(11, "dscp", edges, 1_500, ""));
        for (asked, length) in TIMES {
            for (plain, headers) in plain_frames() {
                let text = config(1, "dscp", &["left"], 2_000, "");
                let mut source = node(&replace_instructions(&text, &format!("[\"{asked}\"]")));
                let started = through(&mut source, &plain, 1, 2).unwrap();
                let before = inband_linux::clock::realtime();

                // An edge accepts no INT: packets leave by it.
                let (one, other) = if edges.is_empty() { (&from, &to) } else { (&to, &from) };
                let got = exchange(one, other, &started, &mut batch);

                let after = inband_linux::clock::realtime();
                let name = format!("{asked}, edges {edges:?}, {headers} bytes before INT");
                if !edges.is_empty() {
                    // It leaves by the edge as it was before the source.
                    assert_eq!(got.as_deref(), Some(&plain[..]), "{name}");
                    continue;
                }
                let got = got.unwrap();
                assert_eq!(got.len(), started.len() + length, "{name}");
                let at = headers + 4 + 12;
                let mut bytes = [0; 8];
                bytes[8 - length..].copy_from_slice(&got[at..at + length]);
                let time = u64::from_be_bytes(bytes);
                match asked {
                    "hop-latency" => assert!(time > 0 && time < after - before, "{name}: {time}"),
                    // The clock may be adjusted while the switch runs.
                    _ => assert!((before - SLACK..=after + SLACK).contains(&time), "{name}: {time}"),
                }
                assert_eq!(got[at + length..], started[at..], "{name}");
            }
        }
        let status = switch.stop();
        assert_eq!(drops(&status), 0, "{status:?}");
    }
}

/// Frames with UDP, and TCP with and without options, in IPv4 and IPv6; and the bytes before INT.
fn plain_frames() -> Vec<(Vec<u8>, usize)> {
    let mut frames = Vec::new();
    for (is_v4, l4) in [(true, 34), (false, 54)] {
        frames.push((plain_frame(30, 17, is_v4, 4_790), l4 + 8));
        let tcp = plain_frame(30, 6, is_v4, 4_790);
        frames.push((without_options(&tcp, is_v4, l4), l4 + 20));
        frames.push((tcp, l4 + 32));
    }
    frames
}

/// Removes the options of TCP; the checksum behind is not checked on the way.
fn without_options(frame: &[u8], is_v4: bool, l4: usize) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame.drain(l4 + 20..l4 + 32);
    frame[l4 + 12] = 0x50;
    let length = frame.len() - if is_v4 { 14 } else { 54 };
    let at = if is_v4 { 16 } else { 18 };
    frame[at..at + 2].copy_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
    if is_v4 {
        correct_ipv4_checksum(&mut frame);
    }
    frame
}

/// A time at which a sender wants a packet to leave stays with it into other namespaces, and is no arrival.
#[test]
fn times_for_delivery_that_packets_arrive_with_mean_nothing() {
    let Some(world) = World::new() else { return };
    world.three_networks();
    for place in [FIRST, SECOND] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1"));
    }
    // The host's own group messages of IPv6, which have an extension header, would pass the engine.
    assert!(world.run(FIRST, "sysctl -q -w net.ipv6.conf.all.disable_ipv6=1"));
    let switch = world.switch_of(FIRST, &config(11, "dscp", &[], 1_500, ""));
    let receiver = world.inside(B, || UdpSocket::bind(("10.94.3.1", 0)).unwrap());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let to: SockaddrIn = receiver.local_addr().unwrap().to_string().parse().unwrap();
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    setsockopt(&sender, TxTime, &sock_txtime { clockid: CLOCK_MONOTONIC, flags: 0 }).unwrap();
    for time in 1..=64_u64 {
        let data = time.to_be_bytes();
        let (part, control) = ([IoSlice::new(&data)], [ControlMessage::TxTime(&time)]);
        sendmsg(sender.as_raw_fd(), &part, &control, MsgFlags::empty(), Some(&to)).unwrap();

        let mut buffer = [0; 64];
        let received = receiver.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..received], data);
    }
    let status = switch.stop();
    for name in ["left_without_int", "lost_int", "to_engine"] {
        assert_eq!(status.kernel.get(name).copied().unwrap_or(0), 0, "{name}: {status:?}");
    }
}
