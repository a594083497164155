//! Parameters of lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time::{Span, Time, TimeSelection};
use super::window::Window;
use crate::{EventKind, Severity};

/// Which entries of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListQuestion {
    /// How many at most.
    pub limit: Option<usize>,
    /// Only those of the node with this id.
    pub node: Option<u32>,
    /// Of nodes, links, interfaces and queues: beside what they have shown so far, what they have shown lately. Queues
    /// are then in the order of that.
    pub window: Option<Window>,
}

/// How many entries of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LimitQuestion {
    /// How many at most.
    pub limit: Option<usize>,
}

/// Between which hosts paths are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BetweenQuestion {
    /// Address, prefix or name of the sources.
    pub source: Option<String>,
    /// Address, prefix or name of the destinations.
    pub destination: Option<String>,
    /// How many at most.
    pub limit: Option<usize>,
}

/// Whose rates are wanted, and over which time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TalkersQuestion {
    /// What counts as one talker.
    pub by: TalkersBy,
    /// End of the time, nanoseconds since 1970; now where it is left out.
    pub until: Option<u64>,
    /// Length of the time; 300 where it is left out.
    pub seconds: Option<u64>,
    /// Seconds of a step; a sixtieth of the time where it is left out.
    pub step: Option<u64>,
    /// How many at most.
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

/// Which events are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EventsQuestion {
    /// true: only those that go on; false: only past ones.
    pub active: Option<bool>,
    /// How many past ones at most; 100 where it is left out.
    pub limit: Option<usize>,
    /// Only those that went on within so long up to now, history included.
    pub live: Option<Span>,
    /// Only those that went on around this time, history included; `span` is how long.
    pub at: Option<Time>,
    /// The length of the time around `at`; 1s where it is left out.
    pub span: Option<Span>,
    /// Only those that went on then or later, history included.
    pub from: Option<Time>,
    /// Only those that had begun by then, history included.
    pub to: Option<Time>,
    /// Only those of this kind.
    pub kind: Option<EventKind>,
    /// Only those that matter so much or more.
    pub severity: Option<Severity>,
    /// Only those that name the node with this id, or rest on its reports.
    pub node: Option<u32>,
    /// Only those whose key holds this text.
    pub key: Option<String>,
    /// Only those that name the flow with this id.
    pub flow: Option<String>,
    /// Only those of the queue, interface, link or flow of the event with this id that came within a second of each
    /// other, itself included.
    pub related: Option<String>,
    /// The id of the last event of the page before.
    pub after: Option<String>,
}

impl EventsQuestion {
    /// The time that is asked about; `None` where none is.
    #[must_use]
    pub fn time(&self) -> Option<TimeSelection> {
        let Self { live, at, span, from, to, .. } = *self;
        let time = TimeSelection { live, at, span, from, to };
        (time != TimeSelection::default()).then_some(time)
    }
}

/// What is followed, and from where on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StreamQuestion {
    /// `event`, `ledger`, `map`, `flows`, or several with commas between them; `event` and `ledger` where it is left out.
    pub topics: Option<String>,
    /// The id of the last event that was heard, for callers that cannot send the header `Last-Event-ID`.
    pub last_event_id: Option<String>,
}
