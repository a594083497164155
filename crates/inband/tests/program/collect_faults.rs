//! The collector's ledger balances, and its memory stays bounded, under faults around it.

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::collector::{Collector, report};
use crate::folder::Folder;

/// Limits files to 64 blocks of 512 bytes, which the program sees as a full disk. The signal that would end
/// it is ignored, and the program inherits that.
pub(crate) const FULL_DISK: &str = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";

/// Gives a program another time of day than the machine's.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

#[test]
fn a_full_disk_is_told_and_every_report_is_stored_or_counted_as_failed() {
    let folder = Folder::new("collect-full-disk");
    let collector = Collector::start_with(&folder, "", FULL_DISK);
    assert_eq!(collector.ask("/readyz").0, 200);
    // A small write may still succeed, and the disk is then healthy for a moment.
    let mut sent = 0;
    let why = until(&collector, &mut sent, || {
        let (status, why) = collector.ask("/readyz");
        (status == 503).then_some(why)
    });
    until(&collector, &mut sent, || collector.get("/metrics").contains("inband_store_up 0\n").then_some(()));
    until(&collector, &mut sent, || collector.said().contains("history: cannot write the log").then_some(()));
    collector.wait_for("accepted_reports", u64::from(sent));
    let settled = wait_until_settled(&collector);

    assert!(why.contains("cannot write the log"), "{why}");
    assert!(settled.1 > 0);
    assert_eq!(settled.0 + settled.1, u64::from(sent));
    assert_eq!(collector.interrupt(), Some(0));
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), format!("{{\"n\":{}}}", settled.0), "{}", asked.stderr);
}

#[test]
fn a_store_whose_directory_disappears_is_told_within_a_second_and_by_the_exit_code() {
    let folder = Folder::new("collect-removed-directory");
    let collector = Collector::start(&folder);
    collector.send(0..10);
    collector.wait_for("stored", 10);
    let history = folder.path("inband-data");
    std::fs::remove_dir_all(&history).unwrap();
    // Nothing can be created below a file.
    std::fs::write(&history, b"").unwrap();
    let removed = Instant::now();
    let within = |what: &str, is_so: &dyn Fn() -> bool| {
        while !is_so() {
            assert!(removed.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
        removed.elapsed()
    };

    let ready = within("/readyz", &|| collector.ask("/readyz").0 == 503);
    let event = within("an event", &|| collector.get("/api/v1/events").contains("history-trouble"));
    within("stderr", &|| collector.said().contains("history: "));

    // One second, plus the time of a busy machine to answer.
    assert!(ready.max(event) < Duration::from_secs(30), "{ready:?} {event:?}");
    assert_eq!((collector.count("stored"), collector.count("store_failed")), (0, 10));
    assert_eq!(collector.interrupt(), Some(1));
}

#[test]
fn a_store_whose_directory_is_removed_is_written_again() {
    let folder = Folder::new("collect-removed-again");
    let collector = Collector::start(&folder);
    collector.send(0..10);
    collector.wait_for("stored", 10);
    std::fs::remove_dir_all(folder.path("inband-data")).unwrap();
    let removed = Instant::now();
    while collector.ask("/readyz").0 != 503 {
        assert!(removed.elapsed() < Duration::from_secs(60), "/readyz");
        std::thread::sleep(Duration::from_millis(10));
    }
    collector.wait_for("stored", 10);
    collector.send(10..20);
    collector.wait_for("stored", 20);

    assert_eq!(collector.interrupt(), Some(0));
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), "{\"n\":20}", "{}", asked.stderr);
}

#[test]
fn what_happens_to_sequence_numbers_is_told_by_its_name() {
    let folder = Folder::new("collect-sequences");
    let collector = Collector::start(&folder);
    let last = (1 << 22) - 1;
    // Across the wrap: one is missing, one comes twice, two are swapped.
    collector.send([last - 2, last - 1, last, 0, 2, 3, 3, 5, 4, 6]);
    collector.wait_for("received", 10);
    let deadline = Instant::now() + Duration::from_secs(60);
    while collector.count("lost") != 1 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }

    let counts = ["received", "accepted", "duplicate", "reordered", "late", "lost", "lost_unknown"];
    assert_eq!(counts.map(|key| collector.count(key)), [10, 9, 1, 1, 0, 1, 0]);
}

#[test]
fn a_node_that_starts_anew_loses_nothing() {
    let folder = Folder::new("collect-restart");
    let collector = Collector::start(&folder);
    collector.send(1_000_000..1_000_100);
    collector.wait_for("accepted", 100);
    std::thread::sleep(Duration::from_millis(5_200));
    collector.send(0..50);
    collector.wait_for("accepted", 150);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !collector.get("/api/v1/events").contains("sequence-reset") {
        assert!(Instant::now() < deadline, "{}", collector.get("/api/v1/events"));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(400));

    assert_eq!(["accepted", "lost"].map(|key| collector.count(key)), [150, 0]);
}

#[test]
fn a_clock_that_is_set_forward_and_back_costs_nothing_and_tells_of_nothing() {
    let folder = Folder::new("collect-clock");
    let Some(collector) = start_with_clock(&folder, "+0") else { return };
    for (round, offset) in ["+864000", "-86400", "+31536000", "+0"].into_iter().enumerate() {
        let first = u32::try_from(round).unwrap() * 200;
        collector.send(first..first + 100);
        set_clock(&folder, offset);
        collector.send(first + 100..first + 200);
        std::thread::sleep(Duration::from_millis(500));
    }
    collector.wait_for("accepted", 800);
    collector.wait_for("stored", 800);

    let counts = ["accepted", "lost", "lost_unknown", "late", "stored", "store_failed"];
    assert_eq!(counts.map(|key| collector.count(key)), [800, 0, 0, 0, 800, 0]);
    let events = collector.get("/api/v1/events");
    assert!(!events.contains("sequence-reset") && !events.contains("report-loss"), "{events}");
    assert_eq!(collector.interrupt(), Some(0));
    let asked = "SELECT count(*) AS n, count(DISTINCT sequence) AS different FROM observations";
    let asked = folder.run_arguments(&["query", "--json", asked]);
    assert_eq!(asked.stdout.trim(), "{\"n\":800,\"different\":800}", "{}", asked.stderr);
}

#[test]
fn a_collector_started_an_hour_off_follows_the_clock_once_it_is_set_right() {
    for (wrong, step) in [("-3600", 3_600), ("+3600", -3_600)] {
        let folder = Folder::new(&format!("collect-clock-set-right-{step}"));
        let Some(collector) = start_with_clock(&folder, wrong) else { return };
        collector.send(0..100);
        collector.wait_for("stored", 100);
        set_clock(&folder, "+0");
        let steps = || collector.get("/metrics").contains("inband_clock_steps_total 1\n");
        let deadline = Instant::now() + Duration::from_secs(60);
        while !steps() {
            assert!(Instant::now() < deadline, "{}", collector.said());
            std::thread::sleep(Duration::from_millis(20));
        }
        collector.send(100..200);
        collector.wait_for("stored", 200);
        // Long enough to confirm a gap, and to end a silence.
        std::thread::sleep(Duration::from_millis(1_500));

        let counts = ["accepted", "lost", "lost_unknown", "late", "stored", "store_failed"];
        assert_eq!(counts.map(|key| collector.count(key)), [200, 0, 0, 0, 200, 0]);
        let kinds = ["sequence-reset", "report-loss", "silent-loss", "path-change", "clock-drift"];
        let events = collector.get("/api/v1/events");
        assert!(!kinds.iter().any(|kind| events.contains(kind)), "{events}");
        let nodes: Value = serde_json::from_str(&collector.get("/api/v1/nodes")).unwrap();
        let seen = nodes[0]["last_seen"].as_u64().unwrap();
        assert!(time_of_day().abs_diff(seen) < 60_000_000_000, "{nodes}");
        let metrics = collector.get("/metrics");
        let line = metrics.lines().find(|line| line.starts_with("inband_clock_last_step_seconds ")).unwrap();
        let told: f64 = line.split(' ').next_back().unwrap().parse().unwrap();
        assert!((told - f64::from(step)).abs() < 1.0, "{line}");
        let direction = if step > 0 { "forward" } else { "back" };
        assert!(
            collector.said().contains(&format!("the clock was set {direction} by ")),
            "{}",
            collector.said()
        );
        assert_eq!(collector.interrupt(), Some(0));

        let now = time_of_day();
        let asked = format!(
            "SELECT count(*) AS n, count(DISTINCT sequence) AS different, \
             max(CASE WHEN sequence >= 100 THEN abs({now} - time) / 60000000000 END) AS after, \
             min(CASE WHEN sequence < 100 THEN abs({now} - time) / 60000000000 END) AS before FROM observations"
        );
        let rows = folder.run_arguments(&["query", "--json", &asked]);
        let row: Value = serde_json::from_str(rows.stdout.trim()).expect(&rows.stderr);
        assert_eq!(
            (&row["n"], &row["different"], &row["after"]),
            (&200.into(), &200.into(), &0.into()),
            "{row}"
        );
        assert!(row["before"].as_u64().unwrap() >= 58, "{row}");
    }
}

#[test]
fn hostile_datagrams_at_full_rate_are_counted_and_good_ones_among_them_are_kept() {
    let folder = Folder::new("collect-hostile");
    let collector = Collector::start(&folder);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let good = report(7, 0);
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let mut sent = 0;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        let mut bytes = good.clone();
        for _ in 0..4 {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(noise >> 33).unwrap() % bytes.len();
            bytes[at] = noise.to_le_bytes()[7];
        }
        bytes.truncate(usize::try_from(noise >> 40).unwrap() % (bytes.len() + 1));
        if socket.send_to(&bytes, collector.reports).is_ok() {
            sent += 1;
        }
    }
    let count = wait_for_all(&collector, sent);
    assert_eq!(
        count("received"),
        count("malformed") + count("shed") + count("duplicate") + count("accepted")
    );
    assert!(count("malformed") > 0, "{sent} sent");

    let before = count("accepted");
    for sequence in 0..10 {
        socket.send_to(&report(4_242, sequence), collector.reports).unwrap();
    }
    assert_eq!(collector.wait_for("accepted", before + 10), before + 10);
    assert!(collector.peak_memory() < 300 << 20, "{} bytes", collector.peak_memory());
}

#[test]
fn spoofed_node_ids_stay_within_the_bounds() {
    let folder = Folder::new("collect-spoofed");
    let collector = Collector::start(&folder);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut bytes = report(1, 0);
    let mut sent = 0;
    for node_id in 0..300_000_u32 {
        bytes[4..8].copy_from_slice(&node_id.to_be_bytes());
        sent += u64::from(socket.send_to(&bytes, collector.reports).is_ok());
    }
    let count = wait_for_all(&collector, sent);
    assert_eq!(
        count("received"),
        count("malformed") + count("shed") + count("duplicate") + count("accepted")
    );
    assert!(collector.peak_memory() < 600 << 20, "{} bytes", collector.peak_memory());
    assert_eq!(collector.ask("/api/v1/nodes?limit=5").0, 200);
}

/// Starts a collector whose time of day is off by `offset` seconds; `None` if libfaketime is missing.
fn start_with_clock<'a>(folder: &'a Folder, offset: &str) -> Option<Collector<'a>> {
    if !std::path::Path::new(FAKETIME).exists() {
        eprintln!("skipped: libfaketime is not installed");
        return None;
    }
    set_clock(folder, offset);
    let fake = format!(
        "export LD_PRELOAD={FAKETIME} FAKETIME_TIMESTAMP_FILE=$PWD/time FAKETIME_NO_CACHE=1 \
         FAKETIME_DONT_FAKE_MONOTONIC=1"
    );
    // Without the offset the test would prove nothing.
    let date = format!("{fake}; date +%s > date");
    assert!(Command::new("sh").args(["-c", &date]).current_dir(folder.path("")).status().unwrap().success());
    let shown: i64 = std::fs::read_to_string(folder.path("date")).unwrap().trim().parse().unwrap();
    let now = i64::try_from(time_of_day() / 1_000_000_000).unwrap();
    let offset: i64 = offset.parse().unwrap();
    assert!((shown - now - offset).abs() < 10, "{shown} {now}");
    Some(Collector::start_with(folder, "", &format!("{fake}; exec \"$0\" \"$@\"")))
}

/// Sets the time of day of what `start_with_clock` has started; the file is replaced atomically.
fn set_clock(folder: &Folder, offset: &str) {
    std::fs::write(folder.path("time.new"), offset).unwrap();
    std::fs::rename(folder.path("time.new"), folder.path("time")).unwrap();
}

fn time_of_day() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since_1970.as_nanos()).unwrap()
}

/// Sends reports until `find` returns something.
fn until<T>(collector: &Collector<'_>, sent: &mut u32, find: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < deadline, "the disk does not fill: {}", collector.said());
        collector.send(*sent..*sent + 200);
        *sent += 200;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until each datagram was received or dropped by the kernel, and returns the counts.
fn wait_for_all(collector: &Collector<'_>, sent: u64) -> impl Fn(&str) -> u64 {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let ledger: Value = serde_json::from_str(&collector.get("/api/v1/ledger")).unwrap();
        let total = ledger["total"].clone();
        let count = move |key: &str| total[key].as_u64().unwrap();
        if count("received") + count("kernel_dropped") >= sent || Instant::now() > deadline {
            return count;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until every accepted report is stored or failed; returns both counts.
fn wait_until_settled(collector: &Collector<'_>) -> (u64, u64) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let counts = ["stored", "store_failed", "accepted_reports"].map(|key| collector.count(key));
        if counts[0] + counts[1] == counts[2] || Instant::now() > deadline {
            return (counts[0], counts[1]);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
