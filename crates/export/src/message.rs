//! The messages of outputs that take everything: JSON Lines and brokers.

mod rows;

use inband_model::api::NamedEvent;
use inband_model::{
    Event, EventView, HopColumns, Ledger, LedgerView, Names, Nanos, Observation, Output, PathObservation,
};
use serde::{Deserialize, Serialize};

use super::delivery::{Choice, Chosen};
use super::queue::Messages;
use crate::named_event::named_event;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The path of a flow, when first known and when it changes.
    Paths,
    /// Events, including silenced ones.
    Events,
    /// The totals of the ledger.
    Ledger,
    /// Every hop of every report.
    Observations,
}

impl Topic {
    /// Every topic, in the order of their numbers.
    #[cfg(any(test, feature = "nats", feature = "kafka"))]
    pub(super) const ALL: [Topic; 4] = [Topic::Paths, Topic::Events, Topic::Ledger, Topic::Observations];

    /// Its name in settings.
    #[cfg(any(feature = "nats", feature = "kafka"))]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Topic::Paths => "paths",
            Topic::Events => "events",
            Topic::Ledger => "ledger",
            Topic::Observations => "observations",
        }
    }
}

/// One message, or the hops of some reports, one message each.
#[derive(Debug, Clone)]
pub(super) enum Message {
    Path(Box<PathObservation>),
    Event(Box<Event>),
    Ledger(Nanos, Box<Ledger>),
    Hops(Box<HopColumns>),
}

/// The ledger as a message.
#[derive(Serialize)]
struct LedgerLine<'a> {
    kind: &'static str,
    time: Nanos,
    #[serde(flatten)]
    total: &'a Ledger,
}

/// An event as a message.
#[derive(Serialize)]
struct EventLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    event: NamedEvent<'a>,
}

impl Message {
    /// What it is about.
    #[cfg(any(feature = "nats", feature = "kafka"))]
    pub(super) fn topic(&self) -> Topic {
        match self {
            Message::Path(_) => Topic::Paths,
            Message::Event(_) => Topic::Events,
            Message::Ledger(..) => Topic::Ledger,
            Message::Hops(_) => Topic::Observations,
        }
    }

    /// Passes each message to `take` as a JSON object with names beside numbers, and with what it belongs to:
    /// flow, key or node.
    pub(super) fn each_json(self, names: &Names, mut take: impl FnMut(&str, &[u8])) {
        // These types always serialize: no map has keys other than strings.
        let json = |line: &dyn Fn() -> serde_json::Result<Vec<u8>>| line().unwrap_or_default();
        match self {
            Message::Path(path) => {
                let key = path.flow.to_string();
                let path = Observation::Path(*path);
                take(&key, &json(&|| serde_json::to_vec(&path)));
            }
            Message::Event(event) => {
                let (id, key) = (event.id(), event.key.clone());
                let view = EventView { id, event: *event, acknowledged: None };
                let line = EventLine { kind: "event", event: named_event(names, &view) };
                take(&key, &json(&|| serde_json::to_vec(&line)));
            }
            Message::Ledger(time, total) => {
                let line = LedgerLine { kind: "ledger", time, total: &total };
                take("ledger", &json(&|| serde_json::to_vec(&line)));
            }
            Message::Hops(hops) => {
                let mut line = Vec::new();
                for hop in hops.iter() {
                    line.clear();
                    rows::write(&hop, &mut line);
                    take(&hop.node_id.0.to_string(), &line);
                }
            }
        }
    }
}

impl Messages for Message {
    fn messages(&self) -> u64 {
        match self {
            Message::Hops(hops) => hops.len() as u64,
            Message::Path(_) | Message::Event(_) | Message::Ledger(..) => 1,
        }
    }
}

/// The topics an output takes.
#[derive(Debug)]
pub(super) struct Topics {
    topics: Vec<Topic>,
    ledger_at: Nanos,
}

impl Topics {
    pub(super) fn new(topics: &[Topic]) -> Topics {
        Topics { topics: topics.to_owned(), ledger_at: Nanos::ZERO }
    }

    fn has(&self, topic: Topic) -> bool {
        self.topics.contains(&topic)
    }
}

impl Choice for Topics {
    type Item = Message;

    fn choose(&mut self, output: &Output) -> Chosen<Message> {
        match output {
            Output::Observation(Observation::Path(path)) if self.has(Topic::Paths) => {
                Chosen::Deliver(Message::Path(Box::new(path.clone())))
            }
            Output::Event(event) if self.has(Topic::Events) => {
                Chosen::Deliver(Message::Event(Box::new(event.clone())))
            }
            // The hops contain every latency and depth.
            Output::Observation(_) | Output::Event(_) => Chosen::Nothing,
        }
    }

    fn wants_hops(&self) -> bool {
        self.has(Topic::Observations)
    }

    fn messages_of(&self, hops: &HopColumns) -> Option<u64> {
        Some(hops.len() as u64)
    }

    fn choose_hops(&mut self, hops: &HopColumns) -> Chosen<Message> {
        if self.has(Topic::Observations) {
            Chosen::Deliver(Message::Hops(Box::new(hops.clone())))
        } else {
            Chosen::Nothing
        }
    }

    fn wants_ledger(&self, now: Nanos) -> bool {
        self.has(Topic::Ledger) && now.since(self.ledger_at) >= LEDGER_EVERY
    }

    fn choose_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) -> Chosen<Message> {
        // Every output gets the ledger if any wants it.
        if !self.has(Topic::Ledger) {
            return Chosen::Nothing;
        }
        self.ledger_at = now;
        Chosen::Deliver(Message::Ledger(taken_at, Box::new(ledger.total)))
    }
}

/// How often the ledger is sent.
const LEDGER_EVERY: Nanos = Nanos::from_secs(10);

#[cfg(test)]
mod tests;
