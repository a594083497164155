//! Parameters of lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time::{Span, Time, TimeSelection};
use super::window::Window;
use crate::{EventKind, Severity};

/// Parameters of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListQuestion {
    /// Maximum number of entries.
    pub limit: Option<usize>,
    /// Only entries of the node with this id.
    pub node: Option<u32>,
    /// Adds values of a recent window to those since the start, for nodes, links, interfaces and queues;
    /// queues are then sorted by the recent values.
    pub window: Option<Window>,
}

/// Parameters of a list without filters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LimitQuestion {
    /// Maximum number of entries.
    pub limit: Option<usize>,
}

/// Parameters of `GET /api/v1/paths`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BetweenQuestion {
    /// Address, prefix or name of the sources.
    pub source: Option<String>,
    /// Address, prefix or name of the destinations.
    pub destination: Option<String>,
    /// Maximum number of paths.
    pub limit: Option<usize>,
}

/// Parameters of `GET /api/v1/talkers`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TalkersQuestion {
    /// What counts as one talker.
    pub by: TalkersBy,
    /// End of the time range, nanoseconds since 1970; default: now.
    pub until: Option<u64>,
    /// Length of the time range, seconds; default: 300.
    pub seconds: Option<u64>,
    /// Length of a step, seconds; default: a sixtieth of the time range.
    pub step: Option<u64>,
    /// Maximum number of talkers.
    pub limit: Option<usize>,
}

/// What counts as one talker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TalkersBy {
    /// A flow.
    #[default]
    Flow,
    /// Source and destination.
    Pair,
    /// The source.
    Source,
    /// The destination.
    Destination,
}

/// Parameters of `GET /api/v1/events`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventsQuestion {
    /// true: only active events; false: only past events.
    pub active: Option<bool>,
    /// Maximum number of past events, or with `after` of all events; default: 100.
    pub limit: Option<usize>,
    /// Only events active within this span up to now, including history.
    pub live: Option<Span>,
    /// Only events active around this time, including history; `span` is the length.
    pub at: Option<Time>,
    /// Length of the time range around `at`; default: 1s.
    pub span: Option<Span>,
    /// Only events active at this time or later, including history.
    pub from: Option<Time>,
    /// Only events that began at this time or earlier, including history.
    pub to: Option<Time>,
    /// Only events of this kind.
    pub kind: Option<EventKind>,
    /// Only events of this severity or higher.
    pub severity: Option<Severity>,
    /// Only events that name the node with this id, or are based on its reports.
    pub node: Option<u32>,
    /// Only events whose key contains this text.
    pub key: Option<String>,
    /// Only events that name the flow with this id.
    pub flow: Option<String>,
    /// Only the event with this id and those on the same queue, interface, link or flow that came within a
    /// second of each other.
    pub related: Option<String>,
    /// Id of the last event of the previous page.
    pub after: Option<String>,
}

impl EventsQuestion {
    /// The requested time range; `None` if the request contains none.
    #[must_use]
    pub fn time(&self) -> Option<TimeSelection> {
        let Self { live, at, span, from, to, .. } = *self;
        let time = TimeSelection { live, at, span, from, to };
        (time != TimeSelection::default()).then_some(time)
    }
}

/// Parameters of `GET /api/v1/stream`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StreamQuestion {
    /// `event`, `ledger`, `map` or `flows`, or several separated by commas; default: `event,ledger`.
    pub topics: Option<String>,
    /// Id of the last event received, for callers that cannot send the header `Last-Event-ID`.
    pub last_event_id: Option<String>,
}
