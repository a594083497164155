//! Devices that change while a switch runs.

use std::net::UdpSocket;
use std::time::Instant;

use inband_host::drops::Cause;
use inband_linux::device;
use inband_linux::frames::Batch;
use inband_linux::namespace::Namespace;
use inband_linux::netlink::Netlink;
use inband_linux::tcx::{self, Direction};
use inband_linux::veth::{self, End};
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, Status};
use inband_wire::drop_reason::Table;

use crate::drops::reasons;
use crate::fast_path::Line;
use crate::kernel::{config, plain_frame, socket};
use crate::world::{FIRST, PATIENCE, SECOND, World};

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
        // A message of the kernel at the other end has no route.
        let drops = port.drops.keys().filter(|reason| **reason != "no_route").count();
        assert_eq!((port.waiting_bytes, drops), (0, 1), "{io}: {port:?}");
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
        let code = Cause::MtuExceeded.code(Table::default());
        loop {
            pass(&mut switch, &line, &long);
            // Messages of the kernels at both ends, for which there is no route, are reported, too.
            if let Ok(length) = collector.recv(&mut buffer)
                && reasons(&[buffer[..length].to_vec()]).contains_key(&code)
            {
                break;
            }
            assert!(since.elapsed() < PATIENCE, "{io}: nothing is reported: {:?}", switch.status());
        }
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

/// Makes the link between the switches anew; returns the index of its end at the first one.
fn connect(world: &World) -> u32 {
    let end = |name, at: usize| End { mtu: Some(2_000), ..End::new(name, &world.namespaces[at]) };
    veth::create(&mut Netlink::open().unwrap(), [end("right", FIRST), end("left", SECOND)]).unwrap();
    let up = |place, name| {
        world.inside(place, || {
            let mut netlink = Netlink::open().unwrap();
            let index = device::find(&mut netlink, name).unwrap().unwrap().index;
            device::set_up(&mut netlink, index, true).unwrap();
            index
        })
    };
    up(SECOND, "left");
    let right = up(FIRST, "right");
    let operational =
        || device::await_operational(&mut Netlink::open().unwrap(), &[right], PATIENCE).unwrap();
    assert!(world.inside(FIRST, operational));
    right
}

fn is_absent(status: &Status) -> bool {
    status.interfaces[1].absence.is_some()
}

#[test]
fn a_switch_goes_on_without_a_device_that_is_removed_and_uses_it_again_when_it_is_back() {
    for io in ["af-packet", "af-xdp"] {
        let Some(mut line) = Line::new(1) else { return };
        Namespace::open(line.world.name(FIRST)).unwrap().enter().unwrap();
        let frame = line.routed(&plain_frame(100, 17, true, 9));
        let mut switch = LiveSwitch::start(&to_the_right(io, "0")).unwrap();
        pass(&mut switch, &line, &frame);
        step_until(&mut switch, io, |_| line.receive().is_some());

        device::delete(&mut Netlink::open().unwrap(), line.right.index).unwrap();
        let gone = step_until(&mut switch, io, is_absent);
        for _ in 0..10 {
            pass(&mut switch, &line, &frame);
        }
        let before = refused(&gone);
        let after = step_until(&mut switch, io, |status| refused(status) >= before + 10);
        assert_eq!(after.interfaces[1].sent_packets, gone.interfaces[1].sent_packets, "{io}");
        assert_eq!(after.frames["right"], "none: there is no such device");

        connect(&line.world);
        let to = socket(&line.world, SECOND, "left");
        let back = step_until(&mut switch, io, |status| !is_absent(status));
        let words = if io == "af-xdp" {
            "af-packet: it came back while the switch ran"
        } else {
            "af-packet: `switch.io`"
        };
        assert_eq!(back.frames["right"], words);
        pass(&mut switch, &line, &frame);
        let mut batch = Batch::new();
        let end = step_until(&mut switch, io, |_| {
            to.receive(&mut batch).unwrap().any(|received| received.bytes == frame)
        });
        assert_eq!(refused(&end), refused(&after), "{io}: {end:?}");
    }
}

#[test]
fn where_linux_forwards_a_device_that_is_back_has_its_programs_again() {
    let Some(world) = World::new() else { return };
    Namespace::open(world.name(FIRST)).unwrap().enter().unwrap();
    let config: NodeConfig = toml::from_str(&config(11, "dscp", &[], 2_000, "")).unwrap();
    let mut switch = LiveSwitch::start(&config).unwrap();
    let mut netlink = Netlink::open().unwrap();
    let programs = |index| {
        [Direction::Ingress, Direction::Egress].map(|direction| tcx::count(index, direction).unwrap())
    };
    for _ in 0..2 {
        let old = device::find(&mut netlink, "right").unwrap().unwrap().index;
        assert_eq!(programs(old), [1, 1]);
        device::delete(&mut netlink, old).unwrap();
        step_until(&mut switch, "gone", is_absent);

        let right = connect(&world);
        step_until(&mut switch, "back", |status| !is_absent(status));

        assert_eq!(programs(right), [1, 1]);
        let from = socket(&world, SECOND, "left");
        let before = switch.status().interfaces[1].received_packets;
        assert_eq!(from.send(std::iter::once(plain_frame(100, 17, true, 9).as_slice())).unwrap(), 1);
        step_until(&mut switch, "a frame", |status| status.interfaces[1].received_packets > before);
    }
    switch.finish();
    let index = device::find(&mut netlink, "right").unwrap().unwrap().index;
    assert_eq!(programs(index), [0, 0]);
}
