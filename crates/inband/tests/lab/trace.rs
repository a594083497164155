//! `inband trace` where probes are lost, and where hops add no metadata.

use serde_json::Value;

use crate::world::World;
use crate::{FABRIC, json, up};

/// Longer than a report takes on a machine with much else to do; each silent loss takes as long.
const WAIT: &str = "5s";

/// Runs a trace on the first host; returns its exit code, stdout and stderr.
fn trace(world: &World, wait: &str, arguments: &[&str]) -> (i32, String, String) {
    world.lab(&[&["exec", "NAME", "h1", "inband", "trace", "--wait", wait], arguments].concat())
}

/// The objects of a trace with `--json`: those of its probes, and the summary.
fn objects(out: &str) -> (Vec<Value>, Value) {
    let mut lines: Vec<Value> = out.lines().map(json).collect();
    let summary = lines.pop().unwrap_or_default()["summary"].clone();
    (lines, summary)
}

#[test]
fn paths_and_losses_of_flows_have_their_own_ends() {
    let Some(world) = up(FABRIC) else { return };
    let (code, _, messages) = world.lab(&["drop", "NAME", "spine2", "silent"]);
    assert_eq!(code, 0, "{messages}");
    let mut out = String::new();
    // Eight flows may all take the same spine, and the spine may not be silent at once.
    let is_complete = |out: &str| {
        ["took INT out", "source ports:", " lost, 1 path, "].iter().all(|words| out.contains(words))
    };
    for _ in 0..6 {
        let (_, found, messages) = trace(&world, WAIT, &["10.0.2.1", "--ecmp", "--count", "1"]);
        out = found + &messages;
        if is_complete(&out) {
            break;
        }
    }

    assert!(out.contains("  ended: leaf2 took INT out and reported it"), "{out}");
    // The leaf may have found out that the spine does not answer, and report the drop itself.
    assert!(out.contains("  ended: lost behind "), "{out}");
    assert!(out.contains("  source ports: ") && out.contains(" lost, 1 path, "), "{out}");
}

#[test]
fn a_drop_that_is_reported_has_hops_and_a_reason_each_time() {
    let Some(world) = up(FABRIC) else { return };
    for _ in 0..4 {
        // Each ends as soon as both answers are there.
        let (code, out, messages) = trace(&world, "30s", &["10.9.9.9", "--count", "2", "--json"]);
        assert_eq!(code, 0, "{out}{messages}");
        let (probes, summary) = objects(&out);
        for probe in probes {
            assert_eq!((&probe["ended"], &probe["reason"]), (&"lost".into(), &"no route".into()), "{out}");
            assert_eq!(probe["last_router"], "10.0.1.254", "{out}");
            let hop = &probe["hops"][0];
            assert_eq!((&hop["node"], &hop["egress_interface"]), (&"leaf1".into(), &Value::Null), "{out}");
        }
        assert_eq!((&summary["lost"], &summary["paths"]), (&2.into(), &Value::Array(Vec::new())), "{out}");
    }
    // In the foreground: else it also signals its whole group, and two signals end the program at once.
    let watch = ["exec", "NAME", "h1", "timeout", "--foreground", "--preserve-status", "-s", "INT", "8"];
    let watch = [&watch[..], &["inband", "trace", "10.9.9.9", "--watch"]].concat();
    let (code, out, messages) = world.lab(&watch);
    assert_eq!(code, 0, "{out}{messages}");
    assert!(out.contains("1 probe, 1 lost, 0 paths") && !out.contains('\u{1b}'), "{out:?}");
}

#[test]
fn hops_that_were_allowed_to_add_nothing_are_not_without_int() {
    let Some(world) = up(FABRIC) else { return };
    let none = ["10.0.2.1", "--count", "1", "--remaining-hops", "0"];

    let (_, out, messages) = trace(&world, WAIT, &none);
    assert!(out.contains("no more hops were allowed (E)"), "{out}{messages}");
    assert!(!out.contains("without INT"), "{out}{messages}");
    let (_, out, messages) = trace(&world, WAIT, &[&none[..], &["--json"]].concat());
    let (probes, summary) = objects(&out);

    assert_eq!(probes[0]["ended"], "hops-exceeded", "{out}{messages}");
    assert!(summary["routers"].as_array().unwrap().iter().all(|router| router["int"] != "none"), "{out}");
}

/// Two hosts with INT behind a router without.
const HOSTS: &str = r#"
name = "NAME"
[collector]
api = "127.0.0.1:PORT"
[[switch]]
name = "r1"
int = false
[[host]]
name = "h1"
id = 101
address = "10.0.1.1/24"
int = true
[[host]]
name = "h2"
id = 102
address = "10.0.2.1/24"
int = true
run = ["inband lab traffic receive"]
[[link]]
ends = ["h1", "r1:1"]
[[link]]
ends = ["h2", "r1:2"]
"#;

#[test]
fn a_destination_with_int_does_not_hide_a_router_without() {
    let Some(world) = up(HOSTS) else { return };
    let send =
        ["exec", "NAME", "h1", "inband", "lab", "traffic", "send", "10.0.2.1", "--tcp", "--packets", "50"];
    let (mut probes, mut summary) = (Vec::new(), Value::Null);
    // The host removes INT as soon as another host has shown that it wants to send it.
    for _ in 0..20 {
        world.lab(&send);
        let (_, out, _) = trace(&world, WAIT, &["10.0.2.1", "--count", "1", "--json"]);
        (probes, summary) = objects(&out);
        if probes.first().is_some_and(|probe| probe["ended"] == "sink") {
            break;
        }
    }

    assert_eq!(probes[0]["ended"], "sink", "{probes:?}");
    assert_eq!(probes[0]["hops"].as_array().unwrap().len(), 1, "{probes:?}");
    let router = &summary["routers"][0];
    assert_eq!((&router["address"], &router["int"]), (&"10.0.1.254".into(), &"none".into()), "{summary}");
}
