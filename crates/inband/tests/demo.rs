//! The demo as a user runs it: a short run, its JSON, and an end by Ctrl-C.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inband")).arg("demo").args(arguments).output().unwrap()
}

fn json_lines(output: &Output) -> Vec<Value> {
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

fn count(ledger: &Value, key: &str) -> u64 {
    ledger[key].as_u64().unwrap_or_else(|| panic!("{key} in {ledger}"))
}

fn nodes(path: &Value) -> Vec<u64> {
    path.as_array().unwrap().iter().map(|node| node.as_u64().unwrap()).collect()
}

/// Runs the demo and checks the common results: balanced ledgers, no loss, one flow on its two paths, one
/// congested queue.
fn assert_shows_everything(mode: &str, duration: &str) {
    let output = demo(&["--duration", duration, "--json", "--mode", mode]);
    assert!(output.status.success(), "{output:?}");
    let lines = json_lines(&output);

    for ledger in of_kind(&lines, "ledger") {
        let sum: u64 =
            ["accepted", "malformed", "duplicate", "shed"].iter().map(|key| count(ledger, key)).sum();
        assert_eq!(count(ledger, "received"), sum, "{ledger}");
    }
    let last = lines.last().unwrap();
    assert_eq!(last["kind"], "ledger");
    assert!(count(last, "received") > 5_000, "{last}");
    assert_eq!((count(last, "malformed"), count(last, "lost")), (0, 0), "{last}");

    let rerouted: Vec<_> = of_kind(&lines, "path")
        .into_iter()
        .filter(|path| path["flow"]["source_port"] == 40_000)
        .map(|path| nodes(&path["path"]))
        .collect();
    assert_eq!(rerouted.first(), Some(&vec![1, 11, 4]), "{rerouted:?}");
    assert_eq!(rerouted.last(), Some(&vec![1, 12, 4]), "{rerouted:?}");
    let events: Vec<_> = of_kind(&lines, "event").iter().map(|event| event["event"].clone()).collect();
    assert!(events.contains(&"path-change".into()), "{events:?}");
    assert!(events.contains(&"queue-congestion".into()), "{events:?}");
}

#[test]
fn a_short_run_with_md_shows_a_reroute_and_a_congested_queue_and_loses_nothing() {
    assert_shows_everything("md", "3s");
}

/// Reports of single hops have 1.1 s to settle, and a busy machine may need a multiple of that: 9 s remain
/// after the reroute.
#[test]
fn a_run_with_mx_shows_the_same() {
    assert_shows_everything("mx", "12s");
}

#[test]
fn a_run_with_xd_shows_the_same() {
    assert_shows_everything("xd", "12s");
}

#[test]
fn the_lines_have_the_documented_keys() {
    let lines = json_lines(&demo(&["--duration", "2s", "--json"]));
    let path = of_kind(&lines, "path")[0];
    for key in ["source", "destination", "protocol", "source_port", "destination_port"] {
        assert!(!path["flow"][key].is_null(), "{path}");
    }
    assert_eq!(nodes(&path["path"]).len(), nodes(&path["hop_latency"]).len());
    let event = of_kind(&lines, "event")[0];
    assert!(event["key"].is_string() && event["detail"].is_object(), "{event}");
    let ledger = of_kind(&lines, "ledger")[0].as_object().unwrap();
    let keys: Vec<_> = ledger.keys().map(String::as_str).collect();
    for key in ["received", "accepted", "malformed", "duplicate", "shed", "lost"] {
        assert!(keys.contains(&key), "{keys:?}");
    }
}

#[test]
fn without_a_terminal_it_prints_lines_and_a_summary() {
    let output = demo(&["--duration", "2s"]);
    assert!(output.status.success(), "{output:?}");
    let text = str::from_utf8(&output.stdout).unwrap();
    assert!(!text.contains('\x1b'), "no control characters outside a terminal");
    for expected in ["path-change: tcp 10.0.1.1", "queue-congestion: leaf1", "leaf1 spine2 leaf4", "0 lost"] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
}

#[test]
fn ctrl_c_ends_it_cleanly_with_the_ledger() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["demo", "--duration", "60s", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The first ledger line shows that it runs; the signal goes to the program itself and to no other.
    lines.by_ref().map(Result::unwrap).find(|line| line.contains("\"ledger\"")).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    let last: Value = serde_json::from_str(rest.last().unwrap()).unwrap();
    assert_eq!(last["kind"], "ledger");
    assert_eq!(count(&last, "lost"), 0);
}

/// A machine that is too slow for the traffic is like a program that stands still for a while.
#[test]
fn a_run_that_stands_still_longer_than_it_lasts_shows_the_same() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["demo", "--duration", "3s", "--json", "--no-page"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let id = child.id().to_string();
    for (signal, then) in [("-STOP", Duration::from_secs(4)), ("-CONT", Duration::ZERO)] {
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        thread::sleep(then);
    }

    let text: Vec<_> = std::iter::once(first).chain(lines.map(Result::unwrap)).collect();

    assert!(child.wait().unwrap().success());
    for event in ["path-change", "queue-congestion"] {
        assert!(text.iter().any(|line| line.contains(event)), "{event} in {text:?}");
    }
}

/// Both run at once: the one without a terminal ends by itself while the other still runs. The terminal is
/// that of `script`, which passes the byte of Ctrl-C to it as a keyboard does.
#[test]
fn without_a_duration_it_runs_until_ctrl_c_on_a_terminal_and_20_s_elsewhere() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: needs `script` of util-linux");
        return;
    }
    let folder = folder("demo-terminal");
    let mut watched = Command::new("script")
        // With `exec`: a shell that waits for its program ends by the same Ctrl-C, and `script` would return
        // its status.
        .args(["-qec", concat!("exec ", env!("CARGO_BIN_EXE_inband"), " demo"), "/dev/null"])
        .env("TMPDIR", &folder)
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut picture = watched.stdout.take().unwrap();
    let picture = thread::spawn(move || {
        let mut text = Vec::new();
        picture.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let begun = Instant::now();
    let mut unattended = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["demo", "--no-page"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();

    let unattended = end(&mut unattended);
    let took = begun.elapsed();
    let still_runs = watched.try_wait().unwrap().is_none();
    // The write fails if the program has ended, which an assertion below reports.
    let _ = watched.stdin.as_mut().unwrap().write_all(b"\x03");
    let watched = end(&mut watched);

    assert!(unattended.is_some_and(|status| status.success()), "{unattended:?}");
    assert!(took >= Duration::from_secs(20), "{took:?}");
    let picture = picture.join().unwrap().unwrap();
    assert!(still_runs, "{picture}");
    assert!(watched.is_some_and(|status| status.success()), "{watched:?}: {picture}");
    assert!(picture.contains("Deepest queues of the run"), "{picture}");
    assert!(picture.ends_with("\x1b[?25h"), "the cursor is back: {picture}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// Waits until a program has ended; kills it after two minutes and returns `None`.
fn end(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + Duration::from_secs(120);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn a_duration_that_cannot_be_is_a_usage_error() {
    for wrong in ["0", "soon", "2days"] {
        assert_eq!(demo(&["--duration", wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn it_shows_the_page_on_a_free_port_where_the_usual_one_is_taken_and_leaves_nothing_behind() {
    // The port may be in use already.
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let folder = folder("demo-page");
    let mut child = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["demo", "--duration", "2s"])
        .env("TMPDIR", &folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first = said.next().unwrap();
    let url = first.strip_prefix("answering on http://").unwrap();

    let mut stream = TcpStream::connect(url).unwrap();
    stream.write_all(b"GET /events HTTP/1.0\r\nAccept: text/html\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();

    assert!(!url.ends_with(":8080"), "{url}");
    assert!(answer.starts_with("HTTP/1.0 200") && answer.contains("/page/main.js"), "{answer}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// A demo that has its temporary history in `folder` and has printed a ledger, with the lines that follow.
fn running(program: &mut Command, folder: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = program
        .args(["demo", "--duration", "60s", "--json"])
        .env("TMPDIR", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.by_ref().map(Result::unwrap).find(|line| line.contains("\"ledger\"")).unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    (child, lines)
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_leaves_nothing_behind() {
    let folder = folder("demo-cut-short");
    let (mut child, _lines) = running(&mut Command::new(env!("CARGO_BIN_EXE_inband")), &folder);

    // Both signals arrive while it is stopped, so it cannot end between them.
    let id = child.id().to_string();
    for signal in ["-STOP", "-INT", "-TERM", "-CONT"] {
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_terminal_that_goes_ends_it_and_leaves_nothing_behind() {
    let folder = folder("demo-hang-up");
    // Under `nohup` SIGHUP is ignored, and the demo would inherit that.
    let mut program = Command::new("env");
    let (mut child, lines) =
        running(program.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_inband")]), &folder);

    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    let rest = lines.map(Result::unwrap).count();

    assert!(rest > 0);
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn it_answers_nobody_without_a_page() {
    let output = demo(&["--duration", "500ms", "--no-page"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn it_answers_and_keeps_history_in_the_same_process() {
    let history = folder("demo-history");
    let mut child = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["demo", "--duration", "4s", "--json", "--api", "127.0.0.1:0", "--store"])
        .arg(&history)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let url = said.find_map(|line| line.strip_prefix("answering on http://").map(str::to_owned)).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.find(|line| line.contains("\"ledger\"")).unwrap();

    let mut stream = TcpStream::connect(url).unwrap();
    stream.write_all(b"GET /api/v1/nodes HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("spine2") && answer.contains("leaf4"), "{answer}");

    let last: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    assert!(child.wait().unwrap().success());
    let sql = "SELECT count(DISTINCT node_id) AS nodes, sum(hop_index = 0) AS reports FROM observations";
    let output = Command::new(env!("CARGO_BIN_EXE_inband"))
        .args(["query", "--json", "--store", history.to_str().unwrap(), sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let row = &json_lines(&output)[0];
    assert_eq!(count(row, "nodes"), 6);
    assert_eq!(count(row, "reports"), count(&last, "accepted"), "{row} {last}");
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
