use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::{answer, parse};
use crate::batch::Batch;
use crate::budget::Budget;
use crate::history::History;
use crate::question::{Answer, Cell, Limits, QueryError};
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::settings::StoreSettings;
use crate::sql::names::{Naming, NoNames};
use crate::store::{Offered, Store};

/// Random hops in segments of an earlier hour, of this one, and in a log.
fn store(folder: &Folder, seed: u64, count: u64) -> Store {
    let store = Store::open(StoreSettings { segment_rows: 200, ..folder.settings() }).unwrap();
    let mut numbers = Numbers(seed);
    for _ in 0..count.div_ceil(50) {
        let hop = |numbers: &mut Numbers| {
            let at = START.0 + numbers.below(7_200_000_000_000);
            any_hop(numbers, inband_model::Nanos(at))
        };
        let hops = (0..50).map(|_| hop(&mut numbers)).collect();
        assert_eq!(store.offer(Batch { hops, reports: 50, ..Batch::default() }), Offered::Queued);
        store.sync();
    }
    store
}

/// The answer of column-wise execution; `None` if SQLite has to answer.
fn fast(history: &History, sql: &str, limits: Limits) -> Option<Result<Answer, QueryError>> {
    answer(history, sql, &Arc::new(Budget::new(limits)), limits)
}

/// The answer of SQLite.
fn by_row(history: &History, sql: &str) -> Result<Answer, QueryError> {
    let names: Arc<dyn Naming> = Arc::new(NoNames);
    let limits = Limits::default();
    history.query_by_row(sql, &Arc::new(Budget::new(limits)), limits, &names)
}

fn texts(answer: &Answer) -> Vec<String> {
    answer.rows.iter().map(|row| format!("{row:?}")).collect()
}

const NUMBERS: [&str; 10] = [
    "time",
    "hop_index",
    "node_id",
    "egress_interface",
    "hop_latency",
    "queue_occupancy",
    "ingress_timestamp",
    "egress_timestamp",
    "dropped",
    "flow_id",
];
const TEXTS: [&str; 3] = ["source", "origin", "destination"];

fn pick<'a>(numbers: &mut Numbers, of: &[&'a str]) -> &'a str {
    of[usize::try_from(numbers.below(of.len() as u64)).unwrap()]
}

fn key(numbers: &mut Numbers) -> String {
    match numbers.below(6) {
        0 => format!("bucket(time, '{}m')", 1 + numbers.below(90)),
        1 => format!("{} % {}", pick(numbers, &NUMBERS), numbers.below(5)),
        2 => format!("{} / {}", pick(numbers, &NUMBERS), numbers.below(3) * 1_000),
        3 => pick(numbers, &TEXTS).to_owned(),
        _ => pick(numbers, &NUMBERS).to_owned(),
    }
}

fn aggregate(numbers: &mut Numbers) -> String {
    let of = pick(numbers, &NUMBERS);
    match numbers.below(10) {
        0 => "count(*)".to_owned(),
        1 => format!("count({})", pick(numbers, &TEXTS)),
        2 => format!("count(DISTINCT {})", pick(numbers, &TEXTS)),
        3 => format!("count(distinct {of})"),
        4 => format!("min({of})"),
        5 => format!("max({of} % 1000)"),
        6 => format!("sum({of} % 100000)"),
        7 => format!("avg({of} % 100000)"),
        _ => format!("quantile({of}, 0.{})", numbers.below(100)),
    }
}

fn filter(numbers: &mut Numbers) -> String {
    let of = pick(numbers, &NUMBERS);
    let some = numbers.next() >> 1 >> numbers.below(63);
    match numbers.below(11) {
        0 => format!("{of} IS NULL"),
        1 => format!("{of} is not null"),
        2 => format!("{of} BETWEEN {} AND {some}", some / 3),
        3 => format!("time >= {}", START.0 + numbers.below(7_200_000_000_000)),
        4 => format!("{} > node_id", numbers.below(10)),
        5 => format!("{of} IN ({some}, 1, 2)"),
        6 => "origin <> 'md-stack'".to_owned(),
        7 => "origin IN ('md-stack', 'xd-report', 'nothing')".to_owned(),
        8 => {
            format!("origin LIKE '%{}%'", pick(numbers, &["-", "MD", "report", "stack", "nothing", "", "x"]))
        }
        9 => format!("source LIKE '%{}%'", pick(numbers, &["10.", ".1", "fd00", "FD", "::3", "0.0.0"])),
        _ => format!("{of} {} {some}", pick(numbers, &["<", "<=", ">", ">=", "=", "<>", "!=", "=="])),
    }
}

/// A random question with a single valid answer.
fn question(numbers: &mut Numbers) -> String {
    let filters: Vec<String> = (0..numbers.below(3)).map(|_| filter(numbers)).collect();
    let filters =
        if filters.is_empty() { String::new() } else { format!(" WHERE {}", filters.join(" AND ")) };
    if numbers.below(5) == 0 {
        let filters = if filters.is_empty() { " WHERE hop_count >= 0" } else { &filters };
        let values: Vec<String> = (0..=numbers.below(3)).map(|_| key(numbers)).collect();
        let order: Vec<String> = (1..=values.len()).map(|place| place.to_string()).collect();
        return format!(
            "SELECT {} FROM observations{filters} ORDER BY {}",
            values.join(", "),
            order.join(", ")
        );
    }
    let keys: Vec<String> = (0..numbers.below(4)).map(|_| key(numbers)).collect();
    let aggregates: Vec<String> = (0..=numbers.below(3)).map(|_| aggregate(numbers)).collect();
    let items: Vec<String> = keys.iter().chain(&aggregates).cloned().collect();
    let mut sql = format!("SELECT {} FROM observations{filters}", items.join(", "));
    if !keys.is_empty() {
        let _ = write!(sql, " GROUP BY {}", keys.join(", "));
        let mut order: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
        if numbers.below(2) == 0 {
            order.insert(0, format!("{} DESC", keys.len() + 1));
        }
        let _ = write!(sql, " ORDER BY {}", order.join(", "));
        if numbers.below(3) == 0 {
            let _ = write!(sql, " LIMIT {} OFFSET {}", numbers.below(20), numbers.below(3));
        }
    }
    sql
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn columns_and_rows_give_the_same_answers(seed in any::<u64>()) {
        let folder = Folder::new();
        let store = store(&folder, seed, 450);
        let history = store.history().unwrap();
        let mut numbers = Numbers(seed ^ 1);
        for _ in 0..24 {
            let sql = question(&mut numbers);
            let expected = by_row(&history, &sql);
            match (fast(&history, &sql, Limits::default()), expected) {
                (Some(Ok(told)), Ok(expected)) => {
                    prop_assert_eq!(&told.columns, &expected.columns, "{}", sql);
                    prop_assert_eq!(texts(&told), texts(&expected), "{}", sql);
                }
                (None, _) => {}
                (Some(told), expected) => panic!("{sql}: {told:?}, {expected:?}"),
            }
        }
    }
}

#[test]
fn the_questions_of_operators_are_answered_by_columns() {
    let folder = Folder::new();
    let store = store(&folder, 3, 1_000);
    let history = store.history().unwrap();
    for sql in [
        "SELECT node_id, quantile(hop_latency, 0.99) AS p99 FROM observations GROUP BY node_id ORDER BY p99 DESC LIMIT 20",
        "SELECT node_id, egress_interface, quantile(hop_latency, 0.5), quantile(hop_latency, 0.99) FROM observations \
         GROUP BY 1, 2",
        "SELECT time, hop_index, node_id, hop_latency FROM observations WHERE flow_id = 7 ORDER BY time, hop_index;",
        "SELECT flow_id, quantile(total, 0.99) AS p99 FROM (SELECT flow_id, reporter, hw_id, sequence, report_index, \
         sum(hop_latency % 1000000) AS total FROM observations GROUP BY flow_id, reporter, hw_id, sequence, report_index) \
         GROUP BY flow_id ORDER BY p99 DESC, flow_id LIMIT 20",
        "SELECT bucket(time, '10s') AS step, max(queue_occupancy), avg(queue_occupancy) FROM observations \
         WHERE node_id = 1 AND egress_interface = 2 GROUP BY step ORDER BY step",
        "SELECT flow_id, source, destination, count(*) AS n FROM observations WHERE node_id = 1 AND time >= \
         (1699999199 + 2) * 1000000000 AND time < 1800000000000000000 GROUP BY flow_id, source, destination ORDER BY n DESC, 1",
        "SELECT reporter, bucket(time, '1m') AS minute, count(*) FROM observations WHERE hop_index = 0 GROUP BY reporter, minute",
        "SELECT source, destination, count(*) AS n FROM observations WHERE hop_index = 0 GROUP BY source, destination \
         ORDER BY n DESC, source, destination LIMIT 10",
        "SELECT count(*) FROM observations WHERE time > (unixepoch() - 3600) * 1000000000",
        "SELECT sum(count), max(latency_max) FROM minutes",
    ] {
        let told = fast(&history, sql, Limits::default()).expect(sql).expect(sql);
        let expected = by_row(&history, sql).expect(sql);
        assert_eq!(told.columns, expected.columns, "{sql}");
        assert_eq!(texts(&told), texts(&expected), "{sql}");
    }
}

#[test]
fn what_is_not_understood_to_the_last_word_is_left_to_sqlite() {
    for sql in [
        "SELECT * FROM observations",
        "SELECT node_id FROM observations WHERE node_id = 1 OR node_id = 2",
        "SELECT DISTINCT node_id FROM observations",
        "SELECT node_id FROM observations o WHERE o.node_id = 1",
        "SELECT count(*) FROM observations GROUP BY node_id HAVING count(*) > 1",
        "SELECT count(*) FILTER (WHERE node_id = 1) FROM observations",
        "SELECT node_id ISNULL, count(*) FROM observations GROUP BY 1",
        "SELECT count(*) FROM observations -- all",
        "SELECT count(*) FROM observations; SELECT 1",
        "SELECT 1",
        "SELECT \"node_id\", count(*) FROM observations GROUP BY 1",
        "SELECT count(*) FROM observations WHERE node_id = 'é'",
        "",
    ] {
        assert_eq!(parse::parse(sql), None, "{sql}");
    }
    let nested =
        format!("SELECT count({}node_id{}) FROM observations", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(parse::parse(&nested), None);
}

#[test]
fn limits_of_time_and_rows_hold_and_memory_that_does_not_do_leaves_the_question_to_sqlite() {
    let folder = Folder::new();
    let store = store(&folder, 5, 1_000);
    let history = store.history().unwrap();
    let sql = "SELECT time, count(*) FROM observations GROUP BY time";

    let late = fast(&history, sql, Limits { time: Duration::ZERO, ..Limits::default() });
    let long = fast(&history, sql, Limits { rows: 10, ..Limits::default() });
    let large = fast(&history, sql, Limits { memory_bytes: 10_000, ..Limits::default() });

    assert!(matches!(late, Some(Err(QueryError::Time(_)))), "{late:?}");
    assert!(matches!(long, Some(Err(QueryError::Rows(10)))), "{long:?}");
    assert!(large.is_none(), "{large:?}");
}

#[test]
fn memory_is_given_back_when_a_question_ends() {
    let folder = Folder::new();
    let store = store(&folder, 5, 1_000);
    let limits = Limits::default();
    let budget = Arc::new(Budget::new(limits));

    let sql = "SELECT source, quantile(hop_latency, 0.5) FROM observations GROUP BY source";
    let told = answer(&store.history().unwrap(), sql, &budget, limits).unwrap().unwrap();

    assert!(!told.rows.is_empty());
    assert!(told.rows.iter().any(|row| matches!(row[0], Cell::Text(_))));
    assert!(budget.has(limits.memory_bytes));
}
