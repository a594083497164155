//! `inband query` returns what is stored, and reports errors.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;

use inband_model::{Flow, HopRecord, Nanos, NodeId};
use inband_store::{Batch, Offered, Store, StoreSettings};

use crate::folder::{Folder, Outcome};

/// A folder with a history of ten reports.
fn history(name: &str) -> Folder {
    let folder = Folder::new(name);
    let forever = std::time::Duration::from_secs(1 << 33);
    let settings =
        StoreSettings { path: folder.path("history"), retain: forever, ..StoreSettings::default() };
    let store = Store::open(settings).unwrap();
    let hop = |index: u32| HopRecord {
        received_at: Nanos(1_700_000_000_000_000_000 + u64::from(index)),
        node_id: NodeId(index % 2 + 1),
        hop_count: 1,
        latency: Some(Nanos(u64::from(index) * 100)),
        flow: Some(Flow::default()),
        ..HopRecord::default()
    };
    let offered = store.offer(Batch { hops: (0..10).map(hop).collect(), reports: 10, ..Batch::default() });
    assert_eq!(offered, Offered::Queued);
    store.close();
    folder
}

const P99: &str = "SELECT node_id, count(*) AS reports, quantile(hop_latency, 0.99) AS p99 FROM observations GROUP BY node_id";

#[test]
fn an_answer_is_a_table_json_lines_or_csv() {
    let folder = history("query");
    let ask = |options: &[&str]| {
        let arguments = [&["query", "--store", "history", P99], options].concat();
        let outcome = folder.run_arguments(&arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{options:?}");
        outcome.stdout
    };
    assert_eq!(ask(&[]), "node_id  reports  p99\n      1        5  800\n      2        5  900\n");
    assert_eq!(ask(&["--csv"]), "node_id,reports,p99\n1,5,800\n2,5,900\n");
    let json = ask(&["--json"]);
    assert_eq!(json.lines().next(), Some(r#"{"node_id":1,"reports":5,"p99":800}"#));
}

#[test]
fn damage_gives_3_is_named_on_stderr_and_the_rest_is_answered() {
    let folder = history("query-damaged");
    let hour = folder.path("history/observations/date=2023-11-14/hour=22");
    let segment = std::fs::read_dir(hour).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&segment).unwrap();
    // The first column, after the magic, is the time.
    bytes[40] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let ask =
        |arguments: &[&str]| folder.run_arguments(&[&["query", "--store", "history"], arguments].concat());

    let whole = ask(&["--csv", "SELECT count(node_id) AS n FROM observations"]);
    let damaged = ask(&["--csv", "SELECT count(time) AS n FROM observations"]);
    let checked = ask(&["--check"]);
    let checked_as_json = ask(&["--check", "--json"]);

    assert_eq!((whole.code, whole.stdout.as_str(), whole.stderr.as_str()), (0, "n\n10\n", ""));
    assert_eq!((damaged.code, damaged.stdout.as_str()), (3, "n\n0\n"));
    let place = ", row group 0, column time: its checksum is wrong; 10 rows left out\n";
    assert!(damaged.stderr.contains(place), "{}", damaged.stderr);
    assert_eq!((checked.code, checked.stderr.contains(place)), (3, true), "{}", checked.stderr);
    let row: serde_json::Value = serde_json::from_str(&checked_as_json.stdout).unwrap();
    let named = checked_as_json.stderr.matches("damaged: ").count();
    assert_eq!((checked_as_json.code, &row["damaged_places"]), (3, &named.into()), "{checked_as_json:?}");
}

#[test]
fn a_wrong_question_gives_2_and_the_nearest_name() {
    let folder = history("query-wrong");
    for (sql, message) in [
        (
            "SELECT hop_latencie FROM observations",
            "error: no such column: hop_latencie; did you mean hop_latency?\n",
        ),
        ("SELECT 1 FROM event", "error: no such table: event; did you mean events?\n"),
        ("DELETE FROM observations", "error: table observations may not be modified\n"),
        ("PRAGMA user_version", "error: history can be read and not written: ask with SELECT\n"),
    ] {
        let outcome = folder.run_arguments(&["query", "--store", "history", sql]);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()),
            (2, "", message),
            "{sql}"
        );
    }
    assert_eq!(folder.run("query").code, 2);
    assert_eq!(folder.run("query --store history --view duckdb --json").code, 2);
}

#[test]
fn what_cannot_be_answered_gives_1() {
    let folder = history("query-failed");
    let outcome = folder.run_arguments(&["query", "--store", "nowhere", "SELECT 1"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: there is no history in nowhere"), "{outcome:?}");
    let outcome = folder.run_arguments(&[
        "query",
        "--store",
        "history",
        "--row-limit",
        "3",
        "SELECT time FROM observations",
    ]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (1, "error: the answer has more than 3 rows; add LIMIT\n")
    );
}

#[test]
fn a_history_that_cannot_be_opened_is_not_called_missing() {
    let folder = history("query-closed");
    symlink("loop", folder.path("loop")).unwrap();
    let outcome = folder.run("query --store loop SELECT");
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: cannot open loop/log: Too many levels"), "{outcome:?}");

    fs::set_permissions(folder.path("history"), Permissions::from_mode(0o000)).unwrap();
    let mut command = folder.command("query --store history SELECT");
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let outcome = command.output();
    fs::set_permissions(folder.path("history"), Permissions::from_mode(0o755)).unwrap();
    // The program may be in a directory that this user cannot enter.
    let Ok(output) = outcome else { return };
    let outcome = Outcome::of(output);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("cannot open history/log: Permission denied"), "{outcome:?}");
}

#[test]
fn the_directory_may_come_from_the_collector_s_configuration() {
    let folder = history("query-config")
        .with("collector.toml", "[store]\npath = \"history\"\n")
        .with("bad.toml", "store.path = 7\n");
    let sql = "SELECT count(*) FROM observations";
    let outcome = folder.run_arguments(&["query", "-c", "collector.toml", "--csv", sql]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "count(*)\n10\n"), "{outcome:?}");
    let outcome = folder.run_arguments(&["query", "-c", "bad.toml", sql]);
    assert_eq!(
        (outcome.code, outcome.stderr.as_str()),
        (2, "error: bad.toml: store.path is a string, not 7\n")
    );
}

#[test]
fn names_come_from_a_file_or_from_the_collector_s_configuration() {
    let names = "[[node]]\nid = 1\nname = \"leaf1\"\n[[interface]]\nnode = 1\nid = 260\nname = \"5/0\"\n\
        [[host]]\naddress = \"10.0.1.1\"\nname = \"web\"\n[[subnet]]\nprefix = \"0.0.0.0/8\"\nname = \"rack 1\"\n";
    let folder = history("query-names")
        .with("names.toml", names)
        .with("collector.toml", "[store]\npath = \"history\"\n[names]\nfile = \"names.toml\"\n")
        .with("bad.toml", "[[node]]\nidd = 1\n");
    let sql = "SELECT node_name(node_id) AS node, interface_name(1, 260), address_name('10.0.1.1'), \
               address_name(source), count(*) FROM observations GROUP BY node_id";
    let known = "leaf1,5/0,web,rack 1,5\n,5/0,web,rack 1,5\n";
    for (options, expected) in [
        (&["--store", "history", "--names", "names.toml"][..], known),
        (&["-c", "collector.toml"], known),
        (&["--store", "history"], ",,,,5\n,,,,5\n"),
    ] {
        let outcome = folder.run_arguments(&[&["query", "--csv", sql], options].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{options:?}");
        assert_eq!(outcome.stdout.split_once('\n').unwrap().1, expected, "{options:?}");
    }
    let outcome = folder.run_arguments(&["query", "--store", "history", "--names", "bad.toml", "SELECT 1"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("bad.toml"), "{outcome:?}");
}

#[test]
fn the_tables_can_be_listed_for_programs() {
    let folder = Folder::new("query-tables-json");

    let json = folder.run("query --tables --json");
    let csv = folder.run("query --tables --csv");

    assert_eq!((json.code, csv.code), (0, 0), "{json:?}");
    let latency = "{\"table\":\"observations\",\"column\":\"hop_latency\",\"type\":\"integer, or null\",\
                   \"meaning\":\"nanoseconds\"}";
    assert!(json.stdout.lines().any(|line| line == latency), "{}", json.stdout);
    assert!(csv.stdout.starts_with("table,column,type,meaning\n"), "{}", csv.stdout);
    assert!(
        csv.stdout.contains("\nobservations,hop_latency,\"integer, or null\",nanoseconds\n"),
        "{}",
        csv.stdout
    );
    assert_eq!(json.stdout.lines().count() + 1, csv.stdout.lines().count());
}

#[test]
fn the_tables_can_be_listed() {
    let outcome = Folder::new("query-tables").run("query --tables");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for table in ["observations: ", "paths: ", "events: ", "ledger: ", "minutes: "] {
        assert!(outcome.stdout.lines().any(|line| line.starts_with(table)), "{table}: {}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("\n  hop_latency               integer, or null  nanoseconds\n"));
}
