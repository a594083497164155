use std::collections::BTreeMap;
use std::fs;

use inband_model::table::MINUTES;

use super::{InterfaceSums, InterfacesOf, InterfacesQuestion};
use crate::batch::Batch;
use crate::damage::Damage;
use crate::history::History;
use crate::layout;
use crate::question::{Cell, Limits};
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START, any_hop};
use crate::settings::StoreSettings;
use crate::store::{Offered, Store};

fn store(folder: &Folder, seed: u64) -> Store {
    let store = Store::open(StoreSettings { segment_rows: 200, ..folder.settings() }).unwrap();
    let mut numbers = Numbers(seed);
    for _ in 0..20 {
        let hop = |numbers: &mut Numbers| {
            let at = START.0 + numbers.below(1_200_000_000_000);
            any_hop(numbers, inband_model::Nanos(at))
        };
        let hops = (0..50).map(|_| hop(&mut numbers)).collect();
        assert_eq!(store.offer(Batch { hops, reports: 50, ..Batch::default() }), Offered::Queued);
        store.sync();
    }
    store
}

fn ask(
    history: &History,
    of: InterfacesOf,
    range: TimeRange,
    max_sketches: usize,
) -> BTreeMap<super::Interface, InterfaceSums> {
    let question = InterfacesQuestion { of, range, node: None, max_sketches };
    history.interfaces(&question, Limits::default()).unwrap().all().iter().copied().collect()
}

fn number(cell: &Cell) -> Option<u64> {
    match cell {
        Cell::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Whether a percentile is accurate enough.
fn is_near(found: Option<u64>, exact: Option<u64>) -> bool {
    match (found, exact) {
        (Some(found), Some(exact)) => found.abs_diff(exact) * 60 <= exact,
        (found, exact) => found == exact,
    }
}

#[test]
fn interfaces_are_what_sql_says_of_hops_and_what_minutes_and_hours_add_up_to() {
    for seed in 0..6 {
        let folder = Folder::new();
        let store = store(&folder, seed);
        let history = store.history().unwrap();
        // Reports without a hop count for the drops that they tell of, and for nothing else.
        let of_hop = |column: &str| format!("iif(hop_count > 0, {column}, NULL)");
        let latency = of_hop("hop_latency");
        let sql = format!(
            "SELECT node_id, egress_interface, sum(hop_count > 0) AS n, quantile({latency}, 0.5) AS p50, \
             quantile({latency}, 0.99) AS p99, max({latency}) AS l, max({}) AS q, max({}) AS u, \
             sum(dropped = 1 AND (hop_count = 0 OR hop_index + 1 = hop_count)) AS d FROM observations \
             WHERE hop_count + dropped > 0 GROUP BY node_id, egress_interface",
            of_hop("queue_occupancy"),
            of_hop("egress_utilization")
        );
        let rows = history.query(&sql, Limits::default()).unwrap().rows;
        let found = ask(&history, InterfacesOf::Hops, TimeRange::ALL, usize::MAX);
        assert_eq!(found.len(), rows.len());
        for row in &rows {
            let small = |cell| number(cell).and_then(|number| u32::try_from(number).ok());
            let sums = found[&(small(&row[0]).unwrap(), small(&row[1]))];
            assert_eq!((Some(sums.count), Some(sums.drops)), (number(&row[2]), number(&row[8])), "{row:?}");
            assert_eq!(
                (sums.max, sums.depth, sums.utilization),
                (number(&row[5]), number(&row[6]), number(&row[7]))
            );
            assert!(
                is_near(sums.p50, number(&row[3])) && is_near(sums.p99, number(&row[4])),
                "{row:?} {sums:?}"
            );
        }
        let told = |sums: &BTreeMap<_, InterfaceSums>| -> Vec<_> {
            sums.iter().map(|(place, sums)| (*place, sums.count, sums.max, sums.depth, sums.p99)).collect()
        };
        let minutes = ask(&history, InterfacesOf::Minutes, TimeRange::ALL, usize::MAX);
        assert_eq!(told(&minutes), told(&ask(&history, InterfacesOf::Hours, TimeRange::ALL, usize::MAX)));
        let both = InterfacesOf::HoursAndMinutes;
        assert_eq!(told(&minutes), told(&ask(&history, both, TimeRange::ALL, usize::MAX)));
        // Ranges that cut hours, and ranges that contain whole hours.
        for (from, to) in [(0, 1_200), (0, 300), (61, 1_200), (200, 900), (90, 91)] {
            let at = |seconds: u64| inband_model::Nanos(START.0 + 1_000_000_000 + seconds * 1_000_000_000);
            let range = TimeRange { from: at(from), to: at(to) };
            assert_eq!(
                told(&ask(&history, InterfacesOf::Minutes, range, usize::MAX)),
                told(&ask(&history, both, range, usize::MAX)),
                "{from} to {to}"
            );
        }
        // Percentiles of one minute in two; everything else of all.
        let half = history.rows(&MINUTES.shape()).div_ceil(2);
        let question = InterfacesQuestion {
            of: InterfacesOf::Minutes,
            range: TimeRange::ALL,
            node: None,
            max_sketches: half,
        };
        let found = history.interfaces(&question, Limits::default()).unwrap();
        assert_eq!(found.one_in, Some(2));
        let sampled = found.all().iter().copied().collect();
        let rest = |sums: &BTreeMap<_, InterfaceSums>| -> Vec<_> {
            sums.iter()
                .map(|(place, sums)| (*place, InterfaceSums { p50: None, p99: None, ..*sums }))
                .collect()
        };
        assert_eq!(rest(&sampled), rest(&minutes));
    }
}

#[test]
fn percentiles_of_a_sample_have_the_last_two_minutes() {
    let folder = Folder::new();
    let store = store(&folder, 5);
    let history = store.history().unwrap();
    let end = START.0 + 1_200_000_000_000;
    let minute = 60_000_000_000;
    let (last, first) = (end - end % minute, end - end % minute - minute);
    let range =
        |from| TimeRange { from: inband_model::Nanos(from), to: inband_model::Nanos(last + minute - 1) };

    let sampled = ask(&history, InterfacesOf::Minutes, range(START.0), 1);
    let latest = ask(&history, InterfacesOf::Minutes, range(first), usize::MAX);

    assert!(latest.values().any(|sums| sums.p99.is_some()));
    for (place, sums) in &latest {
        assert_eq!((sampled[place].p50, sampled[place].p99), (sums.p50, sums.p99), "{place:?}");
    }
    for (place, sums) in sampled.iter().filter(|(place, _)| !latest.contains_key(*place)) {
        assert_eq!(sums.p99, None, "{place:?}");
    }
}

#[test]
fn only_the_time_and_the_node_that_are_asked_for_count() {
    let folder = Folder::new();
    let store = store(&folder, 9);
    let history = store.history().unwrap();
    let (from, to) = (START.0 + 300_000_000_000, START.0 + 600_000_000_000);
    let sql = format!(
        "SELECT node_id, sum(hop_count > 0) AS n FROM observations WHERE time >= {from} AND time <= {to} GROUP BY node_id"
    );
    let range = TimeRange { from: inband_model::Nanos(from), to: inband_model::Nanos(to) };
    let all = ask(&history, InterfacesOf::Hops, range, usize::MAX);
    for row in history.query(&sql, Limits::default()).unwrap().rows {
        let node = u32::try_from(number(&row[0]).unwrap()).unwrap();
        let of_node: u64 = all.iter().filter(|((of, _), _)| *of == node).map(|(_, sums)| sums.count).sum();
        assert_eq!(Some(of_node), number(&row[1]));
        let question =
            InterfacesQuestion { of: InterfacesOf::Hops, range, node: Some(node), max_sketches: usize::MAX };
        let only = history.interfaces(&question, Limits::default()).unwrap();
        assert_eq!(only.all().iter().map(|(_, sums)| sums.count).sum::<u64>(), of_node);
        assert_eq!(only.all(), only.of_node(node));
        assert!(only.of_node(node.wrapping_add(1)).is_empty());
    }
    let late = Limits { time: std::time::Duration::ZERO, ..Limits::default() };
    let question = InterfacesQuestion { of: InterfacesOf::Hops, range, node: None, max_sketches: usize::MAX };
    assert!(history.interfaces(&question, late).is_err());
}

#[test]
fn cells_of_one_place_and_bucket_are_put_together_and_percentiles_stay() {
    let mut part = super::Part::default();
    let place = part.place((1, Some(2))).unwrap();
    part.sums[place as usize].count = super::part::MANY_CELLS as u64 + 5;
    let buckets = [7, 300].map(crate::sketch::bucket);
    let one_in_ten = |number: usize| buckets[usize::from(number.is_multiple_of(10))];
    for _ in 0..2 {
        let cells =
            (0..super::part::MANY_CELLS).map(|number| super::cell(place as usize, one_in_ten(number)));
        part.cells.extend(cells);
        part.compact();
        assert_eq!((part.cells.len(), part.counted.len()), (0, 2));
    }
    part.cells.extend((0..5).map(|number| super::cell(place as usize, one_in_ten(number))));
    let sums = super::merged(&[part], super::WORKERS)[0].1;
    assert_eq!((sums.p50, sums.p99), (Some(7), Some(crate::sketch::middle(buckets[1]))));
}

#[test]
fn damaged_packed_sketches_are_named_and_their_texts_are_read() {
    let folder = Folder::new();
    store(&folder, 1).close();
    let intact = History::open(folder.path()).unwrap();
    let expected = ask(&intact, InterfacesOf::Minutes, TimeRange::ALL, usize::MAX);
    assert!(!intact.check().is_damaged());
    let files = layout::segments(folder.path(), MINUTES.name).unwrap();
    for file in &files {
        let mut bytes = fs::read(&file.path).unwrap();
        let key = b"inband.packed_sketches";
        let at = bytes.windows(key.len()).rposition(|window| window == key).unwrap() + key.len();
        let digits = bytes[at..].iter().skip_while(|byte| !byte.is_ascii_digit());
        let digits: Vec<u8> = digits.take_while(|byte| byte.is_ascii_digit()).copied().collect();
        let start: usize = String::from_utf8(digits).unwrap().parse().unwrap();
        bytes[start + 9] ^= 4;
        fs::write(&file.path, bytes).unwrap();
    }
    let damaged = History::open(folder.path()).unwrap();
    assert_eq!(ask(&damaged, InterfacesOf::Minutes, TimeRange::ALL, usize::MAX), expected);
    let findings = damaged.findings();
    assert_eq!(findings.damage.len(), files.len(), "{findings:?}");
    let is_of_packed = |damage: &Damage| damage.cause.contains("packed sketches") && damage.rows == Some(0);
    assert!(findings.damage.iter().all(is_of_packed), "{findings:?}");
    assert_eq!(History::open(folder.path()).unwrap().check().damage.len(), files.len());
}
