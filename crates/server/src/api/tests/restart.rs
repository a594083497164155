//! Silences, acknowledgements and events survive a restart.

use serde_json::{Value, json};

use super::System;

#[test]
fn silences_acknowledgements_and_past_events_survive_a_restart() {
    let system = System::start("");
    // A path is new, and a number after it is missing.
    system.report(3);
    system.sent.fetch_add(20, std::sync::atomic::Ordering::Relaxed);
    system.report(3);
    let events = system.wait_for("/api/v1/events?kind=report-loss", |events| !events[0].is_null());
    let id = events[0]["id"].as_str().unwrap().to_owned();
    let silence = |key: &str| {
        let body = json!({ "key": key, "comment": "work" }).to_string();
        let answer = system.send("post", "/api/v1/silences", &[], &body).1;
        serde_json::from_str::<Value>(&answer).unwrap()["number"].as_u64().unwrap()
    };
    let [lifted, kept] = [silence("leaf1"), silence("leaf2")];
    assert_eq!(system.send("delete", &format!("/api/v1/silences/{lifted}"), &[], "").0, 200);
    let path = format!("/api/v1/events/{id}/acknowledge");
    assert_eq!(system.send("post", &path, &[], r#"{"by":"me"}"#).0, 200);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 6);
    std::thread::sleep(std::time::Duration::from_millis(500));

    let system = system.restart();

    let silences: Value = serde_json::from_str(&system.get("/api/v1/silences").1).unwrap();
    assert_eq!(silences.as_array().unwrap().len(), 1, "{silences}");
    assert_eq!((&silences[0]["number"], &silences[0]["silence"]["key"]), (&json!(kept), &json!("leaf2")));
    let of_history = |query: &str| {
        let path = format!("/api/v1/events?{query}");
        system.wait_for(&path, |events| events.as_array().is_some_and(|all| !all.is_empty()))
    };
    for query in ["", "from=0&kind=report-loss&node=7&limit=10", "from=2020-01-01T00:00:00Z&severity=info"] {
        let events = of_history(query);
        let event = events.as_array().unwrap().iter().find(|event| event["id"] == *id);
        assert_eq!(event.unwrap()["acknowledged"]["by"], "me", "{query}: {events}");
    }
    for query in ["from=0&kind=loop", "from=0&node=8", "from=0&to=1", "key=nothing-like-it", "active=true"] {
        assert_eq!(system.get(&format!("/api/v1/events?{query}")), (200, "[]".to_owned()), "{query}");
    }
    for query in ["from=yesterday", "kind=nothing", "severity=grave", "node=x"] {
        assert_eq!(system.get(&format!("/api/v1/events?{query}")).0, 400, "{query}");
    }
    // An event that is only in history can be acknowledged.
    assert_eq!(system.send("post", &path, &[], r#"{"by":"you"}"#).0, 200);
    assert_eq!(
        system.send("post", "/api/v1/events/00000000000000ff/acknowledge", &[], r#"{"by":"me"}"#).0,
        404
    );
}
