//! Packets that must not be changed are not, and traffic flows whatever happens to the agent.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use inband_linux::packet::PacketSocket;
use inband_testkit::{md_frame, packet};
use rustix::net::sockopt::set_ip_tos;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::tally::{await_status, count, has_more, talk_until};
use crate::traffic::{PATIENCE, bytes, connect, deliver, read, receive, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

#[test]
fn a_packet_that_only_looks_like_int_is_untouched() {
    // A sender that writes INT itself cannot leave the checksum to a device.
    let Some(world) = World::new(Offloads::Off) else { return };
    let Some(b) = Agent::start(&world, Place::B, &Domain::new("dscp", "md")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    set_ip_tos(&at_a, 0x17 << 2).unwrap();
    let shim = [0x10, 10, 0, 0, 0x20, 0, 7, 7, 0xec, 0, 0, 0, 0, 0, 0, 0];

    for payload in
        [b"".as_slice(), b"\x10\x0a", &bytes(44, 5), &shim, &[&shim, bytes(27, 5).as_slice()].concat()]
    {
        deliver(&at_a, &at_b, payload);
    }
    // The same bytes with everything in place are INT.
    at_a.send(&[&shim, bytes(28, 5).as_slice(), b"payload"].concat()).unwrap();
    let mut received = [0; 100];
    let length = receive(&at_b, &mut received);

    assert_eq!(&received[..length], b"payload");
    let counted = b.stop();
    assert_eq!(counted["outcomes"]["stripped"], 1, "{counted}");
}

#[test]
fn datagrams_that_leave_no_room_are_counted_and_arrive_as_they_are() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    // 1472 fills the packet; 1456 leaves room for the header alone, 1428 for the host's metadata, too; 4000
    // is fragmented.
    for length in [1472, 1457, 1456, 1428, 4000] {
        deliver(&at_a, &at_b, &bytes(length, 6));
    }

    let (a, b) = (a.stop(), b.stop());
    assert_eq!(a["outcomes"]["not_started_mtu"], 2, "{a}");
    assert_eq!(a["outcomes"]["started"], 2, "{a}");
    assert_eq!(a["outcomes"]["fragment"], 3, "{a}");
    assert_eq!(b["outcomes"]["stripped"], 2, "{b}");
}

#[test]
fn traffic_goes_on_when_the_agent_is_killed() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let before = world.links(Place::A);
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (mut to_b, mut at_b) = connect(&world, B4);
    let half = 2_000_000;
    let all = bytes(2 * half, 4);

    let received = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(&mut at_b, 2 * half));
        to_b.write_all(&all[..half]).unwrap();
        a.kill();
        to_b.write_all(&all[half..]).unwrap();
        reader.join().unwrap()
    });

    assert!(received == all, "the bytes have changed");
    let counted = b.stop();
    assert!(counted["outcomes"]["stripped"].as_u64().unwrap() > 100, "{counted}");
    wait_until("the devices are as they were", || world.links(Place::A) == before);
    wait_until("another agent may start", || Agent::start(&world, Place::A, &domain).is_some());
}

#[test]
fn who_kills_the_agent_by_name_leaves_its_guard_alone() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, &Domain::new("dscp", "md")) else { return };
    let name = |id: &str| std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    let agent = a.id().to_string();
    let children = std::fs::read_to_string(format!("/proc/{agent}/task/{agent}/children")).unwrap();

    assert_eq!(name(&agent), "inband\n");
    wait_until("the only child is the guard", || name(children.trim()) == "int-guard\n");
    a.stop();
}

#[test]
fn devices_may_come_and_go() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md").with_devices("ab\", \"extra*");
    let Some(mut a) = Agent::start(&world, Place::A, &domain) else { return };
    let before = world.links(Place::A);

    world.ip(Place::A, "link add extra7 index 99 type veth peer name other7");
    assert_eq!(a.next_message(), "INT on extra7\n");
    assert!(world.links(Place::A).contains("int2"), "{}", world.links(Place::A));
    world.ip(Place::A, "link del extra7");
    assert_eq!(a.next_message(), "no INT on extra7 any more\n");

    wait_until("the shim is gone", || world.links(Place::A) == before);
    a.stop();
    assert!(!world.links(Place::A).contains("int0"), "{}", world.links(Place::A));
}

#[test]
fn settings_are_read_again_and_a_wrong_file_changes_nothing() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(mut a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    // An error is followed by two lines that quote the file.
    let mut reload = |settings: String, lines: usize| {
        world.write("A.toml", settings.as_bytes());
        a.signal(Signal::HUP);
        let message: String = (0..lines).map(|_| a.next_message()).collect();
        deliver(&at_a, &at_b, b"payload");
        message
    };
    let settings = domain.settings(Place::A);
    let without_udp = settings.replace("protocol = \"udp\"", "protocol = \"sctp\"");

    assert!(reload(without_udp.clone(), 1).starts_with("settings of "));
    let wrong = reload(settings.replace("[[watch]]", "[[wach]]"), 3);
    assert!(wrong.starts_with("the settings stay as they were: ") && wrong.contains("wach"), "{wrong}");
    let fixed = reload(settings.replace("id = 101", "id = 103"), 3);
    assert!(fixed.contains("node changes with a restart only"), "{fixed}");

    a.stop();
    assert_eq!(b.stop()["outcomes"]["stripped"], 0);
}

#[test]
fn metrics_tell_what_became_of_packets() {
    let Some(world) = World::new(Offloads::On) else { return };
    // The kernel may drop segments of the metrics connections themselves, which would be reported.
    let host = "metrics = \"127.0.0.1:9464\"\ndrops = false\n".to_owned();
    let domain = Domain { host, ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &Domain::new("dscp", "md")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    (0..5).for_each(|length| deliver(&at_a, &at_b, &bytes(length, 9)));

    let started = "inband_host_packets_total{outcome=\"started\"} 5\n";
    let mut text = String::new();
    wait_until("five packets are counted", || {
        let mut stream = world.inside(Place::A, || TcpStream::connect("127.0.0.1:9464").unwrap());
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        text.clear();
        stream.read_to_string(&mut text).unwrap();
        text.contains(started)
    });
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert_eq!(inband_testkit::metrics::undocumented(&text), [""; 0]);
    assert!(text.contains("\ninband_host_int_packets_total 5\n"), "{text}");
    assert!(text.contains("\ninband_host_reports_total{result=\"sent\"} 0\n"), "{text}");
    a.stop();
    b.stop();
}

#[test]
fn packets_of_another_vlan_stay_as_they_are() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(b) = Agent::start(&world, Place::B, &Domain::new("dscp", "md")) else { return };
    // Tag 0 has a priority only; the kernel takes tags off before the programs see the frame.
    let frame = |id| {
        let packet = packet().vlan(id).udp(9, 80).addresses(&[10, 91, 1, 1], &[10, 91, 3, 1]);
        md_frame().over(packet).hop(2).build()
    };

    world.inside(Place::SecondHop, || {
        let socket = PacketSocket::open().unwrap();
        for id in [5, 0, 5, 4095] {
            socket.send(&frame(id), index("cd")).unwrap();
        }
    });
    await_status(&world, Place::B, |status| count(status, "vlan_tag") + count(status, "stripped") >= 4);

    let outcomes = &b.stop()["outcomes"];
    assert_eq!((&outcomes["vlan_tag"], &outcomes["stripped"]), (&3.into(), &1.into()), "{outcomes}");
}

#[test]
fn a_packet_of_a_vlan_is_not_taken_for_the_one_before() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, &Domain::new("dscp", "md")) else { return };
    // The kernel takes the tag out of what comes in, and a bridge sends it on with the tag beside it.
    for command in [
        "link add name bridge type bridge",
        "link add inner type veth peer name outer",
        "link set outer master bridge",
        "link set ab master bridge",
        "link set inner up",
        "link set outer up",
        "link set bridge up",
    ] {
        world.ip(Place::A, command);
    }
    let to_b = packet().udp(9, 80).addresses(&[10, 91, 1, 1], &[10, 91, 3, 1]);
    let (with_int, of_vlan) = (md_frame().over(to_b.clone()).hop(2).build(), to_b.vlan(5).build());

    // Until the kernel has noticed that the ports are up, the bridge drops what it gets.
    let is_seen = |status: &Value| count(status, "already_int") >= 10 && count(status, "vlan_tag") >= 10;
    talk_until(&world, Place::A, is_seen, || {
        world.inside(Place::A, || {
            let socket = PacketSocket::open().unwrap();
            for _ in 0..10 {
                for frame in [&with_int, &of_vlan] {
                    socket.send(frame, index("inner")).unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        });
    });

    let outcomes = &a.stop()["outcomes"];
    assert!(outcomes["already_int"].as_u64() >= Some(10), "{outcomes}");
    assert!(outcomes["vlan_tag"].as_u64() >= Some(10), "{outcomes}");
    assert_eq!(outcomes["remarked"], 0, "{outcomes}");
}

#[test]
fn what_others_send_into_a_shim_does_not_leave_it() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, &Domain::new("dscp", "md")) else { return };
    let frame = packet().udp(9, 80).addresses(&[10, 91, 1, 1], &[10, 91, 3, 1]).build();

    world.inside(Place::A, || {
        let socket = PacketSocket::open().unwrap();
        (0..5).for_each(|_| socket.send(&frame, index("int0")).unwrap());
    });
    await_status(&world, Place::A, has_more("not_steered", 4));

    let outcomes = &a.stop()["outcomes"];
    // The kernel itself may send something, too.
    assert!(outcomes["not_steered"].as_u64() >= Some(5) && outcomes["started"] == 0, "{outcomes}");
}

#[test]
fn an_agent_without_its_guard_starts_another() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md").with_devices("ab\", \"extra*");
    let before = world.links(Place::A);
    let Some(mut a) = Agent::start(&world, Place::A, &domain) else { return };
    world.ip(Place::A, "link add extra7 index 99 type veth peer name other7");
    assert_eq!(a.next_message(), "INT on extra7\n");
    let agent = a.id().to_string();
    let children = std::fs::read_to_string(format!("/proc/{agent}/task/{agent}/children")).unwrap();

    let guard = Pid::from_raw(children.trim().parse().unwrap()).unwrap();
    kill_process(guard, Signal::KILL).unwrap();
    // At the same time the agent has to tell its guard something.
    world.ip(Place::A, "link del extra7");
    let messages = [a.next_message(), a.next_message()];

    assert!(messages.contains(&"the guard was gone: there is a new one\n".to_owned()), "{messages:?}");
    assert!(messages.contains(&"no INT on extra7 any more\n".to_owned()), "{messages:?}");
    a.kill();
    wait_until("the new guard removes the shim", || world.links(Place::A) == before);
}

#[test]
fn a_second_agent_keeps_off_the_first_ones_shims() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(first) = Agent::start(&world, Place::A, &domain) else { return };

    let message = Agent::refusal(&world, Place::A, &domain);

    assert!(message.contains("an agent that runs here has this one"), "{message}");
    assert_eq!(first.stop()["outcomes"]["malformed"], 0);
}

/// The interface index of a device in this thread's namespace.
fn index(device: &str) -> u32 {
    let lines = std::fs::read_to_string(format!("/proc/thread-self/net/dev_snmp6/{device}")).unwrap();
    lines.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
