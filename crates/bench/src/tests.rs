use std::time::Duration;

use anyhow::{Result, bail};

use crate::history;
use crate::measure::{Row, Subject, measure};
use crate::rows::{count, names, report};
use crate::table::Table;
use crate::trace::score;

#[test]
fn every_row_does_what_it_is_measured_for() {
    let text = report(3, None).unwrap();

    for name in [
        "source, 100 B",
        "transit hop, 100 B",
        "sink, 1400 B",
        "transit hop, 2.1 dscp",
        "transit hop, 2016 geneve",
        "transit hop, host-0.5 udp",
        "watchlist, 50000 entries",
        "XD, filter smart, 4096 flows",
        "decode, 20 to a datagram",
        "collect, 1 to a datagram",
    ] {
        let line = text.lines().find(|line| line.starts_with(name)).expect(name);
        let numbers: Vec<f64> =
            line[name.len()..].split_whitespace().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers.iter().all(|number| *number > 0.0), "{line}");
    }
}

#[test]
fn rows_are_counted_by_their_names() {
    let names = names().unwrap();

    assert!(names.lines().any(|name| name == "sink, 100 B"), "{names}");
    assert_eq!(count("sink, 100 B").unwrap(), 256);
    assert_eq!(count("ledger, 20 to a datagram").unwrap(), 640);
    assert!(count("sink").is_err());
}

#[test]
fn history_holds_what_is_measured() {
    let text = history::report(2_000).unwrap();

    assert_eq!(text.lines().filter(|line| line.contains(": ")).count(), 7, "{text}");
}

#[test]
fn the_smart_filter_misses_no_flow_and_repeats_little() {
    for remembered in [0, 300, 65_536] {
        let score = score(30_000, remembered).unwrap();

        assert!(score.accuracy() > 0.999, "{score}");
        assert!(score.efficiency() > 0.9, "{score}");
    }
}

#[test]
fn a_time_is_that_of_one_item() {
    let mut rows =
        [Row { name: "sleeper".into(), subject: Box::new(Spinner { faulty: false }), beside: None }];

    let times = measure(&mut rows, 5).unwrap();

    let least = SPIN.as_secs_f64() * 1e9 / 4.0;
    assert!(times[0].minimum_ns >= least && times[0].median_ns >= times[0].minimum_ns, "{times:?}");
}

#[test]
fn a_row_that_does_not_do_its_work_is_named() {
    let mut rows = [Row { name: "idler".into(), subject: Box::new(Spinner { faulty: true }), beside: None }];

    let error = measure(&mut rows, 5).unwrap_err();

    assert_eq!(format!("{error:#}"), "cannot measure idler: nothing was done");
}

#[test]
fn columns_are_aligned() {
    let mut table = Table::new(&["", "ns"]);
    table.line(vec!["memmove".into(), "3.1".into()]);
    table.line(vec!["x".into(), String::new()]);

    assert_eq!(table.render(), "          ns\nmemmove  3.1\nx\n");
}

/// How long a batch of [`Spinner`] takes at least.
const SPIN: Duration = Duration::from_micros(200);

/// Spends time on four items.
struct Spinner {
    faulty: bool,
}

impl Subject for Spinner {
    fn items(&self) -> usize {
        4
    }

    fn prepare(&mut self) {}

    fn run(&mut self) {
        let started = std::time::Instant::now();
        while started.elapsed() < SPIN {
            std::hint::spin_loop();
        }
    }

    fn verify(&mut self) -> Result<()> {
        if self.faulty {
            bail!("nothing was done");
        }
        Ok(())
    }
}
