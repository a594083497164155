//! Events: what the collector announces to people.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{EventDetail, EventId, EventKind, Nanos, NodeId};

/// An event that the collector announces.
///
/// In JSON the kind is under `event`, and what only this kind has under `detail`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    #[schemars(with = "KindAndDetail")]
    pub detail: EventDetail,
    /// How severe it is.
    pub severity: Severity,
    /// Events with the same kind and key have the same subject.
    pub key: String,
    /// When the first report it is based on arrived here.
    pub first: Nanos,
    /// When the last report it is based on arrived here.
    pub last: Nanos,
    /// Number of reports it is based on.
    pub count: u64,
    /// How sure it is.
    pub confidence: Confidence,
    /// Some of the reports it is based on: the first ones and the latest ones.
    pub evidence: Vec<ReportReference>,
    /// Whether it begins, ends, or happened once.
    #[serde(default)]
    pub phase: Phase,
    /// Whether a silence covers it; it is kept, but not delivered.
    #[serde(default, skip_serializing_if = "is_false")]
    pub silenced: bool,
    /// Why it has ended; missing while it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
}

impl Event {
    /// The event of a single report, at the time of its arrival.
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

    /// The nodes that it names, and those that reported it.
    #[must_use]
    pub fn nodes(&self) -> BTreeSet<NodeId> {
        let reporters = self.evidence.iter().map(|report| report.node_id);
        reporters.chain(self.detail.nodes()).collect()
    }

    /// The event's id: the same for its beginning and its end.
    #[must_use]
    pub fn id(&self) -> EventId {
        EventId::of(self.kind(), &self.key, self.first)
    }
}

/// The phase of an event.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It happened once, without a duration.
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
    /// Nothing more was reported about it.
    Quiet,
    /// The collector ended while the event was active.
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

/// The acknowledgement of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Who acknowledged it.
    pub by: String,
    /// A comment.
    #[serde(default)]
    pub comment: String,
    /// When it was acknowledged.
    #[serde(default)]
    pub at: Nanos,
}

/// An event as the API returns it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// The id by which it is acknowledged.
    pub id: EventId,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// Its acknowledgement; missing while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

/// The schema of an [`EventDetail`]; `docs/events.md` describes the detail of each kind.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct KindAndDetail {
    /// The kind.
    event: EventKind,
    /// What only this kind has.
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

/// The severity of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// For information.
    Info,
    /// Worth a look.
    Warning,
    /// Traffic, or its observation, is impaired.
    Critical,
}

/// The confidence of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// One of several explanations.
    Possible,
    /// The best explanation of what was reported.
    Probable,
    /// What was reported allows no other explanation.
    Certain,
}

/// The reference by which a report is found in history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct ReportReference {
    /// The reporting node.
    pub node_id: NodeId,
    /// HW ID: the part of the node that numbers reports.
    pub hw_id: u8,
    /// Sequence number of the datagram.
    pub sequence: u32,
    /// When it arrived here.
    pub received_at: Nanos,
}

#[cfg(test)]
mod tests;
