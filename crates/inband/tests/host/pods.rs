//! Pods behind a host with an agent: its sink answers probes for addresses that come in by its device and are routed on.

use std::time::{Duration, Instant};

use crate::agent::{Agent, Domain};
use crate::traffic::{bytes, deliver, exchange_tcp, udp_pair};
use crate::world::{A4, B4, Offloads, Place, World};

const SHORT: &str = "lease_ms = 1000\nlinger_ms = 1500\n";

#[test]
fn a_pod_behind_a_route_or_a_bridge_is_proven_by_the_sink_of_its_host() {
    for kind in ["dscp", "udp"] {
        for has_bridge in [false, true] {
            let Some(world) = World::new(Offloads::On) else { return };
            if has_bridge {
                put_behind_bridge(&world);
            }
            let domain = Domain {
                lease: true,
                host: SHORT.to_owned(),
                // The pod's host asks with its own address.
                peers: "10.91.0.0/16 fd91::/16",
                ..Domain::new(kind, "md")
            };
            let Some(a) = Agent::start(&world, Place::A, &domain) else { return };
            // The host of the pod is the second hop, and `cb` leads into the domain.
            let of_host = |settings: &str| settings.replace("\"dc\"", "\"cb\"");
            let Some(host) = Agent::start_with(&world, Place::SecondHop, &domain, of_host) else { return };

            let (at_a, at_pod) = udp_pair(&world, A4, B4);
            let since = Instant::now();
            let mut length = 0;
            while since.elapsed() < Duration::from_millis(1_800) {
                deliver(&at_a, &at_pod, &bytes(length % 1_000, 3));
                deliver(&at_pod, &at_a, &bytes(length % 900, 4));
                length += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            exchange_tcp(&world, B4, 300_000);

            let (a, host) = (a.stop(), host.stop());
            let count =
                |tally: &serde_json::Value, outcome: &str| tally["outcomes"][outcome].as_u64().unwrap();
            assert!(count(&a, "started") > 50, "{kind}, bridge {has_bridge}: {a} {host}");
            assert_eq!(count(&a, "started"), count(&host, "stripped"), "{kind}: {a} {host}");
        }
    }
}

/// Puts a bridge between the second hop and B.
pub(crate) fn put_behind_bridge(world: &World) {
    for command in [
        "link add br0 type bridge",
        "link set br0 up",
        "addr del 10.91.3.254/24 dev cd",
        "-6 addr del fd91:3::fe/64 dev cd",
        "link set cd master br0",
        "addr add 10.91.3.254/24 dev br0",
        "addr add fd91:3::fe/64 dev br0 nodad",
    ] {
        world.ip(Place::SecondHop, command);
    }
    world.await_up(Place::SecondHop, "br0");
}
