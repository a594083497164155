//! One packet of a flow gets INT in each interval, none overtakes another, and connections keep their MSS.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::process::Signal;
use rustix::thread::CpuSet;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::foreign::max_segment;
use crate::tally::{count, talk_until};
use crate::traffic::{bytes, connect, deliver, exchange_tcp, read, receive, udp_pair};
use crate::world::{A4, B4, B6, Offloads, Place, World};

const INTERVAL_US: u32 = 50_000;
const INTERVAL: Duration = Duration::from_millis(50);
const TEN_MS: u32 = 10_000;
const TEN_MINUTES_US: u32 = 600_000_000;
/// How far the clocks of the programs and of the test may be apart.
const JITTER_NS: u64 = 1_000_000;
/// Segments of TCP with timestamps over IPv4 and IPv6, on links with an MTU of 1,500 bytes.
const SEGMENTS: [(&str, u32); 2] = [(B4, 1448), (B6, 1428)];

#[test]
fn one_packet_of_a_flow_gets_int_in_each_interval_and_the_first_always() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &slices(INTERVAL_US)) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let since = Instant::now();
    // Intervals that begin with a datagram: while the test waits for a processor, there is nothing to mark.
    let (mut sent, mut active, mut began) = (0_u64, 0_u64, None);
    while since.elapsed() < Duration::from_millis(1_000) || active < 10 {
        if began.is_none_or(|began: Instant| began.elapsed() >= INTERVAL) {
            began = Some(Instant::now());
            active += 1;
        }
        deliver(&at_a, &at_b, b"payload");
        sent += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
    let intervals = u64::try_from(since.elapsed().as_micros()).unwrap() / u64::from(INTERVAL_US);
    let mut late = 0;
    for _ in 0..20 {
        // Each pair is another flow.
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        let first = Instant::now();
        deliver(&at_a, &at_b, b"first");
        deliver(&at_a, &at_b, b"second");
        late += u64::from(first.elapsed() >= INTERVAL);
    }

    let (a, b) = (a.stop(), b.stop());
    let started = count(&a, "started") - 20;
    assert!(started <= intervals + 1 + late, "{started} in {intervals} intervals, {late} late: {a}");
    assert!(started >= active / 2, "{started} in {active} active intervals: {a}");
    assert_eq!(count(&a, "started") + count(&a, "between_slices"), sent + 40, "{a}");
    assert_eq!(count(&b, "stripped"), count(&a, "started"), "{b}");
}

#[test]
fn a_changed_watchlist_applies_between_slices() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = slices(TEN_MINUTES_US);
    let Some((mut a, b)) = agents(&world, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let settings = domain.settings(Place::A);
    let without_udp = settings.replace("protocol = \"udp\"", "protocol = \"sctp\"");
    let mut send = |settings: Option<&str>, datagrams: usize| {
        if let Some(settings) = settings {
            world.write("A.toml", settings.as_bytes());
            a.signal(Signal::HUP);
            assert!(a.next_message().starts_with("settings of "));
        }
        (0..datagrams).for_each(|_| deliver(&at_a, &at_b, b"payload"));
    };

    send(None, 3);
    send(Some(&without_udp), 5);
    send(Some(&settings), 2);

    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&a, "between_slices")), (1, 4), "{a}");
    assert_eq!((&a["watched"]["packets"], count(&b, "stripped")), (&5.into(), 1), "{a} {b}");
}

#[test]
fn a_lease_is_renewed_between_slices() {
    let Some(world) = World::new(Offloads::On) else { return };
    let host = "lease_ms = 1000\nlinger_ms = 1500\n".to_owned();
    let Some((a, b)) = agents(&world, &Domain { lease: true, host, ..slices(TEN_MINUTES_US) }) else {
        return;
    };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    talk_until(
        &world,
        Place::A,
        |status| status["probes"]["sent"].as_u64().unwrap() > 4,
        || (0..20).for_each(|_| deliver(&at_a, &at_b, b"payload")),
    );

    let (a, b) = (a.stop(), b.stop());
    assert_eq!((count(&a, "started"), count(&b, "stripped")), (1, 1), "{a} {b}");
    assert!(count(&a, "between_slices") > 0, "{a}");
}

#[test]
fn every_active_flow_has_int_in_every_interval() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &slices(TEN_MS)) else { return };
    let flows: Vec<_> = (0..5).map(|_| udp_pair(&world, A4, B4)).collect();
    let capture = Capture::start(&world, Place::FirstHop);

    // The time before and after each call.
    let send = |socket: &UdpSocket| {
        (0..700_u32)
            .map(|number| {
                let before = now();
                assert_eq!(socket.send(&number.to_be_bytes()).unwrap(), 4);
                let times = (before, now());
                std::thread::sleep(Duration::from_millis(1));
                times
            })
            .collect::<Vec<_>>()
    };
    let sent: Vec<_> = std::thread::scope(|scope| {
        let senders: Vec<_> = flows.iter().map(|(at_a, _)| scope.spawn(|| send(at_a))).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });

    let packets = capture.decode(&world);
    let (a, b) = (a.stop(), b.stop());
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
    for ((at_a, _), sent) in flows.iter().zip(&sent) {
        let port = at_a.local_addr().unwrap().port();
        // The hop's capture sees each packet twice.
        let with_int: BTreeSet<_> = packets
            .iter()
            .filter(|packet| packet["kind"] == "int" && packet["flow"]["source_port"] == port)
            .map(|packet| packet["int"][0]["hops"][0]["ingress_timestamp"].as_u64().unwrap())
            .collect();
        assert!(with_int.len() > 20, "{}: {a}", with_int.len());
        assert!(*with_int.first().unwrap() <= sent[0].1 + JITTER_NS, "the first packet has INT");
        for (number, (before, after)) in sent.iter().enumerate() {
            let last = with_int.range(..=after + JITTER_NS).next_back().unwrap();
            assert!(
                *before <= last + u64::from(TEN_MS) * 1_000 + JITTER_NS,
                "packet {number} comes {} ns after the last one with INT: {a}",
                before - last
            );
        }
    }
}

/// Nanoseconds of the clock that agents take their timestamps from.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

#[test]
fn super_packets_are_cut_into_segments_with_room_and_the_mss_stays() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        // Connections older than the agents get INT, too.
        let mut old = connect(&world, B4);
        let Some((a, b)) = agents(&world, &Domain { coverage: "all", ..Domain::new(kind, "md") }) else {
            return;
        };

        let length = 1_000_000;
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(read(&mut old.1, length) == bytes(length, 1)));
            std::io::Write::write_all(&mut old.0, &bytes(length, 1)).unwrap();
        });
        exchange_tcp(&world, B4, length);
        exchange_tcp(&world, B6, length);
        for (address, segment) in SEGMENTS {
            let (to_b, _at_b) = connect(&world, address);
            assert_eq!(max_segment(&to_b), segment, "{address}");
        }

        let (a, b) = (a.stop(), b.stop());
        assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
        let share =
            a["watched"]["int_bytes"].as_u64().unwrap() * 100 / a["watched"]["bytes"].as_u64().unwrap();
        assert!(share > 80, "{share} % of the bytes have INT: {a}");
        for fault in ["segments", "no_room", "malformed", "shim_down"] {
            assert_eq!(count(&a, fault), 0, "{fault}: {a}");
        }
    }
}

#[test]
fn super_packets_in_a_tunnel_get_no_int() {
    let Some(world) = World::new(Offloads::On) else { return };
    for (place, device, remote, address) in [(Place::A, "ab", B4, "10.97.0.1"), (Place::B, "dc", A4, TUNNEL)]
    {
        let tunnel = format!("link add tunnel type vxlan id 5 dev {device} remote {remote} dstport 4789");
        world.ip(place, &tunnel);
        world.ip(place, &format!("addr add {address}/24 dev tunnel"));
        world.ip(place, "link set tunnel up");
    }
    let Some((a, b)) = agents(&world, &Domain { coverage: "all", ..Domain::new("dscp", "md") }) else {
        return;
    };

    exchange_tcp(&world, TUNNEL, 20_000_000);

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "not_carried") > 300, "TCP makes super-packets: {a}");
    assert!(count(&a, "started") > 0, "{a}");
    for fault in ["segments", "malformed"] {
        assert_eq!(count(&a, fault) + count(&b, fault), 0, "{fault}: {a} {b}");
    }
}

/// The address of B in a tunnel.
const TUNNEL: &str = "10.97.0.2";

#[test]
fn no_packet_of_a_flow_overtakes_another() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &slices(200)) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    set_socket_recv_buffer_size_force(&at_b, 64 << 20).unwrap();

    // At most as many are in flight as a processor receives without loss.
    let mut buffer = [0; 100];
    for first in (0..30_000_u32).step_by(250) {
        let numbers = first..first + 250;
        numbers.clone().for_each(|number| assert_eq!(at_a.send(&number.to_be_bytes()).unwrap(), 4));
        for number in numbers {
            let length = receive(&at_b, &mut buffer);
            assert_eq!(&buffer[..length], number.to_be_bytes(), "{number}");
        }
    }
    exchange_tcp(&world, B4, 5_000_000);

    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "started") > 100 && count(&a, "between_slices") > 1_000, "{a}");
    assert_eq!(count(&a, "started"), count(&b, "stripped"), "{a} {b}");
}

#[test]
fn no_packets_of_a_flow_change_places_when_its_sender_moves_on_a_busy_host() {
    keep_order_while_moving(&slices(200));
}

#[test]
fn nor_do_they_where_all_have_int() {
    keep_order_while_moving(&Domain { coverage: "all", ..Domain::new("dscp", "md") });
}

fn keep_order_while_moving(domain: &Domain) {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    set_socket_recv_buffer_size_force(&at_b, 64 << 20).unwrap();
    let others: Vec<_> = processors().into_iter().map(|cpu| (cpu, udp_pair(&world, A4, B4))).collect();

    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    std::thread::scope(|scope| {
        // Datagrams of other flows, some of them lost, keep the soft interrupts of every processor busy.
        for (cpu, (at_a, _)) in &others {
            scope.spawn(move || {
                stay_on(*cpu);
                while !is_over.load(Ordering::Relaxed) {
                    at_a.send(&[0; 1_000]).unwrap();
                }
            });
        }
        let all = processors();
        for number in 0..60_000_u32 {
            if number % 20 == 0 {
                stay_on(all[(number / 20) as usize % all.len()]);
            }
            at_a.send(&number.to_be_bytes()).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    // Losses do not matter here.
    at_b.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut numbers = Vec::new();
    let mut buffer = [0; 4];
    while let Ok(4) = at_b.recv(&mut buffer) {
        numbers.push(u32::from_be_bytes(buffer));
    }
    assert!(numbers.len() > 1_000, "{} arrived", numbers.len());
    let overtaken = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let (a, b) = (a.stop(), b.stop());
    assert!(count(&a, "started") > 100, "{a}");
    assert_eq!(overtaken, 0, "of {}: {a} {b}", numbers.len());
}

/// The processors that this thread may run on.
fn processors() -> Vec<usize> {
    let all = rustix::thread::sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect()
}

/// Keeps this thread on one processor.
fn stay_on(cpu: usize) {
    let mut only = CpuSet::new();
    only.set(cpu);
    rustix::thread::sched_setaffinity(None, &only).unwrap();
}

fn slices(interval_us: u32) -> Domain {
    Domain { coverage: "slices", interval_us, ..Domain::new("dscp", "md") }
}

fn agents(world: &World, domain: &Domain) -> Option<(Agent, Agent)> {
    let a = Agent::start(world, Place::A, domain)?;
    Some((a, Agent::start(world, Place::B, domain)?))
}
