//! What is worth telling a person?

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{EventDetail, EventId, EventKind, Nanos, NodeId};

/// Something the collector announces.
///
/// In JSON the kind stands under `event` and what only this kind has under `detail`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    #[schemars(with = "KindAndDetail")]
    pub detail: EventDetail,
    /// How much it matters.
    pub severity: Severity,
    /// Events with the same kind and key are about the same thing.
    pub key: String,
    /// When the first report it rests on arrived here.
    pub first: Nanos,
    /// When the last report it rests on arrived here.
    pub last: Nanos,
    /// How many reports it rests on.
    pub count: u64,
    /// How sure it is.
    pub confidence: Confidence,
    /// Some of the reports it rests on: the first ones and the latest ones.
    pub evidence: Vec<ReportReference>,
    /// Where it stands in its course.
    #[serde(default)]
    pub phase: Phase,
    /// Whether somebody has asked not to be told of it; it is kept all the same.
    #[serde(default, skip_serializing_if = "is_false")]
    pub silenced: bool,
    /// Why it has ended; missing as long as it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
}

impl Event {
    /// The event that one report tells, at the time it arrived.
    #[must_use]
    pub fn of_report(
        detail: EventDetail,
        severity: Severity,
        key: String,
        confidence: Confidence,
        report: ReportReference,
    ) -> Event {
        Event {
            detail,
            severity,
            key,
            first: report.received_at,
            last: report.received_at,
            count: 1,
            confidence,
            evidence: vec![report],
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }

    /// The kind of the event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.detail.kind()
    }

    /// The event's id: the same for its beginning and its end.
    #[must_use]
    pub fn id(&self) -> EventId {
        EventId::of(self.kind(), &self.key, self.first)
    }
}

/// Where an event stands in its course.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It happened, and has no course.
    #[default]
    Once,
    /// It has begun, and is announced again when it ends.
    Begin,
    /// It has ended.
    End,
}

/// Why an event has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// A report showed that its cause is over.
    Over,
    /// Nothing more was reported of it.
    Quiet,
    /// The collector ended while it went on.
    RunEnded,
}

impl EndReason {
    /// Its name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Over => "over",
            Self::Quiet => "quiet",
            Self::RunEnded => "run-ended",
        }
    }
}

/// Who knows of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Who.
    pub by: String,
    /// What they say about it.
    #[serde(default)]
    pub comment: String,
    /// When they said so.
    #[serde(default)]
    pub at: Nanos,
}

/// An event as those see it who ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// By which it is acknowledged.
    pub id: EventId,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// Who knows of it; missing until somebody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

/// An [`EventDetail`] as its schema describes it: what a kind has in its detail is in `docs/events.md`.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct KindAndDetail {
    /// Its kind.
    event: EventKind,
    /// What only its kind has.
    detail: BTreeMap<String, AnyValue>,
}

/// Any value of JSON.
struct AnyValue;

impl JsonSchema for AnyValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Traffic, or the view of it, suffers.
    Critical,
}

/// How sure an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// One of several explanations.
    Possible,
    /// The best explanation of what was reported.
    Probable,
    /// What was reported leaves no other explanation.
    Certain,
}

/// Names one report, so that it can be found in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct ReportReference {
    /// The reporting node.
    pub node_id: NodeId,
    /// The part of the node that numbers the reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// When it arrived here.
    pub received_at: Nanos,
}

#[cfg(test)]
mod tests;
