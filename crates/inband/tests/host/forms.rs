//! Every encapsulation of INT: payloads are unchanged, every packet on the path is correct, and reports
//! contain the path.

use std::net::UdpSocket;

use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::capture::Capture;
use crate::traffic::{exchange_tcp, exchange_udp, received};
use crate::world::{A4, A6, B4, B6, COLLECTOR, Offloads, Place, World};

/// Bytes of each TCP transfer: some hundred segments, and super-packets of many.
const TCP_BYTES: usize = 400_000;
/// Room for more reports than there are.
const ALL_REPORTS_BYTES: usize = 64 << 20;
/// Largest difference between the clocks of two agents on one machine, nanoseconds.
const CLOCKS_NS: u64 = 1_000_000;

#[test]
fn dscp_md_passes_unseen() {
    pass(&Domain::new("dscp", "md"), Offloads::On, 1);
}

#[test]
fn dscp_md_passes_unseen_without_offloads() {
    pass(&Domain::new("dscp", "md"), Offloads::Off, 7);
}

#[test]
fn dscp_mx_passes_unseen() {
    pass(&Domain::new("dscp", "mx"), Offloads::On, 7);
}

#[test]
fn udp_md_passes_unseen() {
    pass(&Domain::new("udp", "md"), Offloads::On, 1);
}

#[test]
fn udp_mx_passes_unseen_without_offloads() {
    pass(&Domain::new("udp", "mx"), Offloads::Off, 7);
}

#[test]
fn udp_port_md_passes_unseen() {
    pass(&Domain::new("udp-port", "md"), Offloads::On, 1);
}

#[test]
fn udp_port_mx_passes_unseen() {
    pass(&Domain::new("udp-port", "mx"), Offloads::On, 7);
}

#[test]
fn host_int_passes_unseen_behind_tcp_and_udp() {
    // host-int-0.5/packet-01, host-int-0.5/packet-02, host-int-0.5/packet-04
    pass_host_int(&Domain::of_host_int("dscp"), "ok");
}

#[test]
fn host_int_passes_unseen_behind_a_new_udp_header() {
    // host-int-0.5/packet-08
    pass_host_int(&Domain::of_host_int("udp"), "absent");
}

/// TCP and UDP over IPv4, all that Host-INT supports.
fn pass_host_int(domain: &Domain, checksum: &str) {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(a) = Agent::start(&world, Place::A, domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, domain) else { return };
    let capture = Capture::start(&world, Place::FirstHop);

    exchange_udp(&world, A4, B4, (0..=1400).step_by(7));
    exchange_tcp(&world, B4, TCP_BYTES);

    let (a, b) = (a.stop(), b.stop());
    let packets = capture.decode(&world);
    let (reports, on_the_way): (Vec<_>, Vec<_>) =
        packets.iter().partition(|packet| packet["kind"] == "report");
    assert!(on_the_way.len() > 500, "{} packets with INT", on_the_way.len());
    for packet in on_the_way {
        assert_eq!((&packet["kind"], &packet["checksum"]), (&"int".into(), &checksum.into()), "{packet}");
        assert_eq!(packet["int"][0]["version"], "host-0.5", "{packet}");
    }
    for (sender, receiver) in [(&a, &b), (&b, &a)] {
        let started = sender["outcomes"]["started"].as_u64().unwrap();
        assert!(started > 200 && receiver["outcomes"]["stripped"] == started, "{sender} {receiver}");
    }
    for (sink, source) in [(102, 101), (101, 102)] {
        // Before TCP options, `decode` recognises Host-INT only by its own mark; another one is used here,
        // and bytes of a timestamp may look like a header of 2.1.
        let paths = reports.iter().filter(|report| report["node_id"] == sink).filter_map(|report| {
            let int = Some(&report["reports"][0]["int"][0]).filter(|int| int["version"] == "host-0.5")?;
            let hops = int["hops"].as_array()?;
            // host-int-0.5/packet-10: a host has one port, the device.
            let [sink, source] = hops.as_slice() else { panic!("{report}") };
            let ports =
                [&sink["ingress_interface"], &source["ingress_interface"], &source["egress_interface"]];
            assert!(ports.iter().all(|port| **port == 7), "{report}");
            Some(hops.iter().map(|hop| hop["node_id"].as_u64().unwrap()).collect::<Vec<_>>())
        });
        let paths: Vec<_> = paths.collect();
        assert!(!paths.is_empty() && paths.iter().all(|path| *path == [sink, source]), "{paths:?}");
    }
}

/// TCP and UDP of both IP versions through source, two hops and sink; UDP in steps of `step` bytes.
fn pass(domain: &Domain, offloads: Offloads, step: usize) {
    let Some(world) = World::new(offloads) else { return };
    let Some(a) = Agent::start(&world, Place::A, domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, domain) else { return };
    let collector = world.inside(Place::FirstHop, || UdpSocket::bind((COLLECTOR, 32766)).unwrap());
    // Reports are counted at the end, and there are more of them on a slower machine.
    set_socket_recv_buffer_size_force(&collector, ALL_REPORTS_BYTES).unwrap();
    let capture = Capture::start(&world, Place::FirstHop);

    exchange_udp(&world, A4, B4, (0..=1400).step_by(step));
    exchange_udp(&world, A6, B6, (0..=1400).step_by(step));
    exchange_tcp(&world, B4, TCP_BYTES);
    exchange_tcp(&world, B6, TCP_BYTES);

    let (a, b) = (a.stop(), b.stop());
    let packets = capture.decode(&world);
    let (reports, on_the_way): (Vec<_>, Vec<_>) =
        packets.iter().partition(|packet| packet["kind"] == "report");
    assert_all_right(&on_the_way, domain);
    assert_counted(&a, &b, domain);
    assert_paths(&reports, domain);
    let sent = a["reports"]["sent"].as_u64().unwrap() + b["reports"]["sent"].as_u64().unwrap();
    assert_eq!(received(&collector), sent, "reports at the collector: {a} {b}");
}

/// Every packet with INT parses strictly, with correct checksums and the configured instructions.
fn assert_all_right(packets: &[&Value], domain: &Domain) {
    assert!(packets.len() > 500, "{} packets with INT", packets.len());
    for packet in packets {
        assert_eq!(packet["kind"], "int", "{packet}");
        // A new UDP header has no checksum, which its checksum field states; what follows it is unchanged.
        assert_eq!(packet["checksum"], if domain.kind == "udp" { "absent" } else { "ok" }, "{packet}");
        assert_eq!(packet["encapsulation"], domain.kind, "{packet}");
        assert_eq!(packet["int"][0]["type"], domain.mode, "{packet}");
        if domain.mode == "md" {
            let hop = &packet["int"][0]["hops"][0];
            let id = if packet["flow"]["source"] == A4 || packet["flow"]["source"] == A6 { 101 } else { 102 };
            assert_eq!((&hop["node_id"], &hop["egress_interface"]), (&id.into(), &7.into()), "{packet}");
            assert!(hop["hop_latency"].as_u64().unwrap() < 1_000_000_000, "{packet}");
        }
    }
}

/// Every watched packet that can carry INT had it, and all of it was removed.
fn assert_counted(a: &Value, b: &Value, domain: &Domain) {
    for (sender, receiver) in [(a, b), (b, a)] {
        let started = sender["outcomes"]["started"].as_u64().unwrap();
        assert!(started >= 200, "{sender}");
        assert_eq!(receiver["outcomes"]["stripped"], started, "{sender} {receiver}");
        let not_carried = sender["outcomes"]["not_carried"].as_u64().unwrap();
        assert_eq!(not_carried > 0, domain.kind == "udp-port", "{sender}");
        let watched = sender["watched"]["packets"].as_u64().unwrap();
        // A full single segment has no room, and cannot be segmented.
        let full = sender["outcomes"]["not_started_mtu"].as_u64().unwrap();
        assert!(full < started / 10, "{sender}");
        // A checksum field of 0xffff could not be restored; one segment in 65,536 has it by chance.
        let ambiguous = sender["outcomes"]["not_started_checksum"].as_u64().unwrap();
        assert!(ambiguous < started / 100, "{sender}");
        assert_eq!(
            sender["watched"]["int_packets"].as_u64().unwrap() + not_carried + full + ambiguous,
            watched,
            "{sender}"
        );
        for fault in ["segments", "no_room", "malformed", "event_lost", "no_lease"] {
            assert_eq!(sender["outcomes"][fault], 0, "{fault}: {sender}");
        }
    }
}

/// The reports of both sinks contain source and sink, with plausible times.
fn assert_paths(reports: &[&Value], domain: &Domain) {
    for (sink, source) in [(102, 101), (101, 102)] {
        let of_sink: Vec<_> = reports.iter().filter(|report| report["node_id"] == sink).collect();
        assert!(of_sink.len() > 4, "{} reports of {sink}", of_sink.len());
        let mut arrivals = 0;
        let mut least = u64::MAX;
        for report in of_sink {
            let report = &report["reports"][0];
            // A packet that the host's kernel drops, as at the end of connections, has no times.
            if report["dropped"] == true {
                continue;
            }
            if domain.mode == "mx" {
                // Reports of departures and of arrivals; each has one timestamp.
                assert!(
                    report["metadata"]["ingress_timestamp"].is_u64()
                        || report["metadata"]["egress_timestamp"].is_u64(),
                    "{report}"
                );
                arrivals += u32::from(report["metadata"]["egress_interface"] == 0);
                continue;
            }
            let hops = report["int"][0]["hops"].as_array().unwrap();
            let path: Vec<_> = hops.iter().map(|hop| hop["node_id"].as_u64().unwrap()).collect();
            assert_eq!(path, [sink, source], "{report}");
            let (sent, arrived) = (&hops[1]["egress_timestamp"], &hops[0]["ingress_timestamp"]);
            // An agent's time is as exact as its comparison of two clocks, which may be interrupted.
            let arrived_at_latest = arrived.as_u64().unwrap() + CLOCKS_NS;
            let latency = arrived_at_latest.checked_sub(sent.as_u64().unwrap());
            let latency = latency.unwrap_or_else(|| panic!("{arrived} before {sent}: {report}"));
            // The first packet waits until the hops have resolved each other, which may take a second or two.
            assert!(latency < 10_000_000_000, "{report}");
            least = least.min(latency);
            arrivals += 1;
        }
        assert!(least < 100_000_000 || domain.mode == "mx", "{least} ns is the least latency to {sink}");
        assert!(arrivals > 2, "{arrivals} reports of arrivals at {sink}: {reports:?}");
    }
}

#[test]
fn postcards_leave_packets_as_they_are_and_tell_of_both_ends() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain::new("dscp", "xd");
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let capture = Capture::start(&world, Place::FirstHop);
    assert!(!world.links(Place::A).contains("int0"), "{}", world.links(Place::A));

    exchange_udp(&world, A4, B4, (0..=1400).step_by(7));
    exchange_tcp(&world, B6, TCP_BYTES);

    let (a, b) = (a.stop(), b.stop());
    let packets = capture.decode(&world);
    assert!(packets.iter().all(|packet| packet["kind"] == "report"), "no packet has INT");
    for (host, tally) in [(101, &a), (102, &b)] {
        assert!(tally["outcomes"]["postcard"].as_u64().unwrap() > 200, "{tally}");
        assert_eq!(tally["outcomes"]["started"], 0, "{tally}");
        let of_host: Vec<_> = packets.iter().filter(|report| report["node_id"] == host).collect();
        for (leaves, timestamp) in [(true, "egress_timestamp"), (false, "ingress_timestamp")] {
            let is_meant =
                |report: &&&Value| (report["reports"][0]["metadata"]["egress_interface"] == 7) == leaves;
            let told: Vec<_> = of_host.iter().filter(is_meant).collect();
            assert!(told.len() > 2, "{} reports of {host}", told.len());
            assert!(told.iter().all(|report| report["reports"][0]["metadata"][timestamp].is_u64()));
        }
    }
}
