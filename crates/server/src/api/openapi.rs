//! How is the API described to programs?

use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::problem::Problem;
use super::views::json as answer;

/// One thing that can be asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    summary: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    /// The keys of the JSON object that is sent, where there is one.
    body: &'static [(&'static str, &'static str)],
    answers: &'static str,
}

const fn get(
    path: &'static str,
    summary: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> Operation {
    Operation { method: "get", path, summary, parameters, body: &[], answers: JSON }
}

const JSON: &str = "application/json";
const LIMIT: (&str, &str) = ("limit", "how many at most");
const NODE: (&str, &str) = ("node", "only those of the node with this id");

/// Everything that can be asked.
pub(super) const OPERATIONS: [Operation; 20] = [
    Operation { answers: "text/plain", ..get("/healthz", "whether the program runs", &[]) },
    Operation {
        answers: "text/plain",
        ..get(
            "/readyz",
            "whether the collector answers and history is being written; 503 and why where not",
            &[],
        )
    },
    Operation { answers: "text/plain", ..get("/metrics", "counts and latencies for Prometheus", &[]) },
    get("/api/v1/openapi.json", "this document", &[]),
    get("/api/v1/ledger", "where every report went, in total and by stream", &[]),
    get("/api/v1/nodes", "the nodes that report and those on their stacks", &[LIMIT, NODE]),
    get("/api/v1/links", "the links that paths have shown", &[LIMIT, NODE]),
    get("/api/v1/topology", "nodes and links", &[]),
    get("/api/v1/interfaces", "hop latency and utilisation by node and egress interface", &[LIMIT, NODE]),
    get("/api/v1/queues", "queue occupancy, the deepest first", &[LIMIT, NODE]),
    get("/api/v1/flows", "flows with their paths, those with the most reports first", &[LIMIT, NODE]),
    get("/api/v1/flows/{id}", "one flow and the paths it has taken lately", &[]),
    get(
        "/api/v1/events",
        "events that go on, then past ones, the latest first",
        &[("active", "true: only those that go on; false: only past ones"), LIMIT],
    ),
    Operation {
        method: "post",
        body: &[("by", "who knows of it"), ("comment", "what they say about it")],
        ..get("/api/v1/events/{id}/acknowledge", "note that somebody knows of an event", &[])
    },
    get("/api/v1/silences", "of which events nobody is told", &[]),
    Operation {
        method: "post",
        body: &[
            ("kind", "the kind of event; every kind where it is left out"),
            ("key", "a text that the event's key contains"),
            ("until", "when it ends, nanoseconds since 1970; never where it is left out"),
            ("comment", "why"),
        ],
        ..get("/api/v1/silences", "tell nobody of certain events", &[])
    },
    Operation { method: "delete", ..get("/api/v1/silences/{number}", "lift a silence", &[]) },
    Operation {
        method: "post",
        body: &[("sql", "the question; the tables are those of `inband query --tables`")],
        ..get("/api/v1/query", "ask the stored history in SQL, within limits", &[])
    },
    Operation {
        answers: "text/event-stream",
        ..get("/api/v1/stream", "events and the ledger as they come, as server-sent events", &[])
    },
    Operation { answers: "text/plain", ..get("/", "what can be asked", &[]) },
];

/// The document in OpenAPI 3.1.
pub(crate) fn openapi() -> Value {
    let mut paths = Map::new();
    for operation in &OPERATIONS {
        let entry = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(methods) = entry.as_object_mut() {
            methods.insert(operation.method.to_owned(), described(operation));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "inband", "version": "1", "description": "What the collector knows. Times are nanoseconds since 1970." },
        "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "token": [] }, {}],
        "paths": paths,
    })
}

fn described(operation: &Operation) -> Value {
    let mut described = json!({
        "summary": operation.summary,
        "responses": {
            "200": { "description": "the answer", "content": { (operation.answers): {} } },
            "default": {
                "description": "a problem",
                "content": { (JSON): { "schema": { "type": "object", "properties": { "error": { "type": "string" } } } } },
            },
        },
    });
    let in_path = operation.path.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let in_path = in_path.map(
        |(name, _)| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
    );
    let in_query = operation.parameters.iter().map(|(name, about)| {
        json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } })
    });
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if !operation.body.is_empty() {
        let keys: Map<_, _> = operation
            .body
            .iter()
            .map(|(name, about)| ((*name).to_owned(), json!({ "description": about })))
            .collect();
        described["requestBody"] =
            json!({ "content": { (JSON): { "schema": { "type": "object", "properties": keys } } } });
    }
    described
}

pub(super) async fn document() -> Response {
    answer(&openapi())
}

/// What can be asked, for people.
pub(super) async fn index() -> Response {
    let line = |operation: &Operation| {
        format!("{:<7}{:<36}{}\n", operation.method.to_uppercase(), operation.path, operation.summary)
    };
    let text: String = OPERATIONS.iter().map(line).collect();
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

pub(super) async fn nothing(uri: Uri) -> Problem {
    Problem::not_found(format!("nothing is at {}; / lists what is", uri.path()))
}
