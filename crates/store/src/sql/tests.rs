use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use inband_model::table::shapes;
use inband_model::{
    Confidence, Event, EventDetail, EventId, EventKind, LatencySpike, LedgerView, Nanos, NodeId, Phase,
    Severity,
};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::names::Naming;
use super::plan::{Comparison, Plan};
use crate::batch::Batch;
use crate::history::History;
use crate::quantile::quantile;
use crate::question::{Cell, Limits, QueryError};
use crate::sample::{Folder, Numbers, START, any_hop, reports};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

/// 1,000 reports of three nodes and five flows; half of them in segments, half in a log.
fn thousand() -> (Folder, Store) {
    let folder = Folder::new();
    let settings = StoreSettings { segment_rows: 500, ..folder.settings() };
    let store = Store::open(settings).unwrap();
    for first in (0..1_000).step_by(100) {
        assert_eq!(store.offer(reports(first, 100)), Offered::Queued);
        store.sync();
    }
    (folder, store)
}

fn ask(store: &Store, sql: &str) -> Vec<Vec<Cell>> {
    store.history().unwrap().query(sql, Limits::default()).unwrap().rows
}

fn number(store: &Store, sql: &str) -> i64 {
    match ask(store, sql).as_slice() {
        [row] => match row.as_slice() {
            [Cell::Integer(number)] => *number,
            other => panic!("{sql}: {other:?}"),
        },
        other => panic!("{sql}: {other:?}"),
    }
}

fn refusal(store: &Store, sql: &str) -> String {
    store.history().unwrap().query(sql, Limits::default()).unwrap_err().to_string()
}

#[test]
fn counts_are_those_of_the_rows() {
    let (_folder, store) = thousand();
    for (sql, expected) in [
        ("SELECT count(*) FROM observations", 1_000),
        ("SELECT count(*) FROM observations WHERE node_id = 1", 333),
        ("SELECT count(*) FROM observations WHERE node_id = 3", 0),
        ("SELECT count(*) FROM observations WHERE hop_latency > 899", 100),
        ("SELECT count(*) FROM observations WHERE hop_latency >= 899.5", 100),
        ("SELECT count(*) FROM observations WHERE hop_latency < 1", 1),
        ("SELECT count(*) FROM observations WHERE hop_latency <= '1'", 2),
        ("SELECT count(*) FROM observations WHERE hop_latency < -9223372036854775808", 0),
        ("SELECT count(*) FROM observations WHERE source = '0.0.0.0'", 1_000),
        ("SELECT count(*) FROM observations WHERE source = '0.0.0.1'", 0),
        ("SELECT count(*) FROM observations WHERE origin = 'XD-REPORT' COLLATE NOCASE", 1_000),
        ("SELECT count(DISTINCT flow_id) FROM observations", 5),
        ("SELECT count(*) FROM observations WHERE egress_timestamp IS NULL", 1_000),
        ("SELECT count(*) FROM observations WHERE time < 1699999199100000000", 100),
        ("SELECT sum(count) FROM minutes", 1_000),
        ("SELECT max(latency_max) FROM minutes", 999),
    ] {
        assert_eq!(number(&store, sql), expected, "{sql}");
    }
}

#[test]
fn groups_are_whole_and_quantiles_exact() {
    let (_folder, store) = thousand();
    let sql = "SELECT node_id, count(*), quantile(hop_latency, 0.5), quantile(hop_latency, 0.99) FROM observations \
               GROUP BY node_id";
    let integers = |numbers: [i64; 4]| numbers.map(Cell::Integer).to_vec();
    assert_eq!(
        ask(&store, sql),
        [integers([0, 334, 498, 990]), integers([1, 333, 499, 988]), integers([2, 333, 500, 989])]
    );
    assert_eq!(
        ask(&store, "SELECT quantile(hop_latency, 0.5) FROM observations WHERE node_id = 9"),
        [[Cell::Null]]
    );
}

#[test]
fn joins_and_windows_work() {
    let (_folder, store) = thousand();
    let sql = "SELECT a.sequence FROM observations a JOIN observations b ON b.sequence = a.sequence + 1 \
               WHERE a.node_id = 1 AND b.hop_latency < 10 ORDER BY 1";
    assert_eq!(ask(&store, sql), [[Cell::Integer(1)], [Cell::Integer(4)], [Cell::Integer(7)]]);
    let sql =
        "SELECT max(step) FROM (SELECT time - lag(time) OVER (ORDER BY time) AS step FROM observations)";
    assert_eq!(number(&store, sql), 1_000_000);
}

/// Node 1 with its interface 1, a host and a subnet.
struct Known;

impl Naming for Known {
    fn node_name(&self, node: u32) -> Option<&str> {
        (node == 1).then_some("leaf1")
    }

    fn interface_name(&self, node: u32, interface: u16) -> Option<&str> {
        ((node, interface) == (1, 1)).then_some("5/0")
    }

    fn address_name(&self, address: IpAddr) -> Option<&str> {
        match address.to_string().as_str() {
            "10.0.1.1" => Some("web"),
            "2001:db8::1" => Some("rack 1"),
            _ => None,
        }
    }
}

#[test]
fn names_stand_for_numbers_and_addresses() {
    let (_folder, store) = thousand();
    let names: Arc<dyn Naming> = Arc::new(Known);
    let named =
        |sql: &str| store.history().unwrap().query_named(sql, Limits::default(), &names).unwrap().rows;
    let text = |text: &str| Cell::Text(text.to_owned());
    for (expression, expected) in [
        ("node_name(1)", text("leaf1")),
        ("node_name(2)", Cell::Null),
        ("node_name(NULL)", Cell::Null),
        ("node_name(-1)", Cell::Null),
        ("node_name(4294967297)", Cell::Null),
        ("interface_name(1, 1)", text("5/0")),
        ("interface_name(1, 65537)", Cell::Null),
        ("interface_name(1, NULL)", Cell::Null),
        ("address_name('10.0.1.1')", text("web")),
        ("address_name('2001:DB8:0::1')", text("rack 1")),
        ("address_name('10.0.1.2')", Cell::Null),
        ("address_name('web')", Cell::Null),
        ("address_name(NULL)", Cell::Null),
        ("coalesce(node_name(7), 'node ' || 7)", text("node 7")),
    ] {
        assert_eq!(named(&format!("SELECT {expression}")), [[expected]], "{expression}");
    }
    let sql = "SELECT node_name(node_id) AS node, count(*) FROM observations GROUP BY node ORDER BY 1";
    assert_eq!(named(sql), [[Cell::Null, Cell::Integer(667)], [text("leaf1"), Cell::Integer(333)]]);
    let sql = "SELECT count(*) FROM observations WHERE node_name(node_id) = 'leaf1'";
    assert_eq!(named(sql), [[Cell::Integer(333)]]);
    assert_eq!(
        ask(&store, "SELECT node_name(1), interface_name(1, 1), address_name('10.0.1.1')"),
        [vec![Cell::Null; 3]]
    );
    for (sql, message) in [
        ("SELECT node_name('leaf1')", "node_name: a node is an integer"),
        ("SELECT interface_name(1, '5/0')", "interface_name: an interface is an integer"),
        ("SELECT address_name(7)", "address_name: an address is a text"),
    ] {
        assert_eq!(refusal(&store, sql), message);
    }
}

#[test]
fn a_name_nobody_knows_is_told_with_the_nearest() {
    let (_folder, store) = thousand();
    for (sql, message) in [
        ("SELECT * FROM observation", "no such table: observation; did you mean observations?"),
        ("SELECT latency FROM observations", "no such column: latency; did you mean hop_latency?"),
        ("SELECT o.nod_id FROM observations o", "no such column: o.nod_id; did you mean node_id?"),
        (
            "SELECT * FROM xyz",
            "no such table: xyz; there are observations, paths, events, ledger, minutes, seconds, bursts, hours, \
             flow_minutes, link_minutes, totals, reports",
        ),
        ("SELECT qqq FROM events", "no such column: qqq; `inband query --tables` lists all"),
        ("", "there is no question"),
        ("SELECT 1; SELECT 2", "one question at a time"),
        ("SELECT ?", "a question has no parameters"),
        ("SELECT quantile(hop_latency, 2) FROM observations", "quantile: the share is from 0 to 1"),
    ] {
        assert_eq!(refusal(&store, sql), message, "{sql}");
    }
    assert!(refusal(&store, "SELEC 1").contains("near \"SELEC\""));
}

#[test]
fn nothing_can_be_written_and_no_other_file_read() {
    let (_folder, store) = thousand();
    for sql in [
        "DELETE FROM observations",
        "CREATE TABLE t(a)",
        "DROP TABLE observations",
        "ATTACH '/etc/passwd' AS p",
        "PRAGMA hard_heap_limit = 0",
        "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')",
        "INSERT INTO observations(time) VALUES (1)",
    ] {
        let error = store.history().unwrap().query(sql, Limits::default()).unwrap_err();
        assert!(matches!(error, QueryError::Question(_)), "{sql}: {error}");
    }
    assert_eq!(number(&store, "SELECT count(*) FROM observations"), 1_000);
}

#[test]
fn a_question_that_costs_too_much_is_stopped() {
    let (_folder, store) = thousand();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
    assert!(matches!(store.history().unwrap().query(endless, limits), Err(QueryError::Time(_))));
    let limits = Limits { time: Duration::ZERO, ..Limits::default() };
    assert!(matches!(
        store.history().unwrap().query("SELECT count(*) FROM observations", limits),
        Err(QueryError::Time(_))
    ));
    let limits = Limits { memory_bytes: 1_000, ..Limits::default() };
    assert!(matches!(
        store.history().unwrap().query("SELECT max(time) FROM observations", limits),
        Err(QueryError::Memory(1_000))
    ));
    let limits = Limits { rows: 999, ..Limits::default() };
    assert!(matches!(
        store.history().unwrap().query("SELECT time FROM observations", limits),
        Err(QueryError::Rows(999))
    ));
    let limits = Limits { rows: 1_000, ..Limits::default() };
    assert_eq!(
        store.history().unwrap().query("SELECT time FROM observations", limits).unwrap().rows.len(),
        1_000
    );
}

#[test]
fn every_column_of_every_table_can_be_asked_for() {
    let folder = Folder::new();
    let store = Store::open(folder.settings()).unwrap();
    let spike = LatencySpike {
        node_id: NodeId(3),
        egress_interface: None,
        latency: Nanos(9),
        median: Nanos(1),
        median_deviation: Nanos(1),
        episodes: 1,
    };
    let event = Event {
        detail: EventDetail::LatencySpike(spike),
        severity: Severity::Warning,
        key: "3".into(),
        first: START,
        last: START,
        count: 2,
        confidence: Confidence::Probable,
        evidence: Vec::new(),
        phase: Phase::Begin,
        silenced: false,
        end_reason: None,
    };
    let ledgers = vec![(START, LedgerView::default())];
    let batch = Batch { events: vec![event], ledgers, ..reports(0, 1) };
    assert_eq!(store.offer(batch), Offered::Queued);
    let check = |history: History| {
        for shape in shapes() {
            let names: Vec<_> = shape.columns.iter().map(|(name, ..)| *name).collect();
            let sql = format!("SELECT {} FROM {}", names.join(", "), shape.name);
            let history = History::open(history.root()).unwrap();
            assert_eq!(history.query(&sql, Limits::default()).unwrap().columns, names);
        }
        let sql = "SELECT kind, severity, detail ->> 'latency' FROM events";
        let expected = [Cell::Text("latency-spike".into()), Cell::Text("warning".into()), Cell::Integer(9)];
        assert_eq!(history.query(sql, Limits::default()).unwrap().rows, [expected]);
        let id = EventId::of(EventKind::LatencySpike, "3", START);
        for (sql, found) in [
            (format!("SELECT id, nodes FROM events WHERE id = '{id}'"), 1),
            ("SELECT id, nodes FROM events WHERE nodes LIKE '% 3 %'".to_owned(), 1),
            ("SELECT id, nodes FROM events WHERE nodes LIKE '% 1 %'".to_owned(), 0),
            ("SELECT id, nodes FROM events WHERE id IS NULL".to_owned(), 0),
        ] {
            let rows = history.query(&sql, Limits::default()).unwrap().rows;
            let expected = [Cell::Text(id.to_string()), Cell::Text(" 3 ".into())].to_vec();
            assert_eq!(rows, vec![expected; found], "{sql}");
        }
    };
    store.sync();
    check(store.history().unwrap());
    store.close();
    check(History::open(folder.path()).unwrap());
}

#[test]
fn a_plan_survives_as_text() {
    let plan = Plan {
        comparisons: vec![(0, Comparison::GreaterOrEqual), (12, Comparison::Equal)],
        group: vec![9, 11],
        used: u64::MAX,
    };
    assert_eq!(Plan::parse(&plan.to_text()), Some(plan));
    assert_eq!(Plan::parse(&Plan::default().to_text()), Some(Plan::default()));
    for text in ["", ";", "1;;0", "e;;0", "1e;x;0", ";;-1"] {
        assert_eq!(Plan::parse(text), None, "{text}");
    }
}

#[test]
fn quantiles_go_by_the_nearest_rank() {
    let of = |values: &[i64], share| quantile(&mut values.to_vec(), share);
    assert_eq!(of(&[], 0.5), None);
    assert_eq!([0.0, 0.5, 1.0].map(|share| of(&[7], share)), [Some(7); 3]);
    assert_eq!([0.0, 0.25, 0.26, 0.5, 1.0].map(|share| of(&[4, 1, 3, 2], share).unwrap()), [1, 1, 2, 2, 4]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_sqlite_on_a_table_of_its_own(seed in any::<u64>(), rows in 1usize..200) {
        let (folder, mut numbers) = (Folder::new(), Numbers(seed));
        let settings = StoreSettings { segment_rows: 60, ..folder.settings() };
        let store = Store::open(settings).unwrap();
        let hops: Vec<_> = (0..rows).map(|_| any_hop(&mut numbers, START)).collect();
        for hops in hops.chunks(25) {
            let offered = store.offer(Batch { hops: hops[..].into(), reports: hops.len() as u64, ..Batch::default() });
            prop_assert_eq!(offered, Offered::Queued);
        }
        store.sync();
        for question in QUESTIONS {
            let direct = ask(&store, &question.replace("TABLE", "observations"));
            // SQLite does not pass our plans to a table that it materializes.
            let copied = "(SELECT * FROM observations ORDER BY random())";
            prop_assert_eq!(direct, ask(&store, &question.replace("TABLE", copied)), "{}", question);
        }
    }
}

/// Questions with a single valid answer.
const QUESTIONS: [&str; 10] = [
    "SELECT node_id, count(*), sum(queue_occupancy) FROM TABLE GROUP BY node_id ORDER BY node_id",
    "SELECT drop_reason, count(*) FROM TABLE GROUP BY drop_reason ORDER BY drop_reason DESC",
    "SELECT drop_reason, queue_id, dropped, count(*) FROM TABLE GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "SELECT source, origin, count(*) FROM TABLE GROUP BY source, origin ORDER BY 1, 2",
    "SELECT DISTINCT source_port FROM TABLE WHERE dropped = 1 ORDER BY 1",
    "SELECT count(*) FROM TABLE WHERE source = '10.0.0.1' AND hop_latency BETWEEN 5 AND 50000 AND NOT intermediate",
    "SELECT report_version, quantile(queue_occupancy, 0.9) FROM TABLE GROUP BY 1 ORDER BY 1",
    // One scan for each side of OR; rows that both return count once.
    "SELECT count(*), sum(queue_occupancy) FROM TABLE WHERE node_id = 1 OR hop_index = 0 OR source = '10.0.0.1'",
    "SELECT node_id, count(*) FROM TABLE WHERE node_id < 2 OR hop_latency > 900 GROUP BY node_id ORDER BY 1",
    // SQLite finds rows without a counterpart by their numbers.
    "SELECT count(*), count(a.time), count(b.time) FROM TABLE a FULL JOIN TABLE b ON a.node_id = b.node_id + 1 AND a.time = b.time",
];

#[test]
fn sketches_of_minutes_merge_to_the_quantile_of_all_rows_within_their_precision() {
    let (_folder, store) = thousand();
    let sql = "SELECT node_id, sketch_quantile(sketch_merge(latency_sketch), 0.99) FROM minutes GROUP BY 1";
    let exact = "SELECT node_id, quantile(hop_latency, 0.99) FROM observations GROUP BY 1";
    let (merged, exact) = (ask(&store, sql), ask(&store, exact));
    assert_eq!(merged.len(), 3);
    for (merged, exact) in merged.iter().zip(&exact) {
        let (Cell::Integer(merged), Cell::Integer(exact)) = (&merged[1], &exact[1]) else {
            panic!("no number")
        };
        assert!((merged - exact).abs() * 1_000 <= exact * 16, "{merged} for {exact}");
    }
    assert_eq!(ask(&store, "SELECT sketch_quantile(sketch_merge(NULL), 0.5)"), [[Cell::Null]]);
    assert_eq!(
        refusal(&store, "SELECT sketch_quantile('1:x', 0.5)"),
        "sketch_quantile: no sketch as minutes has them"
    );
    for share in ["99", "-0.1", "'0.5'"] {
        let error = refusal(&store, &format!("SELECT sketch_quantile('1:1', {share})"));
        assert_eq!(error, "sketch_quantile: the share is from 0 to 1");
    }
    // 10,000 values: the last but one is at the share of 0.9999.
    assert_eq!(number(&store, "SELECT sketch_quantile('1:9999 9:1', 0.9999)"), 1);
    assert_eq!(number(&store, "SELECT sketch_quantile('1:9999 9:1', 0.99991)"), 9);
    assert_eq!(number(&store, "SELECT sketch_quantile('1:1 9:9999', 0.0001)"), 1);
    assert_eq!(ask(&store, "SELECT sketch_quantile('1:1', NULL)"), [[Cell::Null]]);
}

#[test]
fn no_question_is_too_deep_or_too_long_for_the_thread_that_answers_it() {
    let (_folder, store) = thousand();
    let terms = "+1".repeat(20_000);
    let pattern = "%a".repeat(25_000);
    for (sql, expected) in [
        (format!("SELECT sum(hop_latency{terms}) FROM observations"), "too large"),
        (format!("SELECT count(*) FROM observations WHERE time > 1{terms}"), "too large"),
        (format!("SELECT printf('%.*c', 60000, 'a') LIKE '{pattern}' AS x"), "too complex"),
        ("SELECT replace(printf('%.*c', 200000, 'a'), 'a', 'bc')".into(), "too big"),
        ("SELECT group_concat(source || printf('%.*c', 1000, 'a')) FROM observations".into(), "too big"),
    ] {
        let error = refusal(&store, &sql);
        assert!(error.contains(expected), "{error}");
    }
    // It would run for hours between two looks at the clock; a text that is too long is NULL.
    let long = "printf('%.*c', 80000000, 'a')";
    assert_eq!(ask(&store, &format!("SELECT instr({long}, {long} || 'b')")), [[Cell::Null]]);
    // As deep as SQLite allows, and more conditions than are tested column by column.
    assert_eq!(number(&store, &format!("SELECT sum(node_id{}) FROM observations", "+0".repeat(900))), 999);
    let conditions = "hop_index <> 9 AND ".repeat(900);
    assert_eq!(number(&store, &format!("SELECT count(*) FROM observations WHERE {conditions} 1")), 1_000);
}

#[test]
fn times_fall_into_buckets_and_latencies_into_powers_of_two() {
    let (_folder, store) = thousand();
    assert_eq!(number(&store, "SELECT bucket(119000000000, '1m')"), 60_000_000_000);
    assert_eq!(number(&store, "SELECT bucket(1234, 100)"), 1_200);
    assert_eq!(number(&store, "SELECT count(DISTINCT bucket(time, '100ms')) FROM observations"), 10);
    assert_eq!(
        ask(&store, "SELECT bucket(NULL, 1), log2(8), log2(0)"),
        [[Cell::Null, Cell::Real(3.0), Cell::Null]]
    );
    // The bucket of the smallest times has no number.
    assert_eq!(ask(&store, "SELECT bucket(-9223372036854775807, 1000)"), [[Cell::Null]]);
    let sql = "SELECT count(*), count(bucket(node_id - 9223372036854775807, 1000)) FROM observations";
    assert_eq!(ask(&store, sql), [[Cell::Integer(1_000), Cell::Integer(0)]]);
    for span in ["0", "'1 week'", "NULL", "-5"] {
        let error = refusal(&store, &format!("SELECT bucket(1, {span})"));
        assert_eq!(error, "bucket: a span is a number of nanoseconds, or such as '10s'", "{span}");
    }
}
