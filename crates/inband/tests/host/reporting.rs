//! An absent or unreachable collector does not stop the agent, and the counts show it.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::tally::talk_until;
use crate::traffic::{deliver, udp_pair};
use crate::world::{A4, B4, COLLECTOR, Offloads, Place, World};

#[test]
fn reports_that_are_refused_are_not_counted_as_sent() {
    let Some(world) = World::new(Offloads::On) else { return };
    // The collector's port has no listener. The kernel's drops of reports are not reported themselves.
    let domain = Domain { interval_us: 0, host: "drops = false\n".into(), ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(b) = Agent::start(&world, Place::B, &domain) else { return };
    let (at_a, at_b) = udp_pair(&world, A4, B4);

    let mut reports = 0;
    // The kernel returns the error with the next report, and a router's ICMP errors are rate-limited.
    let is_refused = |status: &Value| status["reports"]["refused"].as_u64().unwrap() > 5;
    talk_until(&world, Place::B, is_refused, || {
        deliver(&at_a, &at_b, b"payload");
        reports += 1;
        std::thread::sleep(Duration::from_millis(120));
    });

    let (b, _) = (b.stop(), a.stop());
    let of = |what: &str| b["reports"][what].as_u64().unwrap();
    assert!(of("sent") > 0 && of("sent") + of("refused") == reports, "{reports} reports: {b}");
}

#[test]
fn an_agent_starts_without_a_route_to_its_collector_and_reports_when_there_is_one() {
    let Some(world) = World::new(Offloads::On) else { return };
    world.ip(Place::B, "route del default");
    world.ip(Place::B, "route add 10.91.1.0/24 via 10.91.3.254");
    let domain = Domain { interval_us: 0, ..Domain::new("dscp", "md") };
    let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
    let Some(mut b) = Agent::start(&world, Place::B, &domain) else { return };
    let note = b.next_message();
    let (at_a, at_b) = udp_pair(&world, A4, B4);
    let has_failed = |status: &Value| status["reports"]["failed"].as_u64().unwrap() > 0;
    talk_until(&world, Place::B, has_failed, || {
        deliver(&at_a, &at_b, b"nobody hears of this");
        std::thread::sleep(Duration::from_millis(100));
    });

    let collector = world.inside(Place::FirstHop, || UdpSocket::bind((COLLECTOR, 32766)).unwrap());
    collector.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    world.ip(Place::B, "route add default via 10.91.3.254");
    let since = Instant::now();
    loop {
        assert!(since.elapsed() < crate::traffic::PATIENCE, "no report arrives");
        deliver(&at_a, &at_b, b"somebody does of this");
        if collector.recv(&mut [0; 2_000]).is_ok() {
            break;
        }
    }

    assert!(note.contains("send reports to 10.91.2.1:32766") && note.contains("tried again"), "{note}");
    a.stop();
    b.stop();
}
