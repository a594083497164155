//! Answers from roll-ups, after hops have expired.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inband_model::Nanos;
use inband_store::{Cell, Sizes, Sketch, Spread};
use serde_json::{Value, json};

use super::System;
use super::made::{self, Answers};

/// A history with only roll-ups: some rows of tables, for any query.
#[derive(Debug)]
struct Left(Vec<(&'static str, Vec<Cell>)>);

impl Answers for Left {
    fn rows(&self, sql: &str, _: &AtomicBool) -> Vec<Vec<Cell>> {
        let is_of = |table: &str| sql.contains(&format!(" FROM {table} WHERE"));
        self.0.iter().filter(|(table, _)| is_of(table)).map(|(_, row)| row.clone()).collect()
    }

    fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::new();
        for (_, row) in self.0.iter().filter(|(table, _)| *table == "minutes") {
            let [Cell::Integer(minute), Cell::Text(sketch)] = row.as_slice() else { continue };
            let counts = sizes.entry(Nanos(minute.cast_unsigned())).or_insert([0; Spread::SIZES as usize]);
            for (value, count) in Sketch::parse(sketch).unwrap().values() {
                counts[usize::from(Spread::size(value))] += count;
            }
        }
        sizes
    }

    fn oldest_of(&self, table: &str) -> Option<Nanos> {
        // Written by an earlier version, without totals.
        (table == "observations").then_some(Nanos::ZERO)
    }
}

fn ask(rows: Vec<(&'static str, Vec<Cell>)>, path: &str) -> Value {
    ask_of(&made::start(Arc::new(Left(rows))), path)
}

fn ask_of(system: &System, path: &str) -> Value {
    let (status, body) = system.get(path);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn a_queue_is_answered_for_out_of_its_bursts() {
    let flows = json!([
        { "id": "77", "source": "10.0.0.1", "destination": "10.0.0.2", "protocol": 6, "source_port": 5,
          "destination_port": 6, "reports": 2, "latency_max": 900 },
        { "id": "78", "source": "10.0.0.3", "destination": "10.0.0.2", "protocol": 6, "source_port": 7,
          "destination_port": 6, "reports": 1, "latency_max": 100 },
    ]);
    let burst = |samples: &str| {
        let text = |text: &str| Cell::Text(text.to_owned());
        vec![
            Cell::Integer(1_000_000),
            Cell::Integer(5_000),
            Cell::Integer(1),
            text(samples),
            text(&flows.to_string()),
        ]
    };
    // A congestion episode, a microburst within it, a damaged part, and an episode after the requested time
    // range.
    let rows = vec![
        ("bursts", burst("0:40:800:0 10:50:900:0 20:-:100:1")),
        ("bursts", burst("10:50:900:0 x:1:1:1  :: 99999999:60:1:0")),
    ];

    let found = ask(rows, "/api/v1/queues/timeline?node=7&interface=2&queue=0&from=1000000&to=2000000");

    assert_eq!((&found["source"], &found["reports"]), (&json!("bursts"), &json!(3)), "{found}");
    assert_eq!((&found["clock"], &found["base"]), (&json!("node"), &json!("5000")), "{found}");
    assert_eq!(found["samples"]["offset"], json!([0, 10, 20]), "{found}");
    assert_eq!(found["samples"]["occupancy"], json!([40, 50, null]), "{found}");
    assert_eq!(found["samples"]["flow"], json!([0, 0, 1]), "{found}");
    let flows: Vec<_> =
        [0, 1].map(|at| &found["flows"][at]).into_iter().map(|flow| &flow["source"]).collect();
    assert_eq!(flows, [&json!("10.0.0.1"), &json!("10.0.0.3")], "{found}");
}

#[test]
fn what_seconds_do_not_tell_of_a_minute_is_spread_over_it() {
    let minute = 60_000_000_000;
    let rows = vec![
        ("minutes", vec![Cell::Integer(minute), sketch(&[(1_000, 60), (1_000_000, 5)])]),
        ("seconds", vec![Cell::Integer(minute + 13_000_000_000), sketch(&[(1_000_000, 5)])]),
    ];

    let found = ask(rows, "/api/v1/heat?from=60000000000&to=3660000000000&step=10s");

    assert_eq!((&found["source"], &found["count"]), (&json!("seconds"), &json!(65)), "{found}");
    // Ten in each step, and the five slow ones in their own step.
    let expected = [(0, 10), (1, 5), (1, 10), (2, 10), (3, 10), (4, 10), (5, 10)];
    assert_eq!(cells(&found), expected, "{found}");
}

#[test]
fn of_a_minute_in_which_the_time_range_begins_the_part_from_there_on_counts() {
    let minute = 60_000_000_000;
    let rows = vec![
        ("minutes", vec![Cell::Integer(minute), sketch(&[(1_000, 60), (1_000_000, 7)])]),
        ("seconds", vec![Cell::Integer(minute + 13_000_000_000), sketch(&[(1_000_000, 4)])]),
        ("seconds", vec![Cell::Integer(minute + 53_000_000_000), sketch(&[(1_000_000, 3)])]),
    ];

    let by_second = ask(rows.clone(), "/api/v1/heat?from=90000000000&to=3660000000000&step=10s");
    let by_minute = ask(rows, "/api/v1/heat?from=90000000000&to=3690000000000&step=1m");

    let expected = [(0, 10), (1, 10), (2, 3), (2, 10)];
    assert_eq!(cells(&by_second), expected, "{by_second}");
    assert_eq!((&by_minute["source"], cells(&by_minute)), (&json!("minutes"), vec![(0, 4), (0, 30)]));
}

#[test]
fn of_a_minute_in_which_the_time_range_ends_the_part_up_to_there_counts() {
    let minute = 60_000_000_000;
    let last = 60 * minute;
    let rows = vec![
        ("minutes", vec![Cell::Integer(last), sketch(&[(1_000, 60), (1_000_000, 9)])]),
        ("seconds", vec![Cell::Integer(last + 13_000_000_000), sketch(&[(1_000_000, 6)])]),
        ("seconds", vec![Cell::Integer(last + 53_000_000_000), sketch(&[(1_000_000, 3)])]),
    ];

    // Twenty seconds of the last minute.
    let by_second = ask(rows.clone(), "/api/v1/heat?from=60000000000&to=3620000000000&step=10s");
    let by_minute = ask(rows, "/api/v1/heat?from=60000000000&to=3620000000000&step=1m");

    assert_eq!(cells(&by_second), [(354, 10), (355, 6), (355, 10)], "{by_second}");
    assert_eq!((&by_minute["source"], cells(&by_minute)), (&json!("minutes"), vec![(59, 3), (59, 20)]));
}

#[test]
fn of_the_running_minute_everything_so_far_counts() {
    let second = 1_000_000_000;
    let system = made::start(Arc::new(Left(Vec::new())));
    let now: u64 = ask_of(&system, "/api/v1/about")["now"].as_str().unwrap().parse().unwrap();
    drop(system);
    let running = now - now % (60 * second);
    let rows = vec![("minutes", vec![Cell::Integer(running.cast_signed()), sketch(&[(1_000, 60)])])];

    let to = now + 3 * second;
    let found = ask(rows, &format!("/api/v1/heat?from={}&to={to}&step=1m", to - 3_600 * second));

    assert_eq!((&found["source"], &found["count"]), (&json!("minutes"), &json!(60)), "{found}");
}

/// Step and count of each cell.
fn cells(found: &Value) -> Vec<(u64, u64)> {
    let columns = |name: &str| {
        let column = found["columns"][name].as_array().unwrap().clone();
        column.into_iter().map(|value| value.as_u64().unwrap()).collect::<Vec<_>>()
    };
    let mut cells: Vec<(u64, u64)> = columns("step").into_iter().zip(columns("count")).collect();
    cells.sort_unstable();
    cells
}

fn sketch(values: &[(u64, usize)]) -> Cell {
    let mut sketch = Sketch::default();
    values.iter().for_each(|(value, count)| (0..*count).for_each(|_| sketch.add(*value)));
    Cell::Text(sketch.to_text())
}
