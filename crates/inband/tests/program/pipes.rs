//! Captures on pipes, and readers of the output that go away.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::Folder;

const NODE: &str = "\
[node]
id = 2
[[interface]]
id = 1
[[interface]]
id = 2
";

#[test]
fn a_node_passes_a_packet_on_although_the_next_one_has_not_come_and_ends_when_told_to() {
    let folder = Folder::new("live-pipe").with("node.toml", NODE);
    let capture = captured();
    let first = first_record(&capture);
    let mut child = folder
        .command("node -c node.toml --read - --write - --ingress 1 --egress 2")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&capture[..first]).unwrap();

    // The header, and the packet with its record.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_exact(&mut [0; 24 + 16 + 14]).unwrap();
    stop(&child);

    assert_eq!(ended(&mut child), Some(0));
}

#[test]
fn a_replay_of_a_pipe_that_gives_nothing_ends_when_it_is_told_to() {
    let folder = Folder::new("silent-pipe").with("collector.toml", "[store]\npath = \"\"\n");
    let capture = captured();
    let mut child =
        folder.command("collect -c collector.toml --read -").stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // In the middle of a record.
    stdin.write_all(&capture[..first_record(&capture) + 20]).unwrap();
    wait_until_it_catches_signals(&child);
    stop(&child);

    assert_eq!(ended(&mut child), Some(0));
}

#[test]
fn a_file_that_nobody_reads_any_more_is_a_failure() {
    let capture = captured();
    let long = [&capture[..24], &capture[24..].repeat(5_000)].concat();
    let folder = Folder::new("fifo").with("node.toml", NODE).with("long.pcap", long);
    let mut child = folder
        .command("node -c node.toml --read long.pcap --write /dev/fd/2 --ingress 1 --egress 2")
        .spawn()
        .unwrap();
    // The reader is dropped after the header.
    child.stderr.take().unwrap().read_exact(&mut [0; 24]).unwrap();

    assert_eq!(ended(&mut child), Some(1));
}

#[test]
fn a_collector_goes_on_when_nobody_reads_its_messages() {
    let config = "\
[receive]
listen = [\"127.0.0.1:0\"]
[api]
listen = \"127.0.0.1:0\"
[store]
path = \"\"
";
    let folder = Folder::new("nobody-reads").with("collector.toml", config);
    let mut child = folder.command("collect -c collector.toml").spawn().unwrap();
    drop(child.stderr.take());
    wait_until_it_catches_signals(&child);
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it runs");
    stop(&child);

    assert_eq!(ended(&mut child), Some(0));
}

#[test]
fn a_collector_without_an_address_to_receive_on_is_a_mistake_in_its_configuration() {
    // Its API has any port, as others may have the usual one.
    let config = "[receive]\nlisten = []\n[api]\nlisten = \"127.0.0.1:0\"\n";
    let folder = Folder::new("no-address").with("collector.toml", config);
    let mut child = folder.command("collect -c collector.toml").spawn().unwrap();

    assert_eq!(ended(&mut child), Some(2));
}

#[test]
fn captures_and_json_do_not_share_stdout() {
    let folder = Folder::new("both-want-stdout").with("node.toml", NODE);
    for option in ["--write -", "--write out.pcap --reports -", "--write out.pcap --replies -"] {
        let line = format!("node -c node.toml --read in.pcap --ingress 1 --egress 2 --json {option}");
        assert_eq!(ended(&mut folder.command(&line).spawn().unwrap()), Some(2), "{option}");
    }
}

#[test]
fn a_topology_with_settings_that_a_switch_refuses_is_wrong() {
    let link = "[[link]]\nends = [\"a\", \"h1\"]\n[[link]]\nends = [\"a\", \"h2\"]\n";
    let host = |name, address| format!("[[host]]\nname = \"{name}\"\naddress = \"{address}/24\"\n");
    let hosts = host("h1", "10.0.1.1") + &host("h2", "10.0.2.1");
    for (settings, key, code) in [
        ("datapath = \"kernel\"\nio = \"af-xdp\"", "switch.io", 2),
        ("forwarding = \"static\"\ndatapath = \"engine\"", "switch.forwarding", 2),
        ("metrics = \"9100\"", "switch.metrics", 2),
        ("datapath = \"kernel\"", "", 0),
    ] {
        let lab = format!("name = \"l\"\n[[switch]]\nname = \"a\"\nid = 1\n{settings}\n{hosts}{link}");
        let outcome = Folder::new("lab-check").with("lab.toml", lab).run("lab check lab.toml");
        assert_eq!(outcome.code, code, "{outcome:?}");
        assert!(outcome.stderr.contains(key), "{outcome:?}");
    }
}

/// A capture in pcap.
fn captured() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors");
    fs::read(folder.join("int_v2_1.pcap")).unwrap()
}

/// Where the first record of a pcap file ends.
fn first_record(capture: &[u8]) -> usize {
    let length = u32::from_le_bytes(capture[32..36].try_into().unwrap());
    24 + 16 + usize::try_from(length).unwrap()
}

fn wait_until_it_catches_signals(child: &Child) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_caught = |status: &str| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() >> (Signal::TERM.as_raw() - 1) & 1 == 1
    };
    while !is_caught(&fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap()) {
        assert!(Instant::now() < deadline, "SIGTERM is not caught");
        thread::sleep(Duration::from_millis(10));
    }
}

fn stop(child: &Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

/// The exit code, within a minute.
fn ended(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("the program does not end");
}
