//! An event of history is its latest row.

use std::collections::HashSet;

use inband_model::{EventView, Nanos, Phase, Severity};
use inband_store::Cell;

use super::{Filter, take};

#[test]
fn an_event_that_has_ended_does_not_come_back_as_its_beginning() {
    let rows = [row(50, "end", "info"), row(10, "begin", "warning")];

    let [ended] = &found(&rows, &Filter::default())[..] else { panic!("one event") };
    assert_eq!((ended.event.phase, ended.event.last), (Phase::End, Nanos(50)));
    let warning = Filter { severity: Some(Severity::Warning), ..Filter::default() };
    assert_eq!(found(&rows, &warning), []);
}

#[test]
fn the_end_counts_where_the_beginning_has_the_same_time() {
    let rows = [row(10, "begin", "warning"), row(10, "end", "warning")];

    let [ended] = &found(&rows, &Filter::default())[..] else { panic!("one event") };
    assert_eq!(ended.event.phase, Phase::End);
}

#[test]
fn a_page_goes_on_behind_an_event() {
    let rows = [row(50, "end", "info"), row(10, "begin", "warning")];
    let [ended] = &found(&rows, &Filter::default())[..] else { panic!("one event") };
    let behind = |last| Filter { behind: Some((Nanos(last), ended.id)), ..Filter::default() };

    assert_eq!(found(&rows, &behind(50)), []);
    assert_eq!(found(&rows, &behind(51)).len(), 1);
}

#[test]
fn an_event_that_goes_on_is_of_every_later_time() {
    let [begun] = &found(&[row(10, "begin", "warning")], &Filter::default())[..] else { panic!("one event") };
    let later = Filter { from: Some(Nanos(20)), to: Some(Nanos(30)), ..Filter::default() };

    assert!(later.wants_active(&begun.event) && !later.wants(&begun.event));
    let earlier = Filter { to: Some(Nanos(9)), ..Filter::default() };
    assert!(!earlier.wants_active(&begun.event));
}

fn found(rows: &[Vec<Cell>], filter: &Filter) -> Vec<EventView> {
    let mut views = Vec::new();
    take(rows, filter, 10, &mut views, &mut HashSet::new());
    views
}

/// A row about one event.
fn row(time: i64, phase: &str, severity: &str) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    vec![
        Cell::Integer(time),
        Cell::Integer(10),
        text("history-trouble"),
        text(severity),
        text("certain"),
        text("history"),
        Cell::Integer(1),
        text(r#"{"why":"disk full"}"#),
        text("[]"),
        text(phase),
        Cell::Integer(0),
        text(""),
    ]
}
