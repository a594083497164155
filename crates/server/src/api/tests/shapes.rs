//! Answers have exactly the keys of the description.

use std::collections::BTreeSet;

use inband_testkit::{inner_only, md_frame, report_group};
use serde_json::{Value, json};

use super::System;
use crate::api::openapi::{Answer, OPERATIONS, openapi};

#[test]
fn every_answer_has_the_shape_that_is_described() {
    let system = System::start("");
    system.report(5);
    system.wait_for("/api/v1/ledger", |ledger| ledger["total"]["stored"] == 5);
    let flows = system.wait_for("/api/v1/flows", |flows| flows[0]["reports"] == 5);
    let events = system.wait_for("/api/v1/events", |events| events[0]["event"] == "new-flow");
    let event = events[0]["id"].as_str().unwrap();
    assert_eq!(
        system.send("post", &format!("/api/v1/events/{event}/acknowledge"), &[], r#"{"by":"me"}"#).0,
        200
    );
    assert_eq!(system.send("post", "/api/v1/silences", &[], r#"{"kind":"loop"}"#).0, 200);
    let mut reached = BTreeSet::new();
    for operation in OPERATIONS {
        let Answer::Json(of) = operation.answer else { continue };
        let id = match operation.path {
            path if path.starts_with("/api/v1/flows/{id}") => flows[0]["id"].as_str().unwrap(),
            "/api/v1/links/{id}/flows" => "7-8",
            _ => event,
        };
        let mut path = operation.path.replace("{id}", id).replace("{number}", "0");
        path = path.replace("{node}/{hw_id}/{sequence}", "7/0/1");
        if operation.path == "/api/v1/queues/timeline" {
            path += "?node=7&interface=1";
        }
        let body = match operation.path {
            "/api/v1/query" => json!({ "sql": "SELECT *, NULL AS missing FROM observations" }),
            "/api/v1/decode" => {
                let individual = inner_only().flags(0x20).inner(3, &md_frame().hop(7).build());
                let report = report_group(7).sequence(1).with(individual).build();
                json!({ "hex": report.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
            }
            "/api/v1/silences" => {
                json!({ "kind": "loop", "key": "leaf", "until": u64::MAX, "comment": "known" })
            }
            _ => json!({ "by": "me", "comment": "looking" }),
        };

        let (status, answer) = system.send(operation.method, &path, &[], &body.to_string());

        assert_eq!(status, 200, "{} {path}: {answer}", operation.method);
        let answer = serde_json::from_str(&answer).unwrap();
        let mut described = Described { document: openapi(), reached: &mut reached };
        let schema = crate::api::openapi::typed(of);
        described.check(&schema, &answer, &format!("{} {path}", operation.method));
    }
    let document = openapi();
    let described = document["components"]["schemas"].as_object().unwrap().keys();
    let missing: Vec<_> =
        described.filter(|name| !reached.contains(*name) && !ELSEWHERE.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "no answer has a {missing:?}");
}

/// The description, and the schemas that answers have covered.
struct Described<'a> {
    document: Value,
    reached: &'a mut BTreeSet<String>,
}

impl Described<'_> {
    /// Fails if `value` does not match `schema`; a key that is not described is a fault too.
    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            self.reached.insert(name.to_owned());
            let schema = self.document["components"]["schemas"][name].clone();
            assert!(schema.is_object(), "{at}: there is no shape {name}");
            return self.check(&schema, value, at);
        }
        let alternatives = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        if let Some(all) = alternatives {
            let is_null = |schema: &&Value| schema["type"] == "null";
            let words: Vec<&Value> =
                all.iter().map(|one| &one["const"]).filter(|word| !word.is_null()).collect();
            match all.iter().find(|schema| is_null(schema) == value.is_null()) {
                Some(_) if words.len() == all.len() => {
                    assert!(words.contains(&value), "{at}: {value} is no word");
                }
                Some(schema) => self.check(schema, value, at),
                None => panic!("{at}: may not be {value}"),
            }
            return;
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if value.is_null() && kinds.contains(&"null") {
            return;
        }
        match kinds.into_iter().find(|kind| *kind != "null") {
            None => {}
            Some("integer") => assert!(value.is_u64() || value.is_i64(), "{at}: {value} is no integer"),
            Some("number") => assert!(value.is_number(), "{at}: {value} is no number"),
            Some("string") => assert!(value.is_string(), "{at}: {value} is no string"),
            Some("boolean") => assert!(value.is_boolean(), "{at}: {value} is no boolean"),
            Some("array") => {
                let values = value.as_array().unwrap_or_else(|| panic!("{at}: {value} is no list"));
                values.iter().for_each(|value| self.check(&schema["items"], value, at));
            }
            Some("object") => self.check_object(schema, value, at),
            Some(other) => panic!("{at}: no type {other}"),
        }
    }

    fn check_object(&mut self, schema: &Value, value: &Value, at: &str) {
        let object = value.as_object().unwrap_or_else(|| panic!("{at}: {value} is no object"));
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(
                object.contains_key(required.as_str().unwrap()),
                "{at}: {required} is missing in {value}"
            );
        }
        if schema["properties"].is_null() && schema["additionalProperties"].is_null() {
            return;
        }
        for (key, value) in object {
            let known = &schema["properties"][key];
            let of = if known.is_null() { &schema["additionalProperties"] } else { known };
            assert!(!of.is_null(), "{at}: {key} is not described");
            self.check(of, value, &format!("{at} {key}"));
        }
    }
}

/// Request bodies, failures, and what needs timestamps, depths or history that this system does not have.
const ELSEWHERE: &[&str] = &[
    "AboutNode",
    "CapturedReport",
    "Damage",
    "DecodeFault",
    "DecodeQuestion",
    "DecodeStart",
    "DecodedCapture",
    "DropReason",
    "EcmpLoad",
    "EndReason",
    "Export",
    "Fault",
    "Latency",
    "Level",
    "Link",
    "PathComparison",
    "PathLink",
    "PeriodReason",
    "Problem",
    "Question",
    "Queue",
    "QueueEpisode",
    "QueueFlow",
    "QueueFlowRole",
    "QueueUnit",
    "RefusedSource",
    "SqlFormat",
    "SqlIntegers",
    "WindowValues",
];
