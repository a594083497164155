//! Pages of past events have each event once, as one long page has it.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use inband_model::{
    Confidence, EndReason, Event, EventDetail, HistoryTrouble, Nanos, NodeId, Phase, ReportReference,
    Severity,
};
use inband_store::{Batch, Offered};
use serde_json::Value;

use super::{System, open_store};
use crate::settings::ApiSettings;

#[test]
fn pages_of_past_events_have_each_event_once_whatever_their_size() {
    // An hour ago: older history than a week is removed.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let start_ns = (now - 3_600) * SECOND_NS;
    let folder = with_history(events(start_ns));
    let system = System::start_in(folder, ApiSettings::default());
    let asked = format!("/api/v1/events?from={start_ns}&to={}", start_ns + 1_000 * SECOND_NS);
    let page = |more: &str| -> Vec<Value> {
        let (status, body) = system.get(&format!("{asked}&{more}"));
        assert_eq!(status, 200, "{more}: {body}");
        serde_json::from_str(&body).unwrap()
    };
    let all = page("limit=4096");
    assert_eq!(all.len(), COUNT);

    for limit in [1, 7, 50] {
        let mut found: Vec<Value> = Vec::new();
        let mut after = String::new();
        // One page more than needed, so that a circle ends too.
        for _ in 0..=COUNT.div_ceil(limit) {
            let next = page(&format!("limit={limit}{after}"));
            let Some(last) = next.last() else { break };
            after = format!("&after={}", last["id"].as_str().unwrap());
            found.extend(next);
        }
        let shown = |events: &[Value]| -> Vec<String> {
            let key = |event: &Value| format!("{} {} {}", event["key"], event["phase"], event["last"]);
            events.iter().map(key).collect()
        };
        assert_eq!(shown(&found), shown(&all), "limit {limit}");
    }
}

/// Events of which many are active at a time: some end, some lack an end, some happen once.
fn events(start_ns: u64) -> Vec<Event> {
    let mut events = Vec::new();
    for number in 0..COUNT as u64 {
        let at = Nanos(start_ns + number * SECOND_NS);
        let report = ReportReference { node_id: NodeId(7), hw_id: 0, sequence: 1, received_at: at };
        let detail = EventDetail::HistoryTrouble(HistoryTrouble { why: "disk full".to_owned() });
        let key = format!("disk {number}");
        let event = Event::of_report(detail, Severity::Warning, key, Confidence::Certain, report);
        if number % 5 == 0 {
            events.push(event);
            continue;
        }
        events.push(Event { phase: Phase::Begin, ..event.clone() });
        if number % 7 > 0 {
            let last = Nanos(at.0 + (1 + number * 13 % 40) * SECOND_NS);
            let end_reason = Some(EndReason::Over);
            events.push(Event { phase: Phase::End, last, end_reason, count: 2, ..event });
        }
    }
    events
}

/// The folder of a history with these events, written by an earlier run.
fn with_history(events: Vec<Event>) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("inband-pages-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let store = open_store(&folder).unwrap();
    assert_eq!(store.offer(Batch { events, ..Batch::default() }), Offered::Queued);
    store.sync();
    store.close();
    folder
}

const COUNT: usize = 60;
const SECOND_NS: u64 = 1_000_000_000;
