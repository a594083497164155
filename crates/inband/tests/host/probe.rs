//! `inband host probe` reports how much of INT survives a path, and which traffic would get INT and why other
//! traffic would not.

use std::net::UdpSocket;

use serde_json::Value;

use crate::agent::{Agent, Domain};
use crate::foreign::{Side, attach_end_of_chain};
use crate::traffic::{PATIENCE, receive};
use crate::world::{A4, A6, B4, B6, Offloads, Place, SOURCE_NAT, World};

#[test]
fn a_probe_says_that_int_is_removed_and_what_else_is_on_the_device() {
    for kind in ["dscp", "udp"] {
        let Some(world) = World::new(Offloads::On) else { return };
        let Some(a) = Agent::start(&world, Place::A, &domain(kind)) else { return };
        let Some(b) = Agent::start(&world, Place::B, &domain(kind)) else { return };

        for address in [B6, B4] {
            // The foreign program reads ports of IPv4 only.
            let foreign = (address == B4).then(|| attach_end_of_chain(&world, Place::A, "ab", Side::Ingress));
            let (code, answer) = probe(&world, Place::A, &[address]);

            assert_eq!((code, &answer["state"]), (0, &"proven".into()), "{answer}");
            assert_eq!(
                (&answer["agent"]["node_id"], &answer["device"]),
                (&102.into(), &"ab".into()),
                "{answer}"
            );
            let first = &answer["encapsulations"][0];
            assert_eq!((&first["kind"], &first["configured"]), (&kind.into(), &true.into()), "{answer}");
            assert_eq!((&first["largest"], &first["flow_arrived"]), (&1500.into(), &true.into()), "{answer}");
            let has_int = |outlook: &Value| outlook["int"] == true;
            let traffic = answer["traffic"].as_array().unwrap();
            assert_eq!(traffic.iter().filter(|outlook| has_int(outlook)).count(), 2, "TCP and UDP: {answer}");
            let programs = answer["programs"].as_array().unwrap();
            assert!(programs.iter().any(|program| program["name"] == "steer" && program["ours"] == true));
            let has_other = programs.iter().any(|program| program["ours"] == false);
            assert_eq!(has_other, foreign.is_some(), "{answer}");
        }

        let (a, b) = (a.stop(), b.stop());
        assert_eq!(a["outcomes"]["started"], 0, "nobody sends INT for a probe: {a}");
        assert_eq!(b["leases"]["granted"], 0, "{b}");
    }
}

#[test]
fn a_probe_finds_the_largest_packet_that_passes() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(_a) = Agent::start(&world, Place::A, &domain("dscp")) else { return };
    let Some(_b) = Agent::start(&world, Place::B, &domain("dscp")) else { return };
    world.ip(Place::FirstHop, "link set bc mtu 1400");

    let (code, answer) = probe(&world, Place::A, &[B4]);

    assert_eq!(code, 0, "{answer}");
    let largest = answer["encapsulations"][0]["largest"].as_u64().unwrap();
    assert!((1393..=1400).contains(&largest), "{answer}");
    let reason = answer["traffic"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("bytes of payload"), "{answer}");
}

#[test]
fn a_probe_says_why_there_would_be_no_int() {
    let clear = "table ip clear { chain forward { type filter hook forward priority 0; ip dscp set cs0; } }";
    let wide = Domain { peers: "10.91.0.0/16 fd91:{far}::/64", ..domain("dscp") };
    let others = Domain { peers: "10.99.0.0/16", ..domain("dscp") };
    for (rules, of_a, of_b, state) in [
        ("", domain("dscp"), None, "no_answer"),
        (clear, domain("dscp"), Some(domain("dscp")), "probes_lost"),
        (SOURCE_NAT, wide.clone(), Some(wide), "only_probes_arrive"),
        ("", domain("dscp"), Some(others.clone()), "refused"),
        ("", others, Some(domain("dscp")), "proven"),
    ] {
        let Some(world) = World::new(Offloads::On) else { return };
        if !rules.is_empty() && !world.nft(Place::FirstHop, rules) {
            return;
        }
        let Some(a) = Agent::start(&world, Place::A, &of_a) else { return };
        let b = of_b.map(|of_b| Agent::start(&world, Place::B, &of_b));

        let (code, answer) = probe(&world, Place::A, &[B4]);

        assert_eq!(answer["state"], state, "{answer}");
        assert_eq!(code, i32::from(state != "proven"), "{answer}");
        let first = &answer["traffic"][0];
        assert_eq!((&first["traffic"], &first["int"]), (&"everything".into(), &false.into()), "{answer}");
        if state == "proven" {
            assert_eq!(first["reason"], "it is no [[peer]]", "{answer}");
        }
        drop((a, b));
    }
}

#[test]
fn a_probe_needs_no_agent_of_this_host_where_it_has_settings() {
    let Some(world) = World::new(Offloads::On) else { return };
    let Some(_b) = Agent::start(&world, Place::B, &domain("dscp")) else { return };
    let settings = world.write("probe.toml", domain("dscp").settings(Place::A).as_bytes());

    let (code, answer) = probe(&world, Place::A, &[B4, "-c", settings.to_str().unwrap()]);
    assert_eq!((code, &answer["state"]), (0, &"proven".into()), "{answer}");

    let without =
        world.command(Place::A, env!("CARGO_BIN_EXE_inband")).args(["host", "probe", B4]).output().unwrap();
    let message = String::from_utf8(without.stderr).unwrap();
    assert!(!without.status.success() && message.contains("give them with --config"), "{message}");
}

#[test]
fn doctor_checks_a_hosts_configuration_against_the_machine_and_tries_the_paths_to_its_peers() {
    let Some(world) = World::new(Offloads::On) else { return };
    let domain = Domain { peers: "10.91.{far}.1", ..domain("dscp") };
    let Some(_b) = Agent::start(&world, Place::B, &domain) else { return };
    let both = domain.with_devices("ab\", \"eth*");
    let settings = world.write("doctor.toml", both.settings(Place::A).as_bytes());

    let mut command = world.command(Place::A, env!("CARGO_BIN_EXE_inband"));
    let output = command.args(["doctor", "--json", "--config"]).arg(settings).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();

    let checks = answer["checks"].as_array().unwrap();
    let status = |name: &str| {
        let found = checks.iter().find(|check| check["area"] == "configuration" && check["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {answer}"))["status"].as_str().unwrap()
    };
    for (name, expected) in [
        ("host.devices ab", "ok"),
        ("host.devices eth*", "degraded"),
        ("peers and watchlist", "ok"),
        ("report.collector", "ok"),
        ("host.keys", "degraded"),
        ("path to 10.91.3.1", "ok"),
    ] {
        assert_eq!(status(name), expected, "{name}: {answer}");
    }
}

fn domain(kind: &'static str) -> Domain {
    Domain { lease: true, ..Domain::new(kind, "md") }
}

/// The exit code and the JSON output of `inband host probe --json`.
fn probe(world: &World, place: Place, arguments: &[&str]) -> (i32, Value) {
    // The hops resolve each other first; otherwise the first probe would wait for them.
    for (from, to) in [(A4, B4), (A6, B6)] {
        // The datagram may arrive from another address.
        let at_b = world.inside(Place::B, || UdpSocket::bind((to, 0)).unwrap());
        at_b.set_read_timeout(Some(PATIENCE)).unwrap();
        let at_a = world.inside(Place::A, || UdpSocket::bind((from, 0)).unwrap());
        at_a.send_to(b"the hops have found each other", at_b.local_addr().unwrap()).unwrap();
        receive(&at_b, &mut [0; 100]);
    }
    let mut command = world.command(place, env!("CARGO_BIN_EXE_inband"));
    let output = command.args(["host", "probe", "--json"]).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    let answer = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {message}"));
    (output.status.code().unwrap(), answer)
}
