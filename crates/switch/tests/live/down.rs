//! Devices that change while a switch runs.

use std::net::UdpSocket;
use std::time::Instant;

use inband_host::drops::Cause;
use inband_linux::device;
use inband_linux::namespace::Namespace;
use inband_linux::netlink::Netlink;
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, Status};
use inband_wire::drop_reason::Table;

use crate::drops::reasons;
use crate::fast_path::Line;
use crate::kernel::{config, plain_frame};
use crate::world::{FIRST, PATIENCE};

/// Frames for the device that is down.
const COUNT: usize = 300;

/// A switch that sends everything by its right interface.
pub(crate) fn to_the_right(io: &str, rate: &str) -> NodeConfig {
    let text = format!(
        "[switch]\ndatapath = \"engine\"\nforwarding = \"static\"\nio = \"{io}\"\n\
         [[static]]\ndestination = \"10.0.0.0/8\"\ninterfaces = [2]\n"
    );
    let text = config(11, "dscp", &[], 2_000, &text)
        .replace("[[interface]]\n", &format!("[[interface]]\nrate = \"{rate}\"\n"));
    toml::from_str(&text).unwrap()
}

/// Steps until `is_done`.
pub(crate) fn step_until(
    switch: &mut LiveSwitch,
    what: &str,
    mut is_done: impl FnMut(&Status) -> bool,
) -> Status {
    let since = Instant::now();
    loop {
        switch.step().unwrap();
        let status = switch.status();
        if is_done(&status) {
            return status;
        }
        assert!(since.elapsed() < PATIENCE, "{what}: {status:?}");
    }
}

/// Sends a frame, and steps until the switch has received it.
fn pass(switch: &mut LiveSwitch, line: &Line, frame: &[u8]) -> Status {
    let before = switch.status().interfaces[0].received_packets;
    assert_eq!(line.from.send(std::iter::once(frame)).unwrap(), 1);
    step_until(switch, "a frame", |status| status.interfaces[0].received_packets > before)
}

fn refused(status: &Status) -> u64 {
    status.interfaces[1].drops.get("device_refused").copied().unwrap_or(0)
}

#[test]
fn frames_for_an_interface_that_is_down_are_dropped_and_not_sent_when_it_is_up_again() {
    for io in ["af-packet", "af-xdp"] {
        let Some(mut line) = Line::new(1) else { return };
        Namespace::open(line.world.name(FIRST)).unwrap().enter().unwrap();
        let mut netlink = Netlink::open().unwrap();
        let right = line.right.index;
        // The number is in the length.
        let frame = |number: usize| line.routed(&plain_frame(number, 17, true, 9));
        let (first, last) = (frame(20), frame(30 + COUNT));
        let late: Vec<_> = (0..COUNT).map(|number| frame(21 + number)).collect();
        let mut switch = LiveSwitch::start(&to_the_right(io, "0")).unwrap();
        assert_eq!(line.from.send(std::iter::once(first.as_slice())).unwrap(), 1);
        let mut got = None;
        let before = step_until(&mut switch, io, |_| {
            got = line.receive();
            got.is_some()
        });
        assert_eq!(got, Some(first));
        assert_eq!(before.frames["right"], if io == "af-xdp" { io } else { "af-packet: `switch.io`" });

        device::set_up(&mut netlink, right, false).unwrap();
        for frame in &late {
            assert_eq!(line.from.send(std::iter::once(frame.as_slice())).unwrap(), 1);
        }
        // And those of the kernel, if any.
        let down = step_until(&mut switch, io, |status| refused(status) >= COUNT as u64);

        let port = |status: &Status| status.interfaces[1].clone();
        assert_eq!(port(&down).sent_packets, port(&before).sent_packets, "{io}: {down:?}");
        assert_eq!(refused(&down), COUNT as u64, "{io}: {down:?}");
        device::set_up(&mut netlink, right, true).unwrap();
        assert!(device::await_operational(&mut netlink, &[right], PATIENCE).unwrap());
        assert_eq!(line.from.send(std::iter::once(last.as_slice())).unwrap(), 1);
        let mut got = None;
        step_until(&mut switch, io, |_| {
            got = line.receive();
            got.is_some()
        });
        assert_eq!(got.map(|frame| frame.len()), Some(last.len()), "{io}: the first frame is the last");
        switch.finish();
        let end = switch.status();
        assert_eq!(refused(&end), COUNT as u64, "{io}: {end:?}");
        let port = port(&end);
        assert_eq!((port.waiting_bytes, port.drops.len()), (0, 1), "{io}: {port:?}");
    }
}

#[test]
fn packets_longer_than_what_a_device_sends_are_dropped_and_reported_as_soon_as_it_sends_less() {
    for io in ["af-packet", "af-xdp"] {
        let Some(mut line) = Line::new(1) else { return };
        Namespace::open(line.world.name(FIRST)).unwrap().enter().unwrap();
        let collector = UdpSocket::bind("127.0.0.1:32766").unwrap();
        collector.set_nonblocking(true).unwrap();
        let mut netlink = Netlink::open().unwrap();
        let [short, long] = [100, 1_200].map(|payload| line.routed(&plain_frame(payload, 17, true, 9)));
        let mut switch = LiveSwitch::start(&to_the_right(io, "0")).unwrap();

        device::set_mtu(&mut netlink, line.right.index, 1_000).unwrap();
        // Until the switch has heard of it, the frame is the device's.
        let (since, mut buffer) = (Instant::now(), vec![0; 65_536]);
        let report = loop {
            pass(&mut switch, &line, &long);
            if let Ok(length) = collector.recv(&mut buffer) {
                break buffer[..length].to_vec();
            }
            assert!(since.elapsed() < PATIENCE, "{io}: nothing is reported: {:?}", switch.status());
        };
        let code = Cause::MtuExceeded.code(Table::default());
        assert!(reasons(&[report]).contains_key(&code), "{io}");
        while line.receive().is_some() {}
        let before = pass(&mut switch, &line, &long);
        let after = pass(&mut switch, &line, &long);
        let too_big = |status: &Status| status.interfaces[1].drops.get("too_big").copied().unwrap_or(0);
        assert_eq!(too_big(&after), too_big(&before) + 1, "{io}: {after:?}");

        // What fits goes on, and all does when the device sends more again.
        pass(&mut switch, &line, &short);
        let mut got = None;
        step_until(&mut switch, io, |_| {
            got = line.receive();
            got.is_some()
        });
        assert_eq!(got.as_ref(), Some(&short), "{io}");
        device::set_mtu(&mut netlink, line.right.index, 2_000).unwrap();
        let (since, mut got) = (Instant::now(), None);
        while got.is_none() {
            pass(&mut switch, &line, &long);
            got = line.receive();
            assert!(since.elapsed() < PATIENCE, "{io}: {:?}", switch.status());
        }
        assert_eq!(got, Some(long), "{io}");
    }
}
