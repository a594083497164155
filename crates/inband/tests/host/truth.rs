//! What a host reports about itself, its peers and the paths to them is true, or reported as unknown.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::foreign::{ask_for_timestamps, take_errors};
use crate::tally::{await_status, count, status, talk_until};
use crate::traffic::{bytes, deliver, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

/// Leases of one second, renewed every third of a second.
const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";

#[test]
fn losses_between_hosts_are_counted_by_renewed_leases() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &leased("dscp"), &leased("dscp")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let send = |count: usize| {
        for number in 0..count {
            at_a.send(&bytes(1 + number % 1000, 7)).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    send(700);
    let packets = |status: &Value| status["paths"]["packets"].as_u64().unwrap();
    let calm = talk_until(&world, Place::A, |status| packets(status) > 300, || send(20));

    // One packet in eight is lost between the hops, with INT or without; the agents' own packets are not.
    let rules = "table ip lossy { chain forward { type filter hook forward priority 0; \
                 udp dport != 33123 udp sport != 33123 numgen inc mod 8 == 0 meta length < 1200 drop; } }";
    if !world.nft(Place::FirstHop, rules) {
        return;
    }
    // At least a thousand packets with INT: on a busy machine a lease may end for a while, and a status is up
    // to a second old.
    let all = || count(&status(&world, Place::A), "started");
    let enough = all() + 2_000;
    talk_until(&world, Place::A, |status| count(status, "started") > enough, || send(100));
    assert!(world.nft(Place::FirstHop, "delete table ip lossy"));
    send(2_000);
    // A status is up to a second old, so this is less than what is sent by now and more than the losses.
    let least = all().max(3_000);
    let after = talk_until(&world, Place::A, |status| packets(status) > least, || send(100));
    assert_eq!(calm["paths"]["lost"], 0, "{calm}");
    let (a, b) = (a.stop(), b.stop());
    let truly = count(&a, "started") - count(&b, "stripped");
    let said = after["paths"]["lost"].as_u64().unwrap();
    assert!(truly > 100, "{a} {b}");
    assert!(said <= truly && said >= truly * 9 / 10, "{said} of {truly} lost packets: {after}");
    assert!(at_b.local_addr().is_ok());
}

#[test]
fn hop_latency_is_not_available_where_a_queue_comes_behind_int() {
    for (queue, is_known) in
        [("", true), ("qdisc add dev ab root tbf rate 80mbit burst 4kb limit 400kb", false)]
    {
        let Some(world) = World::new(Offloads::On) else { return };
        if !queue.is_empty() && !world.tc(Place::A, queue) {
            eprintln!("skipped: this kernel has no token buckets");
            return;
        }
        let Some((a, b)) = agents(&world, &Domain::new("dscp", "md"), &Domain::new("dscp", "md")) else {
            return;
        };
        let (at_a, at_b) = udp_pair(&world, A4, B4);
        deliver(&at_a, &at_b, b"the hops have found each other");
        let capture = Capture::start(&world, Place::FirstHop);
        (0..20).for_each(|number| deliver(&at_a, &at_b, &bytes(number, 3)));

        let packets = capture.decode(&world);
        let of_source =
            packets.iter().filter(|packet| packet["kind"] == "int" && packet["flow"]["source"] == A4);
        let latencies: Vec<_> =
            of_source.map(|packet| packet["int"][0]["hops"][0]["hop_latency"].as_u64()).collect();
        assert!(latencies.len() >= 20, "{packets:?}");
        assert!(latencies.iter().all(|latency| latency.is_some() == is_known), "{queue}: {latencies:?}");
        drop((a, b));
    }
}

#[test]
fn an_application_hears_once_when_its_datagram_leaves() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &Domain::new("dscp", "md"), &Domain::new("dscp", "md")) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    deliver(&at_a, &at_b, b"without timestamps");
    ask_for_timestamps(&at_a);

    (0..10).for_each(|number| deliver(&at_a, &at_b, &bytes(number, 3)));

    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(take_errors(&at_a), 10);
    let a = a.stop();
    assert_eq!((&a["outcomes"]["timestamped"], &a["outcomes"]["started"]), (&10.into(), &1.into()), "{a}");
    drop(b);
}

#[test]
fn hosts_with_clocks_of_different_kinds_say_that_latency_is_not_known() {
    let Some(world) = World::new(Offloads::On) else { return };
    let other = Domain { host: format!("{SHORT}clock = \"monotonic\"\n"), ..leased("dscp") };
    let Some((mut a, b)) = agents(&world, &leased("dscp"), &other) else { return };

    talk(&world, 500);

    let status = await_status(&world, Place::A, |status| !status["hosts"][0]["clock"].is_null());
    let host = &status["hosts"][0];
    assert_eq!(
        (&host["address"], &host["clock"], &host["offset_ns"]),
        (&B4.into(), &"monotonic".into(), &Value::Null)
    );
    let note = a.next_message();
    assert!(note.contains("latency between this host and 10.91.3.1 is not known"), "{note}");
    drop(b);
}

#[test]
fn hosts_with_one_kind_of_clock_know_their_offset() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &leased("dscp"), &leased("dscp")) else { return };

    talk(&world, 1_000);

    let status = await_status(&world, Place::A, |status| !status["hosts"][0]["offset_ns"].is_null());
    let host = &status["hosts"][0];
    let [offset, uncertainty] = ["offset_ns", "uncertainty_ns"].map(|key| host[key].as_i64().unwrap());
    // Both hosts run on this machine.
    assert!(offset.abs() <= uncertainty + 1_000, "{status}");
    assert!(uncertainty < 1_000_000_000, "{status}");
    drop((a, b));
}

#[test]
fn short_connections_cost_no_report_each() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some((a, b)) = agents(&world, &leased("dscp"), &leased("dscp")) else { return };
    let listener = world.inside(Place::B, || TcpListener::bind((B4, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let connections = 400;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..connections {
                let (mut at_b, _) = listener.accept().unwrap();
                let _ = at_b.read(&mut [0; 16]);
            }
        });
        world.inside(Place::A, || {
            for _ in 0..connections {
                let mut to_b = TcpStream::connect(address).unwrap();
                std::io::Write::write_all(&mut to_b, b"short").unwrap();
            }
        });
    });

    let (a, b) = (a.stop(), b.stop());
    let reports: u64 = [&a, &b].iter().map(|tally| tally["reports"]["sent"].as_u64().unwrap()).sum();
    // On a busy machine a connection lasts, and may have a lease before it ends.
    let leased: u64 = [&a, &b].iter().map(|tally| tally["leases"]["granted"].as_u64().unwrap()).sum();
    assert!(reports < connections / 4 + 2 * leased, "{reports}: {a} {b}");
    let probes = a["probes"]["sent"].as_u64().unwrap();
    let withheld = &a["probes"]["withheld"];
    let withheld: u64 = withheld.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    // Some connections end before they ask for a probe.
    assert!(probes + withheld >= connections / 4, "what is not sent is counted: {a}");
}

#[test]
fn reports_over_the_bound_are_counted_and_not_sent() {
    let Some(world) = World::new(Offloads::On) else { return };
    let bounded =
        Domain { host: "reports_per_second = 5\n".to_owned(), interval_us: 0, ..Domain::new("dscp", "md") };
    let Some((a, b)) = agents(&world, &bounded, &bounded) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let since = Instant::now();
    (0..1_000).for_each(|_| deliver(&at_a, &at_b, b"payload"));

    let (_, b) = (a.stop(), b.stop());
    let seconds = since.elapsed().as_secs() + 2;
    let [sent, refused, failed, limited] =
        ["sent", "refused", "failed", "limited"].map(|key| b["reports"][key].as_u64().unwrap());
    assert!(sent + refused <= 5 * seconds, "{b}");
    assert!(limited > 0, "{b}");
    assert_eq!(
        sent + refused + failed + limited,
        1_000 - b["outcomes"]["event_lost"].as_u64().unwrap(),
        "{b}"
    );
}

#[test]
fn tables_take_no_more_memory_than_they_may() {
    let Some(world) = World::new(Offloads::On) else { return };
    for (mib, host) in [(64, ""), (24, "map_memory_mib = 24\n")] {
        let domain = Domain { host: host.to_owned(), ..Domain::new("dscp", "md") };
        let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
        let a = a.stop();
        let bytes = a["map_bytes"].as_u64().unwrap();
        assert!(bytes > 1 << 20 && bytes <= mib << 20, "{mib} MiB: {bytes}");
    }
}

#[test]
fn a_node_id_follows_from_the_machine_or_its_address() {
    let Some(world) = World::new(Offloads::On) else { return };
    for (source, expected) in [("address", Some(0x0a5b_0101)), ("machine", None)] {
        let Some(a) = Agent::start_with(&world, Place::A, &Domain::new("dscp", "md"), |settings| {
            settings.replace("id = 101", &format!("id = \"{source}\""))
        }) else {
            return;
        };
        let id = status(&world, Place::A)["node_id"].as_u64().unwrap();
        assert!(expected.is_none_or(|expected| id == expected) && id > 1, "{source}: {id:#x}");
        a.stop();
    }
}

#[test]
fn another_host_with_this_ones_node_id_is_noticed() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(mut a) = Agent::start(&world, Place::A, &leased("dscp")) else { return };
    let same = |settings: &str| settings.replace("id = 102", "id = 101");
    let Some(b) = Agent::start_with(&world, Place::B, &leased("dscp"), same) else { return };

    talk(&world, 500);

    let note = a.next_message();
    assert!(note.contains("10.91.3.1 has this host's node id, 101"), "{note}");
    await_status(&world, Place::A, |status| status["peers"]["with_this_node_id"] == 1);
    drop(b);
}

fn leased(kind: &'static str) -> Domain {
    Domain { lease: true, host: SHORT.to_owned(), ..Domain::new(kind, "md") }
}

fn agents(world: &World, of_a: &Domain, of_b: &Domain) -> Option<(Agent, Agent)> {
    Some((Agent::start(world, Place::A, of_a)?, Agent::start(world, Place::B, of_b)?))
}

/// Datagrams from A to B.
fn talk(world: &World, count: usize) {
    let (at_a, at_b) = udp_pair(world, A4, B4);
    for number in 0..count {
        deliver(&at_a, &at_b, &bytes(number % 1000, 5));
        std::thread::sleep(Duration::from_millis(2));
    }
}
