//! `inband collect` counts every report, stores it, and reports errors.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::collector::Collector;
use crate::folder::Folder;

#[test]
fn a_capture_is_counted_stored_and_can_be_asked() {
    let folder = Folder::new("collect-replay");
    let capture = vector("report_v2_0.pcap");
    let outcome = folder.run_arguments(&["collect", "--read", capture.to_str().unwrap(), "--json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let ledger: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let count = |key: &str| ledger["total"][key].as_u64().unwrap();
    assert!(count("accepted") > 0 && count("malformed") > 0, "{ledger}");
    assert_eq!(
        count("received"),
        count("accepted") + count("malformed") + count("shed") + count("duplicate")
    );
    assert_eq!((count("stored"), count("store_failed")), (count("accepted_reports"), 0));

    let sql =
        "SELECT count(DISTINCT sequence || '/' || report_index || '/' || reporter) AS n FROM observations";
    let asked = folder.run_arguments(&["query", "--json", sql]);
    assert_eq!(asked.stdout.trim(), format!("{{\"n\":{}}}", count("accepted_reports")), "{}", asked.stderr);
}

#[test]
fn what_is_in_front_of_a_cut_in_a_capture_is_counted_stored_and_told() {
    let whole = std::fs::read(vector("report_v2_0.pcap")).unwrap();
    let folder = Folder::new("collect-cut").with("cut.pcap", &whole[..whole.len() - 7]);
    let all = Folder::new("collect-uncut").with("all.pcap", &whole);
    let count = |json: &str, key: &str| {
        let ledger: Value = serde_json::from_str(json).unwrap();
        ledger["total"][key].as_u64().unwrap()
    };

    let cut = folder.run("collect --read cut.pcap --json");
    let uncut = all.run("collect --read all.pcap --json");

    assert_eq!((cut.code, uncut.code), (1, 0), "{}{}", cut.stderr, uncut.stderr);
    assert!(cut.stderr.contains("capture ends inside a pcap record at byte"), "{}", cut.stderr);
    assert_eq!(count(&cut.stdout, "received"), count(&uncut.stdout, "received") - 1);
    assert_eq!(count(&cut.stdout, "stored"), count(&cut.stdout, "accepted_reports"));
    assert_eq!(folder.run("collect --read nothing.pcap --json").stdout, "");
}

#[test]
fn the_reasons_of_malformed_datagrams_are_told_and_add_up() {
    let folder =
        Folder::new("collect-reasons").with("all.pcap", std::fs::read(vector("report_v2_0.pcap")).unwrap());
    let outcome = folder.run("collect --read all.pcap --json");
    let ledger: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let reasons = ledger["malformed"].as_array().unwrap();
    assert!(!reasons.is_empty(), "{ledger}");
    let sum: u64 = reasons.iter().map(|reason| reason["count"].as_u64().unwrap()).sum();
    assert_eq!(sum, ledger["total"]["malformed"].as_u64().unwrap());
    for reason in reasons {
        let told = format!("- {}: {}", reason["header"].as_str().unwrap(), reason["fault"].as_str().unwrap());
        assert!(outcome.stderr.contains(&told), "{told} is not in\n{}", outcome.stderr);
    }
    let kept = folder.run_arguments(&["query", "--json", "SELECT max(received) AS n FROM ledger"]);
    assert_eq!(kept.stdout.trim(), format!("{{\"n\":{}}}", ledger["total"]["received"]), "{}", kept.stderr);
}

#[test]
fn a_datagram_in_fragments_is_passed_over_with_a_word() {
    // The first 16 bytes of a UDP datagram of 60, with "more fragments" set, and the rest.
    let first = "45000024 00012000 40110000 0a090001 0a090002 15b37ffe 003c0000 20000000 00000007";
    let rest = "45000040 00010002 40110000 0a090001 0a090002";
    let packets = [inband_testkit::hex(first), [inband_testkit::hex(rest), vec![0; 44]].concat()];
    let mut capture = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    for packet in packets {
        let length = u32::try_from(packet.len()).unwrap();
        capture.extend([1, 0, length, length].map(u32::to_le_bytes).concat());
        capture.extend(packet);
    }
    let folder = Folder::new("collect-fragments").with("reports.pcap", capture);
    let outcome = folder.run("collect --read reports.pcap --json");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 datagram in fragments"), "{}", outcome.stderr);
}

#[test]
fn a_terminal_that_goes_ends_the_collector_as_sigterm_does_but_not_under_nohup() {
    let folder = Folder::new("collect-hang-up");
    let collector = Collector::start(&folder);
    collector.send(0..20);
    collector.wait_for("accepted", 20);
    assert_eq!(collector.signal("HUP"), Some(0));
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), "{\"n\":20}", "{}", asked.stderr);

    let collector = Collector::start_with(&folder, "", "trap '' HUP; exec \"$0\" \"$@\"");
    collector.tell("HUP");
    collector.send(20..30);
    assert_eq!(collector.wait_for("accepted", 10), 10);
    assert_eq!(collector.interrupt(), Some(0));
}

#[test]
fn reports_of_older_versions_come_in_by_the_same_door() {
    for (name, version) in [("report_v0_5", "0.5"), ("report_v1_0", "1.0"), ("host_int", "0.5")] {
        let folder = Folder::new(&format!("collect-{name}"));
        let capture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/vectors/{name}.pcap"));
        let outcome = folder.run_arguments(&["collect", "--read", capture.to_str().unwrap(), "--json"]);
        let ledger: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let versions: Vec<_> =
            ledger["streams"].as_array().unwrap().iter().map(|s| s["version"].clone()).collect();
        assert!(versions.contains(&version.into()), "{name}: {ledger}");
    }
}

#[test]
fn what_departs_from_the_formats_is_accepted_where_that_is_wanted() {
    let text = include_str!("../../../../testdata/packets/dialect-cablelabs-report.hex");
    let bytes = inband_testkit::hex(text);
    let length = u32::try_from(bytes.len()).unwrap();
    let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1, 0, 0, length, length].map(u32::to_le_bytes);
    let capture = [header.concat(), bytes].concat();
    for lenient in [false, true] {
        let settings = format!("[receive]\nlenient = {lenient}\n[store]\npath = \"\"\n");
        let folder =
            Folder::new("collect-lenient").with("reports.pcap", &capture).with("collector.toml", settings);
        let outcome = folder.run("collect -c collector.toml --read reports.pcap --report-port 556 --json");
        let ledger: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(ledger["total"]["accepted"], u64::from(lenient), "{ledger}");
        assert_eq!(ledger["total"]["malformed"], u64::from(!lenient), "{ledger}");
    }
}

#[test]
fn the_settings_that_are_printed_are_accepted() {
    let folder = Folder::new("collect-print");
    let printed = folder.run_arguments(&["collect", "--print-config"]);
    for line in [
        "listen = [\"127.0.0.1:32766\"]",
        "workers = 1",
        "listen = \"127.0.0.1:8080\"",
        "token = \"\"",
        "path = \"inband-data\"",
        "max_size = \"20GB\"",
    ] {
        assert!(printed.stdout.lines().any(|found| found == line), "{line} is not in\n{}", printed.stdout);
    }
    std::fs::write(folder.path("collector.toml"), &printed.stdout).unwrap();
    let again = folder.run_arguments(&["collect", "-c", "collector.toml", "--print-config"]);
    assert_eq!((again.code, again.stdout), (0, printed.stdout));
}

#[test]
fn settings_are_not_printed_as_json() {
    let printed = Folder::new("collect-print-json").run("collect --print-config --json");
    assert_eq!((printed.code, printed.stdout.as_str()), (2, ""), "{}", printed.stderr);
}

#[test]
fn values_out_of_their_range_are_refused() {
    for (text, message) in [
        (
            "[ledger]\nreorder_window = 1\n",
            "collector.toml:2:18: ledger.reorder_window is 1, expected 64 to 65536",
        ),
        (
            "[receive]\nqueue_bytes = 0\n",
            "collector.toml:2:15: receive.queue_bytes is 0, expected at least 65536",
        ),
        ("[names]\nfile = \"names.toml\"\n", "names.toml:1:1: [[host]] 10.0.0.1 is given twice"),
    ] {
        let host = "[[host]]\naddress = \"10.0.0.1\"\nname = \"x\"\n";
        let folder = Folder::new("collect-ranges")
            .with("collector.toml", text)
            .with("names.toml", format!("{host}{host}"));
        for command in ["collect -c", "doctor --config"] {
            let outcome = folder.run(&format!("{command} collector.toml"));
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command}: {outcome:?}");
            assert!(outcome.stderr.contains(message), "{command}: {}", outcome.stderr);
        }
        assert!(!folder.path("inband-data").exists(), "{text}");
    }
}

#[test]
fn a_mistake_names_the_line_and_the_nearest_key() {
    let folder = Folder::new("collect-mistake");
    std::fs::write(folder.path("collector.toml"), "[receive]\nlisten = []\nworker = 2\n").unwrap();
    let outcome = folder.run_arguments(&["collect", "-c", "collector.toml"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.starts_with(
            "error: collector.toml:3:1: unknown key `worker` in [receive]; did you mean `workers`?"
        ),
        "{}",
        outcome.stderr
    );
    std::fs::write(
        folder.path("open.toml"),
        "[api]\nlisten = \"0.0.0.0:0\"\n[receive]\nlisten = [\"127.0.0.1:0\"]\n",
    )
    .unwrap();
    let outcome = folder.run_arguments(&["collect", "-c", "open.toml"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("api.token must not be empty"), "{}", outcome.stderr);
}

#[test]
fn what_was_sent_before_the_end_is_stored_and_kill_loses_nothing_that_was_told_as_stored() {
    let folder = Folder::new("collect-live");
    let collector = Collector::start(&folder);
    collector.send(0..200);
    assert_eq!(collector.wait_for("stored", 200), 200);
    collector.kill();
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), "{\"n\":200}", "{}", asked.stderr);

    // The next one recovers what the killed one left.
    let collector = Collector::start(&folder);
    collector.send(200..250);
    collector.wait_for("accepted", 50);
    assert_eq!(collector.interrupt(), Some(0));
    let asked = folder.run_arguments(&["query", "--json", "SELECT count(*) AS n FROM observations"]);
    assert_eq!(asked.stdout.trim(), "{\"n\":250}", "{}", asked.stderr);
}

#[test]
fn a_webhook_that_nobody_answers_costs_no_report_and_is_told() {
    let folder = Folder::new("collect-webhook");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hook =
        format!("[[webhook]]\nurl = \"http://{nobody}/\"\nseverity = \"info\"\nattempts = 2\npause_ms = 1\n");
    let collector = Collector::start_with(&folder, &hook, "exec \"$0\" \"$@\"");
    collector.send(0..50);
    assert_eq!(collector.wait_for("stored", 50), 50);
    assert!(collector.wait_for("export_failed", 1) > 0);
    let ledger: Value = serde_json::from_str(&collector.get("/api/v1/ledger")).unwrap();
    let output = &ledger["exports"][0];
    assert_eq!((&output["output"], &output["exported"]), (&Value::from("webhook-1"), &Value::from(0)));
    assert!(output["trouble"].as_str().unwrap().contains("refused"), "{output}");
    let metrics = collector.get("/metrics");
    let line = "inband_export_failed_total{output=\"webhook-1\",reason=\"gave-up\"}";
    assert!(
        metrics.contains(line) && metrics.contains("inband_export_up{output=\"webhook-1\"} 0"),
        "{metrics}"
    );
    // The rate of a series that has just appeared is unknown.
    assert!(metrics.contains("inband_export_failed_total{output=\"webhook-1\",reason=\"queue-full\"} 0\n"));
    assert!(collector.said().contains("webhook-1: "), "{}", collector.said());
    assert_eq!(collector.interrupt(), Some(0));
}

#[test]
fn an_output_that_cannot_be_is_told_before_anything_starts() {
    let folder = Folder::new("collect-outputs");
    for (settings, said) in [
        ("[[webhook]]\nurl = \"nowhere\"\n", "webhook-1: url = \"nowhere\""),
        (
            "[[webhook]]\nurl = \"http://a/\"\nname = \"x\"\n[[webhook]]\nurl = \"http://b/\"\nname = \"x\"\n",
            "named \"x\"",
        ),
        ("[[webhook]]\nulr = \"\"\n", "did you mean `url`?"),
    ] {
        let anywhere =
            "[receive]\nlisten = [\"127.0.0.1:0\"]\n[api]\nlisten = \"127.0.0.1:0\"\n[store]\npath = \"\"\n";
        std::fs::write(folder.path("collector.toml"), format!("{anywhere}{settings}")).unwrap();
        let outcome = folder.run_arguments(&["collect", "-c", "collector.toml"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn promtool_accepts_the_metrics_and_the_alerts() {
    let alerts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/prometheus-alerts.yml");
    let Ok(rules) = Command::new("promtool").args(["check", "rules", alerts]).output() else {
        eprintln!("skipped: promtool is not there (Debian has it in the package prometheus)");
        return;
    };
    assert!(rules.status.success(), "{}", String::from_utf8_lossy(&rules.stderr));
    let folder = Folder::new("collect-promtool");
    let hook = "[[webhook]]\nurl = \"http://127.0.0.1:1/\"\n";
    let collector = Collector::start_with(&folder, hook, "exec \"$0\" \"$@\"");
    collector.send(0..20);
    collector.wait_for("stored", 20);
    let metrics = collector.get("/metrics");
    collector.kill();
    assert!(metrics.contains("inband_node_reports_total{node=\"7\"} 20"), "{metrics}");
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let checked = promtool.wait_with_output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn the_dashboard_shows_metrics_that_there_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let folder = Folder::new("collect-dashboard").with("names.toml", "[[node]]\nid = 7\nname = 'leaf'\n");
    let settings = "[names]\nfile = \"names.toml\"\n[[webhook]]\nurl = \"http://127.0.0.1:1/\"\n";
    let collector = Collector::start_with(&folder, settings, "exec \"$0\" \"$@\"");
    collector.send(0..5);
    collector.wait_for("stored", 5);
    let metrics = collector.get("/metrics");

    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let alerts = include_str!("../../../../examples/prometheus-alerts.yml");
    let expressions: Vec<&str> =
        targets.map(|target| target["expr"].as_str().unwrap()).chain([alerts]).collect();
    assert!(expressions.len() > 15, "{expressions:?}");
    for expression in expressions {
        let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let used: Vec<&str> = words.filter(|word| word.starts_with("inband_")).collect();
        assert!(!used.is_empty(), "{expression}");
        for metric in used {
            assert!(
                metrics.contains(&format!("# TYPE {metric} ")),
                "{metric}, of `{expression}`, is not told"
            );
        }
    }
    let mut places: Vec<_> = panels.iter().map(|panel| panel["gridPos"].to_string()).collect();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), panels.len());
}

#[test]
fn root_becomes_the_user_of_the_settings_for_good() {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    let folder = Folder::new("collect-user");
    let data = std::env::temp_dir().join(format!("inband-user-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).unwrap();
    let settings = format!("[process]\nuser = \"nobody\"\n[store]\npath = \"{}\"\n", data.display());

    let collector = Collector::start_with(&folder, &settings, "exec \"$0\" \"$@\"");
    collector.send(0..10);
    let stored = collector.wait_for("stored", 10);
    let status = collector.status();

    assert_eq!(stored, 10);
    assert!(collector.said().contains("running as nobody"), "{}", collector.said());
    for line in ["Uid:\t65534\t65534\t65534\t65534", "CapEff:\t0000000000000000"] {
        assert!(status.contains(line), "{status}");
    }
    collector.kill();
    std::fs::remove_dir_all(&data).unwrap();

    let settings = "[process]\nuser = \"no-such-user\"\n[receive]\nlisten = [\"127.0.0.1:0\"]\n[api]\nlisten = \"127.0.0.1:0\"\n";
    let folder = Folder::new("collect-no-user").with("collector.toml", settings);
    let outcome = folder.run_arguments(&["collect", "-c", "collector.toml"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("there is no such user"), "{}", outcome.stderr);
}

/// A capture of the vectors.
#[test]
fn the_store_of_another_user_may_lie_below_directories_of_root() {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    let folder = Folder::new("collect-user-below-root");
    let root = std::env::temp_dir().join(format!("inband-of-root-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    // Only root can create anything in there.
    std::fs::create_dir_all(&root).unwrap();
    std::fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let data = root.join("lib/inband/data");
    let settings = format!("[process]\nuser = \"nobody\"\n[store]\npath = \"{}\"\n", data.display());

    let collector = Collector::start_with(&folder, &settings, "exec \"$0\" \"$@\"");
    collector.send(0..10);

    assert_eq!(collector.wait_for("stored", 10), 10);
    let owner = |path: &Path| std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).unwrap());
    assert_eq!((owner(&root), owner(&root.join("lib")), owner(&data)), (0, 65_534, 65_534));
    assert_eq!(collector.interrupt(), Some(0));
    std::fs::remove_dir_all(&root).unwrap();
}

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/vectors").join(name)
}
