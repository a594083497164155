//! Packets of watched flows that the host's kernel drops are reported with the reason, and counted.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::tally::{await_status, talk_until};
use crate::traffic::{PATIENCE, udp_pair};
use crate::world::{A4, B4, COLLECTOR, Offloads, Place, World, inside};

/// A port without a listener.
const CLOSED: u16 = 4099;

#[test]
fn packets_to_a_closed_port_are_reported_as_such() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let capture = Capture::start(&world, Place::SecondHop);

    let from = send(&world, 5);

    let counted = b.stop();
    assert_eq!(counted["drops"]["NO_SOCKET"], 5, "{counted}");
    let decoded = capture.decode(&world);
    let is_of_b = |packet: &&Value| packet["node_id"] == 102 && packet["reports"][0]["dropped"] == true;
    // The capture sees a packet on each of its hop's devices.
    let reports: BTreeMap<_, _> = decoded
        .iter()
        .filter(is_of_b)
        .map(|report| (report["sequence"].as_u64().unwrap(), &report["reports"][0]))
        .collect();
    let mut told = 0;
    for report in reports.values() {
        let flow = &report["flow"];
        assert_eq!((&flow["source_port"], &flow["destination_port"]), (&from.into(), &CLOSED.into()));
        if report["domain"] == 0x4849 {
            let further = report["domain_metadata"].as_str().unwrap();
            told += u64::from_str_radix(&further[further.len() - 8..], 16).unwrap();
            continue;
        }
        let ingress = &report["metadata"]["ingress_interface"];
        assert_eq!((&report["drop_reason"], ingress), (&190.into(), &7.into()));
        told += 1;
    }
    assert_eq!(told, 5, "single reports and summaries: {reports:?}");
}

#[test]
fn drops_need_not_be_heard_of() {
    let Some(world) = World::new(Offloads::On) else { return };
    let mut domain = Domain::new("dscp", "md");
    domain.host = "drops = false".to_owned();
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    send(&world, 2);
    assert_eq!(b.stop()["drops"], serde_json::json!({}));
}

#[test]
fn packets_with_int_of_this_host_that_its_queue_drops_are_all_reported() {
    let Some(world) = World::new(Offloads::On) else { return };
    if !world.tc(Place::A, "qdisc add dev ab root tbf rate 1mbit burst 4kb limit 8kb") {
        eprintln!("skipped: this kernel has no token buckets");
        return;
    }
    let domain = Domain::new("dscp", "md");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let (at_a, _at_b) = udp_pair(&world, A4, B4);
    // The agent tells the program within a second which packets are its own.
    std::thread::sleep(Duration::from_millis(1_500));

    for _ in 0..200 {
        // A full queue may be an error of the call.
        let _ = at_a.send(&[0xa5; 1_000]);
    }
    std::thread::sleep(Duration::from_millis(100));

    let said = world.command(Place::A, "tc").args(["-s", "qdisc", "show", "dev", "ab"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let dropped = said.split("dropped ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let a = a.stop();
    let counted: u64 = a["drops"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert!(counted > 100, "{a}");
    assert_eq!(counted, dropped.parse::<u64>().unwrap(), "{said} {a}");
    assert_eq!(a["outcomes"]["started"], 200, "{a}");
}

#[test]
fn drops_in_containers_are_reported_where_the_settings_name_their_namespaces() {
    let Some(world) = World::new(Offloads::On) else { return };
    let container = world.name(Place::A);
    let mut domain = Domain::new("dscp", "md");
    domain.host = format!("drop_namespaces = [\"/run/netns/{container}*\"]\n");
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let later = format!("{container}-later");
    let ip =
        |words: &[&str]| assert!(Command::new("ip").args(words).status().unwrap().success(), "{words:?}");

    // Those of other names are not counted.
    world.inside(Place::FirstHop, || send_to_closed_port(5));
    world.inside(Place::A, || send_to_closed_port(3));
    await_status(&world, Place::B, |status| status["drops"]["NO_SOCKET"] == 3);
    ip(&["netns", "add", &later]);
    ip(&["-n", &later, "link", "set", "lo", "up"]);
    // Containers that come are noticed once a second.
    let mut sent = 3;
    let is_noticed = |status: &Value| status["drops"]["NO_SOCKET"].as_u64() > Some(3);
    talk_until(&world, Place::B, is_noticed, || {
        inside(&later, || send_to_closed_port(1));
        sent += 1;
        std::thread::sleep(Duration::from_millis(50));
    });
    inside(&later, || send_to_closed_port(4));
    std::thread::sleep(Duration::from_millis(100));
    ip(&["netns", "del", &later]);

    let counted = b.stop();
    let drops = counted["drops"]["NO_SOCKET"].as_u64().unwrap();
    assert!((3 + 1 + 4..=sent + 4).contains(&drops), "{sent} {counted}");
}

#[test]
fn a_connection_that_ends_well_has_no_drops_and_data_after_its_end_are_some() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "md");
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let listener = world.inside(Place::B, || TcpListener::bind((B4, 0)).unwrap());
    let connect = || {
        let to_b = world.inside(Place::A, || TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        (to_b, listener.accept().unwrap().0)
    };
    for _ in 0..20 {
        let (mut to_b, mut at_b) = connect();
        to_b.write_all(b"payload").unwrap();
        drop(to_b);
        at_b.read_to_end(&mut Vec::new()).unwrap();
        // By now A waits for the end of the other direction only.
        std::thread::sleep(Duration::from_millis(5));
    }
    // Data cannot be delivered to a closed socket.
    let (to_b, mut at_b) = connect();
    drop(to_b);
    at_b.read_to_end(&mut Vec::new()).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    at_b.write_all(b"too late").unwrap();
    let since = Instant::now();
    while resets_sent(&world, Place::A) == 0 {
        assert!(since.elapsed() < PATIENCE, "no reset");
        std::thread::sleep(Duration::from_millis(20));
    }

    let (a, b) = (a.stop(), b.stop());
    let drops: u64 = a["drops"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    // On a busy machine B sends them again before it hears of it.
    let resets = resets_sent(&world, Place::A);
    assert!(drops == resets && resets > 0, "{resets} resets: {a}");
    assert_eq!(b["drops"], serde_json::json!({}));
}

/// How often the kernel of a namespace has answered a TCP packet with a reset.
fn resets_sent(world: &World, place: Place) -> u64 {
    let output = world.command(place, "cat").arg("/proc/net/snmp").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rows = text.lines().filter(|line| line.starts_with("Tcp:")).map(str::split_whitespace);
    let (mut names, mut values) = (rows.next().unwrap(), rows.next().unwrap());
    let at = names.position(|name| name == "OutRsts").unwrap();
    values.nth(at).unwrap().parse().unwrap()
}

/// Sends packets by the loopback of this thread's namespace to a port without a listener.
fn send_to_closed_port(packets: u32) {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    (0..packets).for_each(|_| assert_eq!(socket.send_to(b"payload", ("127.0.0.1", CLOSED)).unwrap(), 7));
}

/// Sends packets from host A to a port of host B without a listener; returns their source port.
fn send(world: &World, packets: u32) -> u16 {
    // So that reports to the collector cause no ICMP errors.
    let collector = world.inside(Place::FirstHop, || UdpSocket::bind((COLLECTOR, 32766)).unwrap());
    let port = world.inside(Place::A, || {
        let socket = UdpSocket::bind((A4, 0)).unwrap();
        for _ in 0..packets {
            socket.send_to(b"payload", (B4, CLOSED)).unwrap();
        }
        socket.local_addr().unwrap().port()
    });
    // The two hops on the path may have to resolve each other first.
    std::thread::sleep(Duration::from_millis(1500));
    drop(collector);
    port
}
