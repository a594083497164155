//! What Linux drops between the interfaces is reported with the kernel's reason.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::Instant;

use inband_host::drops::Cause;
use inband_switch::Status;
use inband_wire::drop_reason::Table;
use inband_wire::report::AnyReport;

use crate::kernel::config;
use crate::world::{A, B, FIRST, PATIENCE, Running, SECOND, World, outcome};

/// Packets of each kind.
const COUNT: u8 = 7;
/// A port that a rule of netfilter drops.
const FORBIDDEN: u16 = 999;

/// The reasons in drop reports, with their counts.
pub(crate) fn reasons(reports: &[Vec<u8>]) -> BTreeMap<u8, usize> {
    let mut counts = BTreeMap::new();
    for report in reports {
        for individual in AnyReport::parse(report).unwrap().reports() {
            if let Some(drop) = individual.unwrap().drop() {
                *counts.entry(drop.reason).or_default() += 1;
            }
        }
    }
    counts
}

fn dropped(status: &Status, device: &str, reason: &str) -> u64 {
    status.kernel_drops.get(device).and_then(|reasons| reasons.get(reason)).copied().unwrap_or(0)
}

fn routers(world: &World) {
    world.three_networks();
    for place in [FIRST, SECOND] {
        assert!(world.run(place, "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"));
    }
}

#[test]
fn packets_that_linux_drops_are_reported_with_its_reason() {
    let Some(world) = World::new() else { return };
    routers(&world);
    assert!(world.run(FIRST, "ip route add blackhole 10.98.0.0/16"));
    let has_rules = world.run(FIRST, "nft add table ip inbt")
        && world.run(FIRST, "nft add chain ip inbt f { type filter hook forward priority 0 ; }")
        && world.run(FIRST, &format!("nft add rule ip inbt f udp dport {FORBIDDEN} drop"));
    if !has_rules {
        eprintln!("skipped in part: no `nft`");
    }
    let switch = world.switch_of(FIRST, &config(11, "dscp", &["left"], 1_900, ""));
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    let send = |to: &str, ttl: u32| {
        sender.set_ttl(ttl).unwrap();
        for number in 0..COUNT {
            // Errors of earlier packets are ignored.
            let is_sent = (0..100).any(|_| sender.send_to(&[number; 100], to).is_ok());
            assert!(is_sent, "{to}");
        }
    };

    send("10.94.3.1:5000", 1);
    send("10.99.0.1:5000", 64);
    send("10.98.0.1:5000", 64);
    if has_rules {
        send(&format!("10.94.3.1:{FORBIDDEN}"), 64);
    }

    let mut expected = vec![
        (Cause::TtlZero, "IP_INHDR"),
        (Cause::RouteMiss, "IP_INNOROUTES"),
        (Cause::RouteDrop { is_ipv6: false }, "NOT_SPECIFIED"),
    ];
    if has_rules {
        expected.push((Cause::AclDeny, "NETFILTER_DROP"));
    }
    let codes: Vec<_> = expected.iter().map(|(cause, _)| cause.code(Table::default())).collect();
    let (since, mut all) = (Instant::now(), Vec::new());
    let is_complete = |all: &[_]| {
        let reports = reasons(all);
        codes.iter().all(|code| reports.get(code) >= Some(&usize::from(COUNT)))
    };
    while !is_complete(&all) && since.elapsed() < PATIENCE {
        all.extend(switch.take_reports());
    }
    let (status, rest) = switch.stop_and_take_reports();
    all.extend(rest);
    let reports = reasons(&all);
    for ((_, reason), code) in expected.into_iter().zip(codes) {
        assert_eq!(reports.get(&code), Some(&usize::from(COUNT)), "{reason}: {reports:?}, {status:?}");
        assert!(dropped(&status, "left", reason) >= u64::from(COUNT), "{reason}: {status:?}");
    }
    assert_eq!((status.kernel["drops_not_told"], status.kernel["drops_not_counted"]), (0, 0));
    assert_eq!(status.drop_reasons, "on");
}

#[test]
fn what_arrives_and_what_sockets_do_with_it_is_no_drop_of_the_router() {
    let Some(world) = World::new() else { return };
    routers(&world);
    let first = world.switch_of(FIRST, &config(11, "dscp", &["left"], 1_900, ""));
    let second = world.switch_of(SECOND, &config(12, "dscp", &["right"], 1_900, ""));
    let sender = world.inside(A, || UdpSocket::bind("0.0.0.0:0").unwrap());
    // No socket listens: at the router itself, and at the host behind it.
    for to in ["10.94.1.254:7", "10.94.3.1:7"] {
        for _ in 0..COUNT {
            assert!((0..100).any(|_| sender.send_to(b"x", to).is_ok()), "{to}");
        }
    }
    world.udp("10.94.3.1", (0..1_400).step_by(101));
    let listener = world.inside(B, || UdpSocket::bind("10.94.3.1:5001").unwrap());
    listener.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!((0..100).any(|_| sender.send_to(b"the last", "10.94.3.1:5001").is_ok()));
    listener.recv(&mut [0; 64]).unwrap();

    let mut reports = [reasons(&first.take_reports()), reasons(&second.take_reports())];
    let statuses = [first, second].map(Running::stop_and_take_reports);
    for (reports, (_, rest)) in reports.iter_mut().zip(&statuses) {
        reports.extend(reasons(rest));
    }
    let statuses = statuses.map(|(status, _)| status);

    assert_eq!(reports, [BTreeMap::new(), BTreeMap::new()], "{statuses:?}");
    for status in &statuses {
        let of_sockets = ["left", "right"].map(|device| dropped(status, device, "NO_SOCKET"));
        assert_eq!(of_sockets, [0, 0], "{status:?}");
        assert_eq!(outcome(status, "dropped"), 0, "{status:?}");
    }
}
