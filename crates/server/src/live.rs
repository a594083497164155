//! Live events and ledgers for streaming listeners.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use inband_collector::Output;
use inband_export::{Stage, named_event};
use inband_model::{EventView, LedgerView, Names, Nanos};
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// The stage that sends events and the ledger to listeners. A slow listener loses the oldest messages and
/// receives their number.
#[derive(Debug, Clone)]
pub struct Live {
    sender: Sender<Message>,
    names: Arc<Names>,
    /// Identifies this run; numbers of other runs mean other events.
    run: u64,
    latest: Arc<Mutex<Latest>>,
}

/// A message to listeners.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// Its type: `event`, `ledger`, `map` or `flows`.
    pub(crate) name: &'static str,
    /// The number of the event.
    pub(crate) number: Option<u64>,
    /// A JSON object.
    pub(crate) json: String,
}

/// The latest events, for listeners that reconnect.
#[derive(Debug, Default)]
struct Latest {
    /// The number of the last event.
    number: u64,
    events: VecDeque<(u64, EventView)>,
}

/// What a reconnecting listener has missed.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// Events that can be sent again, earliest first.
    pub(crate) messages: Vec<Message>,
    /// Events that can no longer be sent.
    pub(crate) lost: u64,
    /// The number of the last event before the messages that the listener receives next.
    pub(crate) last: u64,
}

impl Live {
    /// Creates the stage without listeners; events get these names beside numbers.
    #[must_use]
    pub fn new(names: Arc<Names>) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = u64::try_from(started.as_nanos()).unwrap_or_default();
        Self { sender: channel(MAX_UNHEARD).0, names, run, latest: Arc::default() }
    }

    pub(crate) fn listen(&self) -> Receiver<Message> {
        self.sender.subscribe()
    }

    /// The id of an event, with which a listener may reconnect.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{:x}-{number}", self.run)
    }

    /// What came after the event with an id that `id` created; with an id of another run, everything so far
    /// is lost.
    pub(crate) fn since(&self, id: Option<&str>) -> Missed {
        let latest = self.latest();
        let last = latest.number;
        let Some(id) = id else { return Missed { last, ..Missed::default() } };
        let known = id.split_once('-').filter(|(run, _)| u64::from_str_radix(run, 16) == Ok(self.run));
        let seen = known.and_then(|(_, number)| number.parse().ok()).unwrap_or(0).min(last);
        let missed = latest.events.iter().filter(|(number, _)| *number > seen);
        let messages: Vec<Message> =
            missed.filter_map(|(number, view)| self.message(*number, view)).collect();
        let lost = (last - seen).saturating_sub(messages.len() as u64);
        Missed { messages, lost, last }
    }

    fn message(&self, number: u64, view: &EventView) -> Option<Message> {
        let json = serde_json::to_string(&named_event(&self.names, view)).ok()?;
        Some(Message { name: "event", number: Some(number), json })
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        // The content is consistent at any time.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends listeners a message that is already JSON.
    pub(crate) fn tell_text(&self, name: &'static str, json: String) {
        if self.sender.receiver_count() > 0 {
            // The last listener may have gone.
            let _ = self.sender.send(Message { name, number: None, json });
        }
    }

    fn tell(&self, name: &'static str, what: &impl Serialize) {
        if self.sender.receiver_count() > 0
            && let Ok(json) = serde_json::to_string(what)
        {
            // The last listener may have gone.
            let _ = self.sender.send(Message { name, number: None, json });
        }
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Stage for Live {
    fn handle_output(&mut self, output: &Output) {
        if let Output::Event(event) = output {
            let view = EventView { id: event.id(), event: event.clone(), acknowledged: None };
            let mut latest = self.latest();
            latest.number += 1;
            let number = latest.number;
            // Naming an event costs more than checking for listeners.
            let message = if self.sender.receiver_count() > 0 { self.message(number, &view) } else { None };
            if latest.events.len() >= MAX_LATEST {
                latest.events.pop_front();
            }
            latest.events.push_back((number, view));
            // Under the lock, so that a reconnecting listener receives each event once.
            if let Some(message) = message {
                let _ = self.sender.send(message);
            }
        }
    }

    fn wants_ledger(&self, _now: Nanos) -> bool {
        self.sender.receiver_count() > 0
    }

    fn handle_ledger(&mut self, _now: Nanos, _taken_at: Nanos, ledger: &LedgerView) {
        self.tell("ledger", &ledger.total);
    }
}

/// Maximum number of messages a listener may be behind.
const MAX_UNHEARD: usize = 1_024;
/// Maximum number of events kept for listeners that reconnect.
const MAX_LATEST: usize = 1_024;
