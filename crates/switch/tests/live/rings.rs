//! Packets that reach the engine past the kernel's stack (AF_XDP).

use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use inband_linux::bpf::{Attached, load_classifier};
use inband_linux::device;
use inband_linux::frames::{Batch, FrameSocket};
use inband_linux::namespace::Namespace;
use inband_linux::netlink::Netlink;
use inband_linux::tcx::{self, Direction, Order};
use inband_linux::xsk::{FrameMemory, Moving, Ready, RingSocket};
use inband_node::NodeConfig;
use inband_switch::{LiveSwitch, Status};

use crate::fast_path::Line;
use crate::kernel::{KINDS, config, int_frames_with, node, socket, through};
use crate::world::{A, B, FIRST, PATIENCE, SECOND, World, drops, outcome};

/// Packets that request only values independent of the observer.
fn frames(kind: &str, hops: u32) -> Vec<Vec<u8>> {
    int_frames_with(kind, hops, "[\"node-id\", \"level1-interfaces\", \"level2-interfaces\"]")
}

/// An engine that forwards by the kernel's routes.
pub(crate) fn router(kind: &str, mtu: u32, io: &str) -> String {
    let text = format!("[switch]\ndatapath = \"engine\"\nforwarding = \"routes\"\nio = \"{io}\"\n");
    config(11, kind, &[], mtu, &text).replace("[[interface]]\n", "[[interface]]\nrate = \"0\"\n")
}

fn assert_by_rings(status: &Status) {
    assert_eq!(status.io, "af-xdp");
    assert!(status.frames.values().all(|words| words.starts_with("af-xdp")), "{:?}", status.frames);
}

#[test]
fn packets_leave_the_rings_as_they_leave_the_engine() {
    let Some(mut line) = Line::new(1) else { return };
    for (io, kind) in KINDS.iter().flat_map(|kind| [("af-xdp", *kind), ("af-packet", *kind)]) {
        for mtu in [2_000, 1_300] {
            let text = router(kind, mtu, io);
            let switch = line.world.switch_of(FIRST, &text);
            let mut engine = node(&text);
            let mut sent = 0;
            for frame in (0..3).flat_map(|hops| frames(kind, hops)) {
                // Longer packets may have to be segmented.
                if frame.len() > 14 + mtu as usize {
                    continue;
                }
                let expected = through(&mut engine, &line.routed(&frame), 1, 2);

                let got = line.exchange(&line.addressed(&frame));

                assert_eq!(got, expected, "{io}, {kind}, MTU {mtu}, from {frame:02x?}");
                sent += 1;
            }
            assert!(sent > 20, "{kind}");
            let status = switch.stop();
            let count =
                |name| engine.counters().iter().find(|(outcome, _)| outcome.name() == name).unwrap().1;
            for name in ["transit", "pushed", "hops_exceeded", "mtu_exceeded"] {
                assert_eq!(outcome(&status, name), count(name), "{kind} {name} of {sent}");
            }
            assert_eq!((drops(&status), status.interfaces[0].receive_losses), (0, 0), "{status:?}");
            assert!(status.interfaces[1].sent_packets >= sent, "{status:?}");
            if io == "af-xdp" {
                assert_by_rings(&status);
            } else {
                assert_eq!(
                    (status.io, status.frames["left"].as_str()),
                    ("af-packet", "af-packet: `switch.io`")
                );
            }
        }
    }
}

/// Results equal those without the rings: ARP, neighbor discovery, offloads of hosts, the host's own
/// addresses.
#[test]
fn hosts_reach_each_other_and_the_switches_through_bridges_and_routers_with_either_socket() {
    for (io, forwarding) in
        [("af-xdp", "learn"), ("af-packet", "learn"), ("af-xdp", "routes"), ("af-packet", "routes")]
    {
        let Some(world) = World::new() else { return };
        let to = if forwarding == "learn" {
            world.one_network();
            world.address(FIRST, "left", "10.94.0.11/24");
            ["10.94.0.2", "fd94::2"]
        } else {
            world.three_networks();
            ["10.94.3.1", "fd94:3::1"]
        };
        let text = format!("[switch]\ndatapath = \"engine\"\nforwarding = \"{forwarding}\"\nio = \"{io}\"\n");
        let (first, second) = (world.switch(FIRST, &text), world.switch(SECOND, &text));

        for to in to {
            world.udp(to, (0..=1_400).step_by(97));
            world.tcp(to, 300_000);
        }
        let own = if forwarding == "learn" { "10.94.0.11:0" } else { "10.94.1.254:0" };
        let (there, here) = (
            world.inside(FIRST, || UdpSocket::bind(own).unwrap()),
            world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap()),
        );
        there.set_read_timeout(Some(PATIENCE)).unwrap();
        here.send_to(b"to the switch", there.local_addr().unwrap()).unwrap();
        assert_eq!(there.recv(&mut [0; 64]).unwrap(), 13, "{io}, {forwarding}");

        let (first, second) = (first.stop(), second.stop());
        assert_eq!(outcome(&first, "started"), outcome(&second, "stripped"), "{io}, {forwarding}");
        for status in [&first, &second] {
            let losses: u64 = status.interfaces.iter().map(|port| port.receive_losses).sum();
            assert_eq!((drops(status), losses, status.io), (0, 0, io), "{status:?}");
        }
    }
}

#[test]
fn a_tag_that_the_kernel_has_taken_out_stays_on_the_packet() {
    let Some(line) = Line::new(1) else { return };
    // The host's program tags its frames, as a VLAN device does.
    let program = load_classifier(&tagging()).unwrap();
    let index = |place, name: &str| {
        line.world.inside(place, || device::find(&mut Netlink::open().unwrap(), name).unwrap().unwrap().index)
    };
    let right = index(A, "right");
    let _tagging: OwnedFd =
        line.world.inside(A, || tcx::attach(program.as_fd(), right, Direction::Egress, Order::Last).unwrap());
    let text = router("dscp", 2_000, "af-xdp")
        .replace("\"routes\"", "\"static\"\n[[static]]\ndestination = \"10.0.0.0/8\"\ninterfaces = [2]");
    let text = text
        .replace("io = \"af-xdp\"\n", "")
        .replace("datapath = \"engine\"", "datapath = \"engine\"\nio = \"af-xdp\"");
    let switch = line.world.switch_of(FIRST, &text);
    let to = socket(&line.world, SECOND, "left");
    let frame = frames("dscp", 1).into_iter().find(|frame| frame[12] == 8).unwrap();

    assert_eq!(line.from.send(std::iter::once(frame.as_slice())).unwrap(), 1);

    let tag = await_tag(&to);
    let status = switch.stop();
    assert_by_rings(&status);
    assert_eq!(tag, Some((0x8100, 7)));
}

/// The tag of the first frame from the host's address.
fn await_tag(to: &FrameSocket) -> Option<(u16, u16)> {
    let (since, mut batch) = (Instant::now(), Batch::new());
    while since.elapsed() < PATIENCE {
        for received in to.receive(&mut batch).unwrap() {
            if received.bytes[6..12] == [2, 0, 0, 0, 0, 1] {
                return received.vlan;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the frame does not come");
}

/// `bpf_skb_vlan_push(skb, htons(0x8100), 7)`, then `TCX_NEXT`.
fn tagging() -> Vec<u64> {
    let instruction = |code: u8, register: u8, immediate: i32| {
        let [a, b, c, d] = immediate.to_ne_bytes();
        u64::from_ne_bytes([code, register, 0, 0, a, b, c, d])
    };
    vec![
        instruction(0xb7, 2, i32::from(0x8100_u16.to_be())),
        instruction(0xb7, 3, 7),
        instruction(0x85, 0, 18),
        instruction(0xb7, 0, -1),
        instruction(0x95, 0, 0),
    ]
}

#[test]
fn another_program_at_xdp_stays_in_effect_and_is_named() {
    let Some(mut line) = Line::new(1) else { return };
    let _foreign = line.attach_foreign();

    let demanded: NodeConfig = toml::from_str(&router("dscp", 2_000, "af-xdp")).unwrap();
    let error = line.world.inside(FIRST, || LiveSwitch::start(&demanded).map(drop)).unwrap_err();
    let text = router("dscp", 2_000, "auto");
    let switch = line.world.switch_of(FIRST, &text);
    let frame = frames("dscp", 0).remove(0);
    let got = line.exchange(&line.addressed(&frame));

    assert_eq!(error.key(), Some("switch.io"), "{error}");
    assert!(error.to_string().contains("another program at XDP"), "{error}");
    assert_eq!(got, through(&mut node(&text), &line.routed(&frame), 1, 2));
    let status = switch.stop();
    assert_eq!(status.frames["left"], "af-packet: there is another program at XDP");
    assert_eq!((status.io, status.frames["right"].as_str()), ("af-xdp", "af-xdp"));
}

#[test]
fn another_socket_on_a_queue_is_waited_for_and_named_if_it_stays() {
    let Some(line) = Line::new(1) else { return };
    let text = router("dscp", 2_000, "af-xdp");
    let demanded: NodeConfig = toml::from_str(&text).unwrap();
    let other = line.world.inside(FIRST, || {
        let device = device::find(&mut Netlink::open().unwrap(), "right").unwrap().unwrap();
        let ready = Ready::of(1);
        let mut memory = FrameMemory::new(ready.chunks(1)).unwrap();
        (RingSocket::open(&mut memory, device.index, 0, ready, Moving::Always).unwrap(), memory)
    });

    let error = line.world.inside(FIRST, || LiveSwitch::start(&demanded).map(drop)).unwrap_err();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(other);
    });
    let switch = line.world.switch_of(FIRST, &text);

    ending.join().unwrap();
    assert_eq!(error.key(), Some("switch.io"), "{error}");
    assert!(error.to_string().contains("another AF_XDP socket on its queue"), "{error}");
    assert_by_rings(&switch.stop());
}

#[test]
fn what_a_queue_or_a_filter_has_to_see_is_sent_by_it_as_soon_as_it_is_there() {
    let Some(mut line) = Line::new(1) else { return };
    let frame = frames("dscp", 0).remove(0);
    let text = router("dscp", 2_000, "auto");
    let expected = through(&mut node(&text), &line.routed(&frame), 1, 2);
    let config: NodeConfig = toml::from_str(&text).unwrap();
    let namespace = Namespace::open(line.world.name(FIRST)).unwrap();
    namespace.enter().unwrap();
    let mut switch = LiveSwitch::start(&config).unwrap();
    let mut steps_until = |words: &str| {
        let since = Instant::now();
        while switch.status().frames["right"] != words {
            switch.step().unwrap();
            assert!(since.elapsed() < PATIENCE, "{words}: {:?}", switch.status().frames);
        }
        line.from.send(std::iter::once(line.addressed(&frame).as_slice())).unwrap();
        for _ in 0..200 {
            switch.step().unwrap();
            if let Some(got) = line.receive() {
                return Some(got);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    };
    assert_eq!(steps_until("af-xdp"), expected);

    let program = load_classifier(&dropping()).unwrap();
    let filter = tcx::attach(program.as_fd(), line_right(), Direction::Egress, Order::Last).unwrap();
    let filter = Attached::from(filter);
    let words = "af-xdp in; af-packet out: filters of others at TC on what it sends";
    assert_eq!(steps_until(words), None, "the filter drops it");

    drop(filter);
    assert_eq!(steps_until("af-xdp"), expected);

    let tbf = [
        "qdisc", "add", "dev", "right", "root", "tbf", "rate", "1gbit", "burst", "100000", "limit", "1000000",
    ];
    if !Command::new("tc").args(tbf).status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped in part: no `tc`, or no tbf");
    }
    assert_eq!(steps_until("af-xdp in; af-packet out: its queue is tbf"), expected);
}

/// The index of the device to the right, in this thread's namespace.
fn line_right() -> u32 {
    device::find(&mut Netlink::open().unwrap(), "right").unwrap().unwrap().index
}

/// `TCX_DROP` for everything.
fn dropping() -> Vec<u64> {
    let [a, b, c, d] = 2_i32.to_ne_bytes();
    vec![u64::from_ne_bytes([0xb7, 0, 0, 0, a, b, c, d]), u64::from_ne_bytes([0x95, 0, 0, 0, 0, 0, 0, 0])]
}

#[test]
fn a_reload_under_traffic_loses_no_packet() {
    for datapath in [
        "io = \"af-xdp\"\ndatapath = \"engine\"",
        "io = \"af-packet\"\ndatapath = \"engine\"",
        "datapath = \"kernel\"",
    ] {
        let Some(world) = World::new() else { return };
        world.three_networks();
        for place in [FIRST, SECOND] {
            assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1"));
        }
        let text = format!("[switch]\n{datapath}\nforwarding = \"routes\"\n");
        let text =
            if datapath.contains("kernel") { text.replace("forwarding = \"routes\"\n", "") } else { text };
        let other = format!("[[watch]]\ndestination = \"10.99.0.0/16\"\n{text}");
        let (first, second) = (world.switch(FIRST, &text), world.switch(SECOND, &text));
        world.udp("10.94.3.1", 10..12);
        let receiver = world.inside(B, || UdpSocket::bind("10.94.3.1:0").unwrap());
        receiver.set_read_timeout(Some(PATIENCE)).unwrap();
        let to = receiver.local_addr().unwrap();
        let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
        let (mut next, mut buffer) = (0_u32, [0; 64]);
        // At most as many in flight at a time as sockets hold.
        for round in 0..30 {
            first.reload(FIRST, if round % 2 == 0 { &other } else { &text });
            for number in next..next + 50 {
                sender.send_to(&number.to_be_bytes(), to).unwrap();
            }
            for number in next..next + 50 {
                let length = receiver
                    .recv(&mut buffer)
                    .unwrap_or_else(|error| panic!("{datapath}: packet {number}: {error}"));
                assert_eq!(buffer[..length], number.to_be_bytes(), "{datapath}, round {round}");
            }
            next += 50;
        }
        let (first, second) = (first.stop(), second.stop());
        assert_eq!(first.reloads, 30, "{datapath}");
        for status in [&first, &second] {
            let losses: u64 = status.interfaces.iter().map(|port| port.receive_losses).sum();
            assert_eq!((drops(status), losses), (0, 0), "{datapath}: {status:?}");
        }
    }
}

/// The environment variable with the configuration of the child's switch.
const CHILD: &str = "INBAND_TEST_SWITCH";
/// A packet may be lost while forwarding starts or ends.
const SHORT: Duration = Duration::from_millis(200);

#[test]
#[ignore = "runs in a process of its own for the test below"]
fn a_switch_until_it_is_killed() {
    let Ok(text) = std::env::var(CHILD) else { return };
    let config: NodeConfig = toml::from_str(&text).unwrap();
    let mut switch = LiveSwitch::start(&config).unwrap();
    loop {
        switch.step().unwrap();
    }
}

#[test]
fn a_switch_that_is_killed_leaves_its_interfaces_as_they_were() {
    let Some(mut line) = Line::new(1) else { return };
    let text = router("dscp", 2_000, "af-xdp");
    let frame = frames("dscp", 0).remove(0);
    let expected = through(&mut node(&text), &line.routed(&frame), 1, 2);
    let itself = std::env::current_exe().unwrap();
    for round in 0..3 {
        let mut command = line.world.namespaces[FIRST].command(itself.to_str().unwrap()).unwrap();
        command.args(["--ignored", "--exact", "rings::a_switch_until_it_is_killed", "--nocapture"]);
        let mut child =
            command.env(CHILD, &text).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let since = Instant::now();
        // Until it runs, Linux forwards the packet without INT.
        while line.exchange_within(&line.addressed(&frame), SHORT) != expected {
            assert!(since.elapsed() < PATIENCE, "round {round}: it does not start");
            std::thread::sleep(Duration::from_millis(20));
        }

        child.kill().unwrap();
        child.wait().unwrap();

        // Linux forwards as before.
        let since = Instant::now();
        while line.exchange_within(&line.addressed(&frame), SHORT) != Some(line.routed(&frame)) {
            assert!(since.elapsed() < PATIENCE, "round {round}: something is left");
        }
        let index = line.left.index;
        line.world.inside(FIRST, || {
            for direction in [Direction::Ingress, Direction::Egress] {
                assert_eq!(tcx::count(index, direction).unwrap(), 0);
            }
        });
    }
    // And no program is at XDP: it could not start otherwise.
    let status = line.world.switch_of(FIRST, &text).stop();
    assert_by_rings(&status);
}
