//! Which events does somebody not want to be told of?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, EventKind, Nanos};

/// Events nobody is to be told of; they are kept and shown all the same. What is given must all match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Silence {
    /// The kind of event; every kind where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKind>,
    /// A text that the key contains; empty: every key.
    pub key: String,
    /// When the silence ends, nanoseconds since 1970; never where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Nanos>,
    /// Why.
    pub comment: String,
}

impl Silence {
    /// Whether nobody is to be told of the event.
    #[must_use]
    pub fn covers(&self, event: &Event) -> bool {
        self.kind.is_none_or(|kind| kind == event.kind())
            && event.key.contains(&self.key)
            && self.until.is_none_or(|until| event.last < until)
    }
}
