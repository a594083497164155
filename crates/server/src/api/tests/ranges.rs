//! Answers count the hops of the time range that they state, from whatever table.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use inband_model::{HopRecord, Nanos, NodeId};
use inband_store::{Batch, Offered};
use serde_json::{Value, json};

use super::{System, open_store};
use crate::settings::ApiSettings;

#[test]
fn a_summary_counts_the_hops_and_drops_between_the_from_and_the_to_that_it_states() {
    let system = system("summary");
    for (from, to, step) in [
        (500, 999, "1s"),
        (500, 999, "100ms"),
        (900, 10_900, "1s"),
        (0, 60_000, "500ms"),
        (0, 60_000, "1s"),
        (250, 3 * HOUR_MS + 123, "5m"),
    ] {
        let summary = ask(&system, &format!("/api/v1/summary?{}&step={step}", range(from, to)));
        let (hops, drops, _) = counted(&system, &summary);
        let sum = |column: &str| total(&summary["steps"][column]);
        assert_eq!((sum("hops"), sum("drops")), (hops, drops), "{from} to {to}, {step}: {summary}");
        assert!(hops > 0 && is_around(&summary, from, to), "{summary}");
    }
}

#[test]
fn a_heat_map_of_all_counts_the_hops_between_the_from_and_the_to_that_it_states() {
    let system = system("heat");
    for (from, to, step, source) in [
        (500, 999, "1s", "totals"),
        (500, 999, "100ms", "observations"),
        (900, 10_900, "1s", "totals"),
        (250, 3 * HOUR_MS + 123, "5m", "totals"),
    ] {
        let heat = ask(&system, &format!("/api/v1/heat?of=latency&{}&step={step}", range(from, to)));
        let (_, _, latencies) = counted(&system, &heat);
        assert_eq!((&heat["count"], &heat["source"]), (&json!(latencies), &json!(source)), "{from} to {to}");
        assert!(latencies > 0 && is_around(&heat, from, to), "{heat}");
    }
}

#[test]
fn a_map_counts_the_hops_between_the_from_and_the_to_that_it_states() {
    let system = system("map");
    for (from, to, source) in [
        (500, 20_999, "observations"),
        (500, 10 * 60_000 + 999, "minutes"),
        (90_000, 5 * HOUR_MS + 999, "hours and minutes"),
        // Two days, which are more in whole minutes.
        (90_500, 90_500 + 48 * HOUR_MS, "hours"),
        (HOUR_MS / 2, 50 * HOUR_MS, "hours"),
        (HOUR_MS, 70 * HOUR_MS + HOUR_MS / 2, "hours"),
    ] {
        let map = ask(&system, &format!("/api/v1/map?by=reports&{}", range(from, to)));
        let (hops, drops, _) = counted(&system, &map);
        assert_eq!(map["source"], source, "{from} to {to}: {map}");
        let found = (total(&map["nodes"]["reports"]), total(&map["interfaces"]["drops"]));
        assert_eq!(found, (hops, drops), "{from} to {to}: {map}");
        assert!(hops > 0 && is_around(&map, from, to), "{map}");
    }
}

/// Hops, drop reports and latencies of `observations` in the time range that an answer states.
fn counted(system: &System, answer: &Value) -> (u64, u64, u64) {
    let (from, to) = (answer["from"].as_str().unwrap(), answer["to"].as_str().unwrap());
    let sql = format!(
        "SELECT sum(hop_count > 0), sum(dropped = 1 AND hop_index + 1 >= hop_count), count(hop_latency) \
         FROM observations WHERE time >= {from} AND time < {to}"
    );
    let (status, body) = system.send("post", "/api/v1/query", &[], &json!({ "sql": sql }).to_string());
    let rows: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status, 200, "{body}");
    let number = |at: usize| rows["rows"][0][at].as_u64().unwrap_or(0);
    (number(0), number(1), number(2))
}

/// Whether an answer is of all the time from `from` to `to`, and at most an hour more on either side.
fn is_around(answer: &Value, from: u64, to: u64) -> bool {
    let stated = |key: &str| answer[key].as_str().unwrap().parse::<u64>().unwrap();
    let (from, to) = (at(from), at(to));
    (from - HOUR_MS * 1_000_000..=from).contains(&stated("from"))
        && (to..=to + HOUR_MS * 1_000_000).contains(&stated("to"))
}

fn total(column: &Value) -> u64 {
    column.as_array().unwrap().iter().filter_map(Value::as_u64).sum()
}

fn range(from_ms: u64, to_ms: u64) -> String {
    format!("from={}&to={}", at(from_ms), at(to_ms))
}

fn at(ms: u64) -> u64 {
    *START_NS + ms * 1_000_000
}

fn ask(system: &System, path: &str) -> Value {
    let (status, body) = system.get(path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// A collector with a history of three days: many reports in its first minute, and some in every hour. Every
/// seventh report has no hop, and every fifth is of a drop.
fn system(name: &str) -> System {
    let folder: PathBuf = std::env::temp_dir().join(format!("inband-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let store = open_store(&folder).unwrap();
    let first = (0..60_000).step_by(70);
    let later = (0..75 * HOUR_MS).step_by(17 * 60_000 + 333);
    let hop = |(number, ms): (u32, u64)| {
        let is_hop = number % 7 > 0;
        HopRecord {
            received_at: Nanos(at(ms)),
            sequence: number,
            hop_count: u8::from(is_hop),
            dropped: number % 5 == 0,
            node_id: NodeId(1 + number % 3),
            reporter: NodeId(1 + number % 3),
            egress_interface: is_hop.then_some(4),
            latency: is_hop.then(|| Nanos(u64::from(number) * 10)),
            ..HopRecord::default()
        }
    };
    let mut times: Vec<u64> = first.chain(later).collect();
    times.sort_unstable();
    let hops = (0..).zip(times).map(hop).collect();
    assert_eq!(store.offer(Batch { hops, reports: 1, ..Batch::default() }), Offered::Queued);
    store.sync();
    store.close();
    System::start_in(folder, ApiSettings::default())
}

const HOUR_MS: u64 = 3_600_000;
/// The start of an hour, a little more than three days ago: older history than a week is removed.
static START_NS: LazyLock<u64> = LazyLock::new(|| {
    let hours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 3_600;
    (hours - 80) * HOUR_MS * 1_000_000
});
