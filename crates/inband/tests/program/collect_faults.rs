//! Does the collector's ledger balance, and its memory stay bounded, whatever goes wrong around it?

use std::net::UdpSocket;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::collector::{Collector, report};
use crate::folder::Folder;

/// Files of at most 64 blocks of 512 bytes: to the program that is a full disk. The signal that would end it is
/// ignored, which it inherits.
pub(crate) const FULL_DISK: &str = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";

/// Gives a program another time of day than the machine has.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

#[test]
fn a_full_disk_is_told_and_every_report_is_stored_or_counted_as_failed() {
    let folder = Folder::new("collect-full-disk");
    let collector = Collector::start_with(&folder, "", FULL_DISK);
    assert_eq!(collector.ask("/readyz").0, 200);
    // What is small may still fit, and then the disk is well for a moment.
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
    // Nothing can be made in the place of a file.
    std::fs::write(&history, b"").unwrap();
    let removed = Instant::now();
    let within = |what: &str, is_so: &dyn Fn() -> bool| {
        while !is_so() {
            assert!(removed.elapsed() < Duration::from_secs(5), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
        removed.elapsed()
    };

    let ready = within("/readyz", &|| collector.ask("/readyz").0 == 503);
    let event = within("an event", &|| collector.get("/api/v1/events").contains("history-trouble"));
    within("stderr", &|| collector.said().contains("history: "));

    // A second, and what a busy machine takes to answer.
    assert!(ready.max(event) < Duration::from_secs(3), "{ready:?} {event:?}");
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
    assert_eq!(collector.ask("/readyz").0, 503);
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
    // Across the wrap: one is missing, one comes twice, two change places.
    collector.send([last - 2, last - 1, last, 0, 2, 3, 3, 5, 4, 6]);
    collector.wait_for("received", 10);
    let deadline = Instant::now() + Duration::from_secs(20);
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
    std::thread::sleep(Duration::from_millis(400));

    assert_eq!(["accepted", "lost"].map(|key| collector.count(key)), [150, 0]);
    let events: Value = serde_json::from_str(&collector.get("/api/v1/events")).unwrap();
    let text = events.to_string();
    assert!(text.contains("sequence-reset"), "{text}");
}

#[test]
fn a_clock_that_is_set_forward_and_back_costs_nothing_and_tells_of_nothing() {
    let folder = Folder::new("collect-clock");
    let time = |offset: &str| std::fs::write(folder.path("time"), offset).unwrap();
    time("+0");
    if !std::path::Path::new(FAKETIME).exists() {
        eprintln!("skipped: libfaketime is not installed");
        return;
    }
    let fake = format!(
        "export LD_PRELOAD={FAKETIME} FAKETIME_TIMESTAMP_FILE=$PWD/time FAKETIME_NO_CACHE=1 \
         FAKETIME_DONT_FAKE_MONOTONIC=1"
    );
    // Otherwise this would show nothing.
    let date =
        format!("{fake}; before=$(date +%s); echo +864000 > time; echo $(($(date +%s) - before)) > step");
    assert!(Command::new("sh").args(["-c", &date]).current_dir(folder.path("")).status().unwrap().success());
    let step = std::fs::read_to_string(folder.path("step")).unwrap();
    assert!(step.trim().parse::<u32>().unwrap() >= 864_000, "{step}");
    time("+0");
    let collector = Collector::start_with(&folder, "", &format!("{fake}; exec \"$0\" \"$@\""));
    for (round, offset) in ["+864000", "-864000", "+31536000", "+0"].into_iter().enumerate() {
        let first = u32::try_from(round).unwrap() * 200;
        collector.send(first..first + 100);
        time(offset);
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
    let asked = folder.run_arguments(&[
        "query",
        "--json",
        "SELECT count(*) AS n, (max(time) - min(time)) / 60000000000 AS minutes FROM observations",
    ]);
    assert_eq!(asked.stdout.trim(), "{\"n\":800,\"minutes\":0}", "{}", asked.stderr);
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

/// Sends reports until something is found.
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

/// Waits until each datagram was received or dropped by the kernel, and gives the counts.
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

/// Waits until no report is on its way to the disk; gives how many were stored and failed.
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
