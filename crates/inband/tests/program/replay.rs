//! `inband collect --read` stores and exports all it reads, or reports what is missing.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use inband_testkit::packet;
use serde_json::Value;

use crate::collect_faults::FULL_DISK;
use crate::collector::report;
use crate::folder::{Folder, Outcome};

#[test]
fn a_replay_stores_every_report_however_long_its_capture_took() {
    let folder = Folder::new("replay-long").with("reports.pcap", capture(20_000, Duration::from_secs(7_200)));

    let outcome = folder.run("collect --read reports.pcap --json");

    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(counts(&outcome, ["accepted_reports", "stored", "store_failed"]), [20_000, 20_000, 0]);
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), "{\"n\":20000}", "{}", asked.stderr);
}

#[test]
fn a_replay_waits_for_json_lines_that_are_written_slower_than_it_reads() {
    for (name, speed) in [("replay-lines", ""), ("replay-lines-recorded", "--recorded-speed")] {
        let settings = "[jsonl]\npath = \"lines\"\nwhat = [\"observations\"]\nqueue = 100\n";
        let folder = Folder::new(name)
            .with("reports.pcap", capture(20_000, Duration::from_secs(2)))
            .with("collector.toml", settings);

        let outcome = folder.run(&format!("collect -c collector.toml --read reports.pcap --json {speed}"));

        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(counts(&outcome, ["stored", "exported", "export_failed"]), [20_000, 20_000, 0]);
        assert_eq!(folder.read("lines").split(|byte| *byte == b'\n').count(), 20_001);
    }
}

#[test]
fn a_replay_gives_an_output_that_never_answers_its_grace_and_says_what_is_missing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = silent.local_addr().unwrap();
    let settings = format!(
        "[otlp]\nendpoint = \"http://{endpoint}\"\nqueue = 10\ninterval_seconds = 0\nmetrics_seconds = 0\n"
    );
    let folder = Folder::new("replay-silent")
        .with("reports.pcap", capture(2_000, Duration::from_secs(2)))
        .with("collector.toml", settings);
    let began = Instant::now();

    let outcome = folder.run("collect -c collector.toml --read reports.pcap --json");

    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert_eq!(counts(&outcome, ["stored", "exported"]), [2_000, 0]);
    let missing = "error: the replay is incomplete: otlp: of 1 message 1 given up (1 stopped): ";
    assert!(outcome.stderr.contains(missing), "{}", outcome.stderr);
    // Five seconds without an answer, and as much at the end.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_replay_to_a_full_disk_fails_and_says_how_much_is_not_stored() {
    let folder = Folder::new("replay-full").with("reports.pcap", capture(20_000, Duration::from_secs(2)));
    let command = [FULL_DISK, env!("CARGO_BIN_EXE_inband"), "collect", "--read", "reports.pcap", "--json"];
    let mut shell = Command::new("sh");
    shell.arg("-c").args(command).current_dir(folder.path("")).stdin(Stdio::null());
    let outcome = Outcome::of(shell.output().unwrap());

    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let [reports, stored, failed] = counts(&outcome, ["accepted_reports", "stored", "store_failed"]);
    assert!(failed > 0 && stored + failed == reports, "{stored} + {failed} = {reports}");
    let missing = format!("error: the replay is incomplete: {failed} of 20000 reports not stored");
    assert!(outcome.stderr.contains(&missing), "{}", outcome.stderr);
}

#[test]
fn a_replay_stopped_by_a_signal_gives_1_and_says_after_which_packet() {
    let folder = Folder::new("replay-stopped")
        .with("reports.pcap", capture(8, Duration::from_secs(80)))
        .with("collector.toml", "[store]\npath = \"\"\n[jsonl]\npath = \"lines\"\n");
    let mut replay = folder
        .command("collect -c collector.toml --read reports.pcap --recorded-speed --json")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    // The outputs start behind the signal handlers.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path("lines").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let id = replay.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = replay.try_wait();
    let outcome = Outcome::of(replay.wait_with_output().unwrap());

    assert!(ended.is_ok());
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let [received] = counts(&outcome, ["received"]);
    assert!(received < 8, "{}", outcome.stdout);
    let message = format!("error: reports.pcap: stopped after packet {received}, before its end");
    assert!(outcome.stderr.contains(&message), "{}", outcome.stderr);
}

/// A capture of reports of node 7 at equal distances.
fn capture(reports: u32, length: Duration) -> Vec<u8> {
    let mut capture = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    for sequence in 0..reports {
        let payload = report(7, sequence);
        let frame = packet().udp(5_555, 32_766).payload(&payload).build();
        let at = length * sequence / reports;
        let size = u32::try_from(frame.len()).unwrap();
        let seconds = 1_700_000_000 + u32::try_from(at.as_secs()).unwrap();
        capture.extend([seconds, at.subsec_nanos(), size, size].map(u32::to_le_bytes).concat());
        capture.extend(frame);
    }
    capture
}

/// Counts of a ledger's totals.
fn counts<const N: usize>(outcome: &Outcome, keys: [&str; N]) -> [u64; N] {
    let ledger: Value = serde_json::from_str(&outcome.stdout).unwrap();
    keys.map(|key| ledger["total"][key].as_u64().unwrap())
}
