//! Silences: events that are not delivered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, EventKind, Nanos};

/// Events that are not delivered to outputs; they are still stored and shown. All given conditions must
/// match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Silence {
    /// The kind of event; default: every kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKind>,
    /// A text that the key contains; empty: every key.
    pub key: String,
    /// When the silence ends, nanoseconds since 1970; default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Nanos>,
    /// Why.
    pub comment: String,
}

impl Silence {
    /// Whether the silence covers the event.
    #[must_use]
    pub fn covers(&self, event: &Event) -> bool {
        self.kind.is_none_or(|kind| kind == event.kind())
            && event.key.contains(&self.key)
            && self.until.is_none_or(|until| event.last < until)
    }
}
