//! Tests that receivers get their events, whatever their server does, and that each event is counted once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inband_model::{Event, ExportLedger, Output, Phase};
use serde_json::{Value, json};

use super::choice::Wanted;
use super::{WebhookKind, WebhookSettings, start};
use crate::delivery::Export;
use crate::sample::{Reply, Server, event, wait_for};
use crate::stage::Stage;
use crate::tally::Tally;

#[test]
fn events_arrive_as_the_api_shows_them() {
    let server = Server::start("127.0.0.1:0", &[]);
    let mut hook = Hook::to(&server, WebhookSettings { token: "secret".to_owned(), ..quick() });
    let told = event(1, Phase::Once);
    hook.tell(&told);
    hook.tell(&Event { silenced: true, ..event(2, Phase::Once) });
    let ledger = hook.wait_for(|ledger| ledger.exported == 1);

    assert_eq!((ledger.offered, ledger.kept_back, ledger.trouble.as_deref()), (1, 1, None));
    let request = &server.taken()[0];
    assert!(request.head.starts_with("POST /hook HTTP/1.1\r\n"), "{}", request.head);
    let head = request.head.to_lowercase();
    assert!(head.contains("authorization: bearer secret") && head.contains("content-type: application/json"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((&body["version"], &body["collector"]), (&json!(1), &json!("http://127.0.0.1:8080")));
    assert_eq!(body["events"][0]["id"], json!(told.id()));
    assert_eq!(serde_json::from_value::<Event>(body["events"][0].clone()).unwrap(), told);
    assert_eq!(body["events"].as_array().unwrap().len(), 1);
}

#[test]
fn an_event_that_is_less_severe_at_its_end_is_sent_with_either_severity() {
    let server = Server::start("127.0.0.1:0", &[]);
    let mut hook = Hook::to(&server, quick());
    let begin = event(1, Phase::Begin);
    let severity = inband_model::Severity::Info;
    hook.tell(&begin);
    hook.wait_for(|ledger| ledger.exported == 1);
    hook.tell(&Event { phase: Phase::End, severity, ..begin.clone() });
    hook.wait_for(|ledger| ledger.exported == 2);

    let severity_of = |at: usize| {
        let body: Value = serde_json::from_slice(&server.taken()[at].body).unwrap();
        body["events"][0]["severity"].clone()
    };
    assert_eq!((severity_of(0), severity_of(1)), (json!("warning"), json!("info")));
}

#[test]
fn a_receiver_that_does_not_answer_in_time_is_said_to() {
    let server = Server::start("127.0.0.1:0", &[Reply::Slow(Duration::from_secs(5))]);
    let mut hook = Hook::to(&server, WebhookSettings { timeout_ms: 50, attempts: 1, ..quick() });
    hook.tell(&event(1, Phase::Once));
    let ledger = hook.wait_for(|ledger| ledger.export_failed == 1);
    assert_eq!(ledger.trouble.as_deref(), Some("no answer within 50ms"));
}

#[test]
fn alertmanager_gets_alerts_that_begin_and_end_under_the_same_labels() {
    let server = Server::start("127.0.0.1:0", &[]);
    let kind = WebhookKind::Alertmanager;
    let mut hook = Hook::to(&server, WebhookSettings { kind, ..quick() });
    let begin = event(1, Phase::Begin);
    let last = inband_model::Nanos(begin.last.0 + 7_500_000_000);
    // More severe at its end, and silenced meanwhile.
    let severity = inband_model::Severity::Critical;
    let end = Event { phase: Phase::End, last, severity, silenced: true, ..begin.clone() };
    hook.tell(&begin);
    hook.wait_for(|ledger| ledger.exported == 1);
    hook.tell(&end);
    hook.wait_for(|ledger| ledger.exported == 2);

    let bodies: Vec<Value> =
        server.taken().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    let (first, second) = (&bodies[0][0], &bodies[1][0]);
    assert_eq!(first["labels"], second["labels"]);
    assert_eq!(
        first["labels"],
        json!({"alertname": "unknown-node", "severity": "warning", "key": "node 1", "event_id": begin.id(),
            "service": "inband"})
    );
    assert_eq!(first["annotations"]["summary"], "unknown-node: node 1");
    assert_eq!(first["generatorURL"], "http://127.0.0.1:8080/api/v1/events");
    assert_eq!(first["startsAt"], "2023-11-14T22:13:20.000000000Z");
    assert!(first["endsAt"].as_str().unwrap() > "2026", "it goes on: {first}");
    assert_eq!(second["endsAt"], "2023-11-14T22:13:27.500000000Z");
    for alert in [first, second] {
        for key in ["labels", "annotations"] {
            assert!(alert[key].as_object().unwrap().values().all(Value::is_string), "{alert}");
        }
    }
}

#[test]
fn an_alert_that_begins_and_ends_in_one_message_has_the_same_labels() {
    let server = Server::start("127.0.0.1:0", &[Reply::Slow(Duration::from_secs(3))]);
    let kind = WebhookKind::Alertmanager;
    let mut hook = Hook::to(&server, WebhookSettings { kind, ..quick() });
    // While the first message takes its time, the others are queued.
    hook.tell(&event(2, Phase::Once));
    std::thread::sleep(Duration::from_secs(1));
    let begin = event(1, Phase::Begin);
    let severity = inband_model::Severity::Critical;
    hook.tell(&begin);
    hook.tell(&Event { phase: Phase::End, severity, ..begin.clone() });
    hook.wait_for(|ledger| ledger.exported == 3);

    let taken = server.taken();
    let body: Value = serde_json::from_slice(&taken.last().unwrap().body).unwrap();
    assert_eq!(body.as_array().unwrap().len(), 2, "{body}");
    assert_eq!(body[0]["labels"], body[1]["labels"]);
    assert_eq!(body[1]["labels"]["severity"], "warning");
}

#[test]
fn an_alert_ends_now_also_where_the_clock_was_set_back_since_it_began() {
    let server = Server::start("127.0.0.1:0", &[]);
    let kind = WebhookKind::Alertmanager;
    let mut hook = Hook::to(&server, WebhookSettings { kind, ..quick() });
    let begin = event(1, Phase::Begin);
    let last = inband_model::Nanos(begin.last.0 - 3_600_000_000_000);
    hook.tell(&Event { phase: Phase::End, last, ..begin.clone() });
    hook.wait_for(|ledger| ledger.exported == 1);

    let body: Value = serde_json::from_slice(&server.taken()[0].body).unwrap();
    assert_eq!(body[0]["labels"]["event_id"], json!(begin.id()));
    let ended = "2023-11-14T21:13:20.000000000Z";
    assert_eq!((&body[0]["startsAt"], &body[0]["endsAt"]), (&json!(ended), &json!(ended)));
}

#[test]
fn alertmanager_hears_again_of_what_goes_on_and_no_more_of_what_is_over() {
    let server = Server::start("127.0.0.1:0", &[]);
    let kind = WebhookKind::Alertmanager;
    let mut hook = Hook::to(&server, WebhookSettings { kind, repeat_seconds: 1, ..quick() });
    hook.tell(&event(1, Phase::Begin));
    hook.tell(&event(2, Phase::Once));
    let requests = hook.wait_for_requests(&server, |bodies| bodies.len() >= 3);
    let last = requests.last().unwrap();
    assert_eq!((last.as_array().unwrap().len(), &last[0]["labels"]["key"]), (1, &json!("node 1")));

    hook.tell(&event(1, Phase::End));
    let ledger = hook.wait_for(|ledger| ledger.exported == 3);
    let told = server.taken().len();
    std::thread::sleep(Duration::from_millis(1_300));
    assert_eq!(server.taken().len(), told);
    assert_eq!((ledger.offered, ledger.waiting), (3, 0));
}

#[test]
fn an_alert_ends_although_its_end_met_a_full_queue() {
    let server = Server::start("127.0.0.1:0", &[]);
    let address = server.address;
    let kind = WebhookKind::Alertmanager;
    let settings = WebhookSettings { kind, repeat_seconds: 1, attempts: 1_000, queue: 100, ..quick() };
    let mut hook = Hook::to(&server, settings);
    hook.tell(&event(1, Phase::Begin));
    hook.wait_for(|ledger| ledger.exported == 1);
    drop(server);
    for number in 2..=500 {
        hook.tell(&event(number, Phase::Once));
    }
    hook.tell(&event(1, Phase::End));
    let away = hook.tally.ledger();
    assert!(away.failures["queue-full"] >= 300 && away.balances(), "{away:?}");

    let server = Server::start(&address.to_string(), &[]);
    let back = hook.wait_for(|ledger| ledger.waiting == 0);
    assert!(back.balances() && back.trouble.is_none(), "{back:?}");
    let ended = |body: &Value| key(&body.as_array().unwrap().last().unwrap()["labels"]) == "node 1";
    hook.wait_for_requests(&server, |bodies| bodies.last().is_some_and(ended));
    let told = server.taken().len();
    std::thread::sleep(Duration::from_millis(1_300));
    assert_eq!(server.taken().len(), told, "nothing goes on");
}

#[test]
fn a_server_that_fails_is_asked_again() {
    let replies = [Reply::Status(500), Reply::Close, Reply::Status(429), Reply::Slow(Duration::from_secs(4))];
    let server = Server::start("127.0.0.1:0", &replies);
    let mut hook = Hook::to(&server, WebhookSettings { timeout_ms: 2_000, ..quick() });
    hook.tell(&event(1, Phase::Once));
    let ledger = hook.wait_for(|ledger| ledger.exported == 1);

    assert_eq!((ledger.retries, ledger.export_failed, server.taken().len()), (4, 0, 1));
    assert_eq!(ledger.trouble, None);
}

#[test]
fn half_an_answer_is_no_answer() {
    let half = Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok");
    let server = Server::start("127.0.0.1:0", &[half]);
    let mut hook = Hook::to(&server, quick());
    hook.tell(&event(1, Phase::Once));
    let ledger = hook.wait_for(|ledger| ledger.exported == 1);
    assert_eq!((ledger.retries, server.taken().len()), (1, 1));
}

#[test]
fn a_server_may_ask_for_time_until_a_date() {
    let busy = "HTTP/1.1 503 Busy\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\n\
                Retry-After: Sun, 22 Nov 2026 10:00:01 GMT\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let server = Server::start("127.0.0.1:0", &[Reply::Raw(busy.as_bytes())]);
    let mut hook = Hook::to(&server, quick());
    let started = Instant::now();
    hook.tell(&event(1, Phase::Once));
    let ledger = hook.wait_for(|ledger| ledger.exported == 1);
    assert_eq!(ledger.retries, 1);
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn a_server_that_refuses_is_not_asked_again() {
    let server = Server::start("127.0.0.1:0", &[Reply::Status(400)]);
    let mut hook = Hook::to(&server, quick());
    hook.tell(&event(1, Phase::Once));
    let ledger = hook.wait_for(|ledger| ledger.export_failed == 1);

    assert_eq!(ledger.failures, [("refused".to_owned(), 1)].into());
    assert_eq!((ledger.retries, ledger.trouble.as_deref()), (0, Some("it answers 400 Bad Request: ok")));
    hook.tell(&event(2, Phase::Once));
    assert_eq!(hook.wait_for(|ledger| ledger.exported == 1).trouble, None);
}

#[test]
fn a_server_that_went_gets_what_happened_meanwhile_when_it_is_back() {
    let server = Server::start("127.0.0.1:0", &[]);
    let address = server.address;
    let mut hook = Hook::to(&server, WebhookSettings { attempts: 1_000, ..quick() });
    hook.tell(&event(1, Phase::Once));
    hook.wait_for(|ledger| ledger.exported == 1);
    drop(server);
    for number in 2..=200 {
        hook.tell(&event(number, Phase::Once));
    }
    let away = hook.wait_for(|ledger| ledger.retries >= 2);
    assert!(away.trouble.is_some() && away.balances(), "{away:?}");
    assert_eq!((away.exported, away.waiting), (1, 199));

    let server = Server::start(&address.to_string(), &[]);
    let back = hook.wait_for(|ledger| ledger.exported == 200);
    assert_eq!((back.waiting, back.export_failed, back.trouble), (0, 0, None));
    let bodies = hook.wait_for_requests(&server, |_| true);
    let keys: Vec<_> = bodies.iter().flat_map(|body| body["events"].as_array().unwrap()).map(key).collect();
    assert_eq!(keys, (2..=200).map(|number| format!("node {number}")).collect::<Vec<_>>());
}

#[test]
fn a_server_that_is_not_there_costs_what_is_given_up_and_nothing_waits_for_it() {
    let nowhere = {
        let server = Server::start("127.0.0.1:0", &[]);
        format!("http://{}/", server.address)
    };
    let mut hook = Hook::new(WebhookSettings { url: nowhere, attempts: 2, queue: 10, ..quick() });
    for number in 0..1_000 {
        hook.tell(&event(number, Phase::Once));
        assert!(hook.tally.ledger().waiting <= 10 + 64);
    }
    let ledger = hook.wait_for(|ledger| ledger.waiting == 0);

    assert_eq!((ledger.offered, ledger.exported, ledger.export_failed), (1_000, 0, 1_000));
    assert!(ledger.balances() && ledger.failures["queue-full"] > 0 && ledger.failures["gave-up"] > 0);
}

#[test]
fn at_the_end_what_waits_is_told_or_counted() {
    let server = Server::start("127.0.0.1:0", &[]);
    let mut hook = Hook::to(&server, quick());
    for number in 0..50 {
        hook.tell(&event(number, Phase::Once));
    }
    hook.export.finish();
    assert_eq!(hook.tally.ledger().exported, 50);

    drop(server);
    let gone = Server::start("127.0.0.1:0", &[]);
    let mut hook = Hook::to(&gone, WebhookSettings { attempts: 1_000, pause_ms: 60_000, ..quick() });
    drop(gone);
    for number in 0..50 {
        hook.tell(&event(number, Phase::Once));
    }
    hook.export.finish();
    let ledger = hook.tally.ledger();
    assert_eq!((ledger.waiting, ledger.failures), (0, [("stopped".to_owned(), 50)].into()));
}

/// A webhook with its counts.
struct Hook {
    export: Export<Wanted>,
    tally: Arc<Tally>,
}

impl Hook {
    fn to(server: &Server, settings: WebhookSettings) -> Hook {
        Hook::new(WebhookSettings { url: format!("http://{}/hook", server.address), ..settings })
    }

    fn new(settings: WebhookSettings) -> Hook {
        let tally = Arc::new(Tally::new("webhook-1".to_owned()));
        let export = start(&settings, "http://127.0.0.1:8080", &Arc::default(), Arc::clone(&tally)).unwrap();
        Hook { export, tally }
    }

    fn tell(&mut self, event: &Event) {
        self.export.handle_output(&Output::Event(event.clone()));
    }

    fn wait_for(&self, is_wanted: impl Fn(&ExportLedger) -> bool) -> ExportLedger {
        wait_for(&self.tally, is_wanted)
    }

    fn wait_for_requests(&self, server: &Server, is_wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..6_000 {
            let bodies: Vec<_> =
                server.taken().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
            if is_wanted(&bodies) {
                return bodies;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{:?}", server.taken());
    }
}

fn key(event: &Value) -> String {
    event["key"].as_str().unwrap().to_owned()
}

fn quick() -> WebhookSettings {
    WebhookSettings { pause_ms: 10, ..WebhookSettings::default() }
}
