//! The description of the API in OpenAPI.

mod derived;
mod typed;

use axum::extract::State;
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use inband_model::api::{
    BetweenQuestion, CaptureQuestion, CompletionQuestion, DropsQuestion, EcmpQuestion, EventsQuestion,
    FlowHistoryQuestion, FlowSearchQuestion, HeatQuestion, LimitQuestion, ListQuestion, MapQuestion,
    PacketsQuestion, QueueTimelineQuestion, ReportQuestion, ReportsQuestion, StreamQuestion, SummaryQuestion,
    TalkersQuestion,
};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::Shared;
use super::asked::{properties, required};
use super::problem::Problem;
use super::views::json as answer;
pub(super) use typed::typed;

/// One operation of the API.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    summary: &'static str,
    /// The query parameters.
    parameters: fn() -> Vec<Value>,
    /// The type of the JSON object in the request body, if any.
    body: Option<&'static str>,
    /// The media type of an alternative request body.
    other_body: Option<&'static str>,
    pub(super) answer: Answer,
}

/// The answer of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// JSON of a type, in the notation of [`typed`].
    Json(&'static str),
    /// Another media type.
    Other(&'static str),
}

const fn get(path: &'static str, summary: &'static str, answer: &'static str) -> Operation {
    let answer = Answer::Json(answer);
    Operation { method: "get", path, summary, parameters: Vec::new, body: None, other_body: None, answer }
}

/// An operation with the query parameters of a type.
const fn ask<Q: JsonSchema>(path: &'static str, summary: &'static str, answer: &'static str) -> Operation {
    Operation { parameters: parameters::<Q>, ..get(path, summary, answer) }
}

const fn list(path: &'static str, summary: &'static str, answer: &'static str) -> Operation {
    ask::<ListQuestion>(path, summary, answer)
}

const fn post(
    path: &'static str,
    summary: &'static str,
    body: &'static str,
    answer: &'static str,
) -> Operation {
    Operation { method: "post", body: Some(body), ..get(path, summary, answer) }
}

const fn text(path: &'static str, summary: &'static str) -> Operation {
    Operation { answer: Answer::Other("text/plain"), ..get(path, summary, "") }
}

/// The parameters of a request type, from its schema.
fn parameters<Q: JsonSchema>() -> Vec<Value> {
    let required = required::<Q>();
    let described = properties::<Q>().into_iter().map(|(name, mut schema)| {
        let about = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        let is_required = required.contains(&name);
        json!({ "name": name, "in": "query", "description": about, "required": is_required, "schema": schema })
    });
    described.collect()
}

/// Every operation.
pub(super) const OPERATIONS: [Operation; 38] = [
    text("/healthz", "whether the program runs"),
    text("/readyz", "whether the collector answers and history is being written; 503 with the reason if not"),
    text("/metrics", "counts and latencies for Prometheus"),
    get("/api/v1/openapi.json", "this document", "object"),
    get("/api/v1/ledger", "where every report went, in total and by stream", "Ledger"),
    list("/api/v1/nodes", "nodes that report, and nodes on metadata stacks", "[Node]"),
    list("/api/v1/links", "links found on paths", "[Link]"),
    ask::<LimitQuestion>("/api/v1/links/{id}/flows", "flows whose latest path uses a link", "[Flow]"),
    ask::<BetweenQuestion>(
        "/api/v1/paths",
        "paths between two places, those with the most flows first",
        "[PathBetween]",
    ),
    ask::<TalkersQuestion>("/api/v1/talkers", "top talkers with rates over time, from history", "Talkers"),
    get("/api/v1/topology", "nodes and links", "Topology"),
    list("/api/v1/interfaces", "hop latency and utilisation by node and egress interface", "[Interface]"),
    list("/api/v1/queues", "queue occupancy, deepest first", "[Queue]"),
    list("/api/v1/flows", "flows with their paths, most reports first", "[Flow]"),
    get("/api/v1/flows/{id}", "one flow and its recent paths", "FlowPaths"),
    ask::<FlowSearchQuestion>("/api/v1/flows/search", "flows that match a filter, in columns", "FlowList"),
    ask::<CompletionQuestion>("/api/v1/filter/complete", "completions of a filter", "Completion"),
    ask::<PacketsQuestion>(
        "/api/v1/flows/{id}/packets",
        "packets of a flow with their hops, from history",
        "Packets",
    ),
    ask::<FlowHistoryQuestion>(
        "/api/v1/flows/{id}/history",
        "the paths a flow took, with the latencies of their hops, from history",
        "FlowHistory",
    ),
    ask::<QueueTimelineQuestion>(
        "/api/v1/queues/timeline",
        "one queue over a short time, with the flows in it, from history",
        "QueueTimeline",
    ),
    ask::<HeatQuestion>("/api/v1/heat", "latency or occupancy by step and size class, from history", "Heat"),
    ask::<MapQuestion>("/api/v1/map", "nodes, interfaces and links with values of a time range", "FabricMap"),
    ask::<DropsQuestion>(
        "/api/v1/drops",
        "drop reports by reason, node, interface or flow, from history",
        "Drops",
    ),
    ask::<EcmpQuestion>(
        "/api/v1/ecmp",
        "how nodes spread flows over links of equal cost, most unequal first",
        "Ecmp",
    ),
    ask::<SummaryQuestion>("/api/v1/summary", "the ledger, incidents and key figures over time", "Summary"),
    get("/api/v1/about", "version, tables and their retention, limits and units", "About"),
    ask::<EventsQuestion>("/api/v1/events", "active events, then past ones, latest first", "[Event]"),
    get("/api/v1/events/{id}", "one event, active or from history", "Event"),
    post("/api/v1/events/{id}/acknowledge", "acknowledge an event", "Acknowledgement", "Nothing"),
    ask::<ReportsQuestion>(
        "/api/v1/reports",
        "report datagrams whose bytes are kept, latest first",
        "ReportList",
    ),
    ask::<ReportQuestion>(
        "/api/v1/reports/{node}/{hw_id}/{sequence}",
        "one report datagram with its bytes and fields",
        "KeptReport",
    ),
    get("/api/v1/silences", "the silences in force", "[NumberedSilence]"),
    post("/api/v1/silences", "silence certain events", "Silence", "Number"),
    Operation { method: "delete", ..get("/api/v1/silences/{number}", "lift a silence", "Nothing") },
    post("/api/v1/query", "query the stored history in SQL, within limits", "Question", "Rows"),
    Operation {
        parameters: parameters::<CaptureQuestion>,
        other_body: Some(CAPTURE),
        ..post(
            "/api/v1/decode",
            "decode a report sent as hexadecimal digits, or the reports of a capture",
            "DecodeQuestion",
            "Decoded|DecodedCapture",
        )
    },
    Operation {
        answer: Answer::Other("text/event-stream"),
        ..ask::<StreamQuestion>(
            "/api/v1/stream",
            "events and the ledger as they arrive, as server-sent events",
            "",
        )
    },
    text("/", "this list"),
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
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": derived::schemas(),
        },
        "security": [{ "token": [] }, {}],
        "paths": paths,
    })
}

fn described(operation: &Operation) -> Value {
    let content = |of: &str| json!({ (JSON): { "schema": typed(of) } });
    let answer = match operation.answer {
        Answer::Json(of) => content(of),
        Answer::Other(media) => json!({ (media): {} }),
    };
    let mut described = json!({
        "summary": operation.summary,
        "responses": {
            "200": { "description": "the answer", "content": answer },
            "default": { "description": "a problem", "content": { (PROBLEM): { "schema": typed("Problem") } } },
        },
    });
    let in_path = operation.path.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let in_path = in_path.map(|(name, _)| {
        let of = if ["number", "node", "hw_id", "sequence"].contains(&name) { "integer" } else { "string" };
        json!({ "name": name, "in": "path", "required": true, "schema": typed(of) })
    });
    let parameters: Vec<Value> = in_path.chain((operation.parameters)()).collect();
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(body) = operation.body {
        let mut content = content(body);
        if let Some(media) = operation.other_body {
            content[media] = json!({});
        }
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    described
}

pub(super) async fn document(State(state): State<Shared>) -> Response {
    let mut document = openapi();
    if !state.base.as_str().is_empty() {
        document["servers"] = json!([{ "url": state.base.as_str() }]);
    }
    answer(&document)
}

/// The list of operations, for people.
pub(super) async fn index(State(state): State<Shared>) -> Response {
    let line = |operation: &Operation| {
        let path = format!("{}{}", state.base.as_str(), operation.path);
        format!("{:<7}{path:<36}{}\n", operation.method.to_uppercase(), operation.summary)
    };
    let text: String = OPERATIONS.iter().map(line).collect();
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

pub(super) async fn nothing(uri: Uri) -> Problem {
    Problem::not_found(format!("nothing is at {}; / lists what is", uri.path()))
}

const JSON: &str = "application/json";
const CAPTURE: &str = "application/vnd.tcpdump.pcap";
const PROBLEM: &str = "application/problem+json";
