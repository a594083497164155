//! `inband lab` and `inband trace` on networks of namespaces; only root can create them.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod kernel;
mod switch;
mod trace;
mod world;

use std::collections::BTreeSet;
use std::path::Path;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use world::World;

/// Two hosts, two Linux routers without INT, and a link with delay between them.
const ROUTERS: &str = r#"
name = "NAME"
[collector]
api = "127.0.0.1:PORT"
[[switch]]
name = "r1"
int = false
[[switch]]
name = "r2"
int = false
[[host]]
name = "h1"
address = "10.0.1.1/24"
[[host]]
name = "h2"
address = "10.0.2.1/24"
run = ["inband lab traffic receive"]
[[link]]
ends = ["h1", "r1:1"]
rate = "50Mbit"
[[link]]
ends = ["h2", "r2"]
[[link]]
ends = ["r1", "r2"]
delay = "2ms"
"#;

const STEPS: &str = r#"
[[step]]
at = "0.5s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --packets 50 --tcp" }
[[step]]
at = "0.6s"
slow = ["h1", "r1", "5Mbit"]
[[expect]]
only = []
by = "8s"
"#;

fn routers() -> String {
    ROUTERS.to_owned()
}

/// A running network; `None`: this user cannot create one.
fn up(topology: &str) -> Option<World> {
    let world = World::new(topology)?;
    let (code, out, messages) = world.lab(&["up", "TOPOLOGY"]);
    assert_eq!(code, 0, "{out}{messages}");
    Some(world)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_run_that_goes_as_expected_leaves_nothing() {
    let Some(world) = World::new(&(routers() + STEPS)) else { return };
    let (code, out, messages) = world.lab(&["run", "TOPOLOGY", "--json"]);
    assert_eq!(code, 0, "{out}{messages}");
    let outcome = json(&out);
    assert_eq!((&outcome["passed"], &outcome["steps"][0]["exit_code"]), (&true.into(), &0.into()), "{out}");
    assert!(outcome["backlog_drops"].is_u64(), "{out}");
    assert!(world.is_gone());
}

#[test]
fn an_expectation_that_fails_is_exit_code_1_and_says_what_was_seen() {
    let steps = "[[expect]]\nevent = \"loop\"\nby = \"0.3s\"\n";
    let Some(world) = World::new(&(routers() + steps)) else { return };
    let (code, out, messages) = world.lab(&["run", "TOPOLOGY"]);
    assert_eq!(code, 1, "{out}{messages}");
    assert!(out.contains("FAILED") && out.contains("seen instead: no events"), "{out}");
    assert!(world.is_gone());
}

#[test]
fn a_command_that_still_runs_at_the_end_has_failed_unless_it_may() {
    let step = |may_fail| {
        format!(
            "[[step]]\nat = \"0s\"\nrun = {{ on = \"h1\", command = \"sleep 30\", may_fail = {may_fail} }}\n"
        )
    };
    let text = routers().replacen("\n[collector]", "\nduration = \"0.2s\"\n[collector]", 1);
    let Some(world) = World::new(&(text + &step(false) + &step(true))) else { return };
    let (code, out, messages) = world.lab(&["run", "TOPOLOGY", "--json"]);
    assert_eq!(code, 1, "{out}{messages}");
    let steps = &json(&out)["steps"];
    assert_eq!((&steps[0]["passed"], &steps[1]["passed"]), (&false.into(), &true.into()), "{out}");
    assert_eq!(steps[0]["output"], "it was still running at the end", "{out}");
    assert!(world.is_gone());
}

#[test]
fn whatever_was_killed_down_leaves_nothing() {
    let Some(world) = up(&routers()) else { return };
    let (code, _, messages) = world.lab(&["up", "TOPOLOGY"]);
    assert_eq!(code, 2, "{messages}");
    assert!(messages.contains("is up already"), "{messages}");

    for part in ["collector", "links"] {
        world.kill(part);
    }
    let (_, status, _) = world.lab(&["status", "TOPOLOGY", "--json"]);
    let status = json(&status);
    assert_eq!(status["is_healthy"], false);
    // Of the whole machine, so that only its presence is certain.
    assert!(status["backlog_drops"].is_u64(), "{status}");
    let (code, _, messages) = world.lab(&["down", "NAME"]);
    assert_eq!(code, 0, "{messages}");
    assert!(world.is_gone());
    let (code, _, messages) = world.lab(&["down", "NAME"]);
    assert_eq!((code, messages.contains("is not up")), (2, true), "{messages}");
}

#[test]
fn the_delay_of_a_link_is_what_was_asked_for_and_its_own_latency_is_known() {
    let Some(world) = up(&routers()) else { return };
    // With the first packet the routers find their neighbours, for which few packets can wait.
    for count in ["1", "200"] {
        let send = ["exec", "NAME", "h1", "inband", "lab", "traffic", "send", "10.0.2.1", "--packets", count];
        let (code, out, messages) = world.lab(&send);
        assert_eq!(code, 0, "{out}{messages}");
        std::thread::sleep(std::time::Duration::from_millis(1200));
    }
    let there = || {
        let (_, status, _) = world.lab(&["status", "NAME", "--json"]);
        json(&status)["links"][2]["user_space"][0].clone()
    };
    let since = std::time::Instant::now();
    while there()["sent"].as_u64().unwrap() < 200 && since.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let there = there();
    assert!(there["sent"].as_u64().unwrap() >= 200, "{there}");
    assert_eq!((&there["lost"], &there["overflowed"], &there["refused"]), (&0.into(), &0.into(), &0.into()));
    assert!(there["own_latency_p50_ns"].as_u64().is_some(), "{there}");
}

#[test]
fn a_trace_knows_hops_without_int_and_that_there_is_no_sink() {
    let Some(world) = up(&routers()) else { return };
    let trace = ["exec", "NAME", "h1", "inband", "trace", "10.0.2.1", "--count", "1"];
    let (code, out, messages) = world.lab(&trace);
    assert_eq!(code, 1, "{out}{messages}");
    assert!(out.contains("no sink took INT out"), "{out}{messages}");
    assert!(out.contains("TTL 1: 10.0.1.254 is a hop without INT"), "{out}");
    let (_, out, _) = world.lab(&[&trace[..], &["--json"]].concat());
    let probe = json(out.lines().next().unwrap_or_default());
    assert_eq!((&probe["ended"], &probe["probe"]), (&"no-sink".into(), &1.into()), "{out}");
    let last = json(out.lines().last().unwrap_or_default());
    assert_eq!((&last["summary"]["sent"], &last["summary"]["lost"]), (&1.into(), &0.into()), "{out}");

    // In the foreground: else it also signals its whole group, and two signals end the program at once.
    let watch = ["exec", "NAME", "h1", "timeout", "--foreground", "--preserve-status", "-s", "INT", "6"];
    let watch = [&watch[..], &["inband", "trace", "10.0.2.1", "--watch", "--json"]].concat();
    let (code, out, messages) = world.lab(&watch);
    assert_eq!(code, 0, "{out}{messages}");
    let lines: Vec<Value> = out.lines().map(json).collect();
    let (last, probes) = lines.split_last().unwrap();
    assert!(probes.len() > 1 && probes.iter().all(|probe| probe["probe"].is_u64()), "{out}");
    assert_eq!(last["summary"]["sent"], probes.len(), "{out}");
}

#[test]
fn a_router_without_a_route_loses_a_probe_and_the_trace_says_so() {
    let Some(world) = up(&routers()) else { return };
    let trace = ["exec", "NAME", "h1", "inband", "trace", "10.0.9.9", "--count", "1"];
    // First without the probes that look for routers: Linux sends few errors about routes.
    let (code, out, messages) = world.lab(&[&trace[..], &["--json"]].concat());
    assert_eq!(code, 1, "{out}{messages}");
    let probe = json(out.lines().next().unwrap_or_default());
    assert_eq!((&probe["ended"], &probe["reason"]), (&"lost".into(), &"no route".into()), "{out}");
    assert_eq!(probe["last_router"], "10.0.1.254", "{out}");
    let last = json(out.lines().last().unwrap_or_default());
    assert_eq!((&last["summary"]["sent"], &last["summary"]["lost"]), (&1.into(), &1.into()), "{out}");
    let (_, out, _) = world.lab(&trace);
    assert!(out.contains("lost behind the source; the last that answered is 10.0.1.254: no route"), "{out}");
}

#[test]
fn the_link_of_a_host_breaks_and_mends_like_others() {
    let Some(world) = up(FABRIC) else { return };
    let send =
        ["exec", "NAME", "h1", "inband", "lab", "traffic", "send", "10.0.2.1", "--tcp", "--packets", "5"];
    let is_up = || {
        let (_, status, _) = world.lab(&["status", "NAME", "--json"]);
        json(&status)["links"][0]["is_up"].clone()
    };
    for task in [["break", "NAME", "h1", "leaf1"], ["break", "NAME", "leaf1", "spine1"]] {
        let (code, out, messages) = world.lab(&task);
        assert_eq!(code, 0, "{out}{messages}");
        assert_eq!(is_up(), false);
    }
    let (code, _, messages) = world.lab(&["mend", "NAME", "h1", "leaf1"]);
    assert_eq!((code, is_up()), (0, true.into()), "{messages}");
    let (code, out, messages) = world.lab(&send);
    assert_eq!(code, 0, "{out}{messages}");
}

#[test]
fn a_lab_that_is_stopped_while_it_starts_leaves_nothing() {
    let Some(world) = World::new(FABRIC) else { return };
    // Under `nohup` the program, as every other, ignores SIGHUP.
    let signals = [Signal::TERM, Signal::INT, Signal::HUP];
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let mut starting = world.start(&["up", "TOPOLOGY"]);
        let waited = (0..12_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            world.has_begun()
        });
        assert!(waited, "it does not start");
        rustix::process::kill_process(Pid::from_child(&starting), signal).unwrap();
        let code = starting.wait().unwrap().code();
        assert_eq!((code, world.is_gone()), (Some(1), true), "{signal:?}");
    }
}

/// Whether this process ignores a signal, and so do those that it starts.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 << (signal.as_raw() - 1) != 0
}

#[test]
fn a_name_is_not_a_file_of_the_same_name() {
    let folder = std::env::temp_dir().join(format!("inbn{}", std::process::id()));
    std::fs::create_dir_all(folder.join("fabric")).unwrap();
    std::fs::write(folder.join("other"), "not TOML").unwrap();
    for task in [["down", "fabric"], ["status", "fabric"], ["down", "other"]] {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_inband"));
        let output = { program }.arg("lab").args(task).current_dir(&folder).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{messages}");
        assert!(messages.contains(&format!("the lab `{}` is not up", task[1])), "{messages}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two leaves and two spines; their switches are this program.
const FABRIC: &str = r#"
name = "NAME"
[collector]
api = "127.0.0.1:PORT"
[[switch]]
name = "leaf1"
id = 1
[[switch]]
name = "leaf2"
id = 2
[[switch]]
name = "spine1"
id = 11
[[switch]]
name = "spine2"
id = 12
[[host]]
name = "h1"
address = "10.0.1.1/24"
[[host]]
name = "h2"
address = "10.0.2.1/24"
run = ["inband lab traffic receive"]
[[link]]
ends = ["h1", "leaf1:1"]
[[link]]
ends = ["h2", "leaf2:1"]
[[link]]
ends = ["leaf1:11", "spine1"]
[[link]]
ends = ["leaf1:12", "spine2"]
[[link]]
ends = ["leaf2:11", "spine1"]
[[link]]
ends = ["leaf2:12", "spine2"]
[[step]]
at = "0s"
run = { on = "h1", command = "inband lab traffic send 10.0.2.1 --flows 16 --rate 500kbit --for 8s" }
[[step]]
at = "4s"
break = ["leaf1", "spine1"]
[[expect]]
path = { source = "10.0.1.1", destination = "10.0.2.1", nodes = ["leaf1", "spine1", "leaf2"] }
by = "4s"
[[expect]]
event = "path-change"
after = "4s"
by = "12s"
[[expect]]
event = "loop"
absent = true
by = "12s"
"#;

#[test]
fn flows_of_a_fabric_show_their_paths_and_take_another_when_a_link_breaks() {
    let Some(world) = World::new(FABRIC) else { return };
    let (code, out, messages) = world.lab(&["run", "TOPOLOGY"]);
    assert_eq!(code, 0, "{out}{messages}");
    assert!(world.is_gone());
}

#[test]
fn a_trace_finds_every_hop_and_every_path_and_says_where_int_ended() {
    let Some(world) = up(FABRIC) else { return };
    let trace =
        ["exec", "NAME", "h1", "inband", "trace", "10.0.2.1", "--wait", "5s", "--count", "1", "--json"];
    // One search misses the second of two paths once in 128 times: the ports of its flows are random.
    let mut out = String::new();
    let mut paths = BTreeSet::new();
    for _ in 0..4 {
        let (code, found, messages) = world.lab(&[&trace[..], &["--ecmp"]].concat());
        assert_eq!(code, 0, "{found}{messages}");
        let last = json(found.lines().last().unwrap_or_default());
        paths.extend(serde_json::from_value::<Vec<Vec<u64>>>(last["summary"]["paths"].clone()).unwrap());
        out = found;
        if paths.len() > 1 {
            break;
        }
    }
    assert_eq!(paths, BTreeSet::from([vec![1, 11, 2], vec![1, 12, 2]]), "{out}");
    let probe = json(out.lines().next().unwrap_or_default());
    assert_eq!((&probe["ended"], &probe["hops"][0]["node"]), (&"sink".into(), &"leaf1".into()), "{out}");
    assert!(probe["hops"][1]["link_latency"].is_i64() || probe["hops"][1]["link_latency"].is_u64(), "{out}");

    let (_, out, messages) = world.lab(&[&trace[..], &["--remaining-hops", "2"]].concat());
    let probe = json(out.lines().next().unwrap_or_default());
    assert_eq!(probe["ended"], "hops-exceeded", "{out}{messages}");
}

#[test]
fn a_wrong_topology_is_exit_code_2_with_its_place_and_creates_nothing() {
    for (from, to, expected) in [
        (
            "ends = [\"h2\", \"r2\"]",
            "ends = [\"h2\", \"r3\"]",
            "unknown host or switch `r3` in [[link]]; did you mean `r",
        ),
        ("delay = \"2ms\"", "dealy = \"2ms\"", "unknown key `dealy` in [[link]]; did you mean `delay`?"),
        ("\"10.0.2.1/24\"", "\"10.0.1.1/24\"", "the address 10.0.1.1 is in use by `h1`"),
        ("\"10.0.2.1/24\"", "\"224.0.0.1/8\"", "224.0.0.1/8 is no address of a host"),
        ("127.0.0.1:PORT", "0.0.0.0:PORT", "is reachable from other machines"),
        ("rate = \"50Mbit\"", "rate = \"50\"", "`50` is not a rate"),
    ] {
        let text = routers().replacen(from, to, 1);
        assert_ne!(text, routers());
        let world = World::unprivileged(&text);
        for task in ["check", "up", "run"] {
            let (code, _, messages) = world.lab(&[task, "TOPOLOGY"]);
            assert_eq!(code, 2, "{messages}");
            assert!(messages.contains(expected), "{task}: {messages}");
        }
        assert!(world.is_gone());
    }
}

#[test]
fn the_examples_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lab");
    let world = World::unprivileged(&routers());
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let (code, _, messages) = world.lab(&["check", path.to_str().unwrap()]);
        assert_eq!(code, 0, "{}: {messages}", path.display());
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}
