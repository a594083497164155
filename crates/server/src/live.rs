//! Events and counts as they come, for those who follow them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use inband_collector::Output;
use inband_export::{Stage, named_event};
use inband_model::{EventView, LedgerView, Names, Nanos};
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// The stage that shows events and the ledger to whoever listens. One who is slow misses the oldest of them and is told
/// how many.
#[derive(Debug, Clone)]
pub struct Live {
    sender: Sender<Message>,
    names: Arc<Names>,
    /// Tells this run from others, whose numbers mean other events.
    run: u64,
    latest: Arc<Mutex<Latest>>,
}

/// Something those who listen are told.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// What it is: `event`, `ledger`, `map` or `flows`.
    pub(crate) name: &'static str,
    /// The number of an event.
    pub(crate) number: Option<u64>,
    /// A JSON object.
    pub(crate) json: String,
}

/// The latest events, for those who come back.
#[derive(Debug, Default)]
struct Latest {
    /// The number of the last event.
    number: u64,
    events: VecDeque<(u64, EventView)>,
}

/// What one who comes back has missed.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// Events that can be told again, the earliest first.
    pub(crate) messages: Vec<Message>,
    /// Events that cannot.
    pub(crate) lost: u64,
    /// The number of the last event before the messages that a listener hears from now on.
    pub(crate) last: u64,
}

impl Live {
    /// Nobody listens yet; events will have these names beside numbers.
    #[must_use]
    pub fn new(names: Arc<Names>) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = u64::try_from(started.as_nanos()).unwrap_or_default();
        Self { sender: channel(MAX_UNHEARD).0, names, run, latest: Arc::default() }
    }

    pub(crate) fn listen(&self) -> Receiver<Message> {
        self.sender.subscribe()
    }

    /// The id of an event, by which one may come back.
    pub(crate) fn id(&self, number: u64) -> String {
        format!("{:x}-{number}", self.run)
    }

    /// What came after an event, whose id `id` made; of another run, and of nothing, all that came is lost.
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
        // What is in it is whole at any time.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who listen something that is already JSON.
    pub(crate) fn tell_text(&self, name: &'static str, json: String) {
        if self.sender.receiver_count() > 0 {
            // The last listener may have gone meanwhile.
            let _ = self.sender.send(Message { name, number: None, json });
        }
    }

    fn tell(&self, name: &'static str, what: &impl Serialize) {
        if self.sender.receiver_count() > 0
            && let Ok(json) = serde_json::to_string(what)
        {
            // The last listener may have gone meanwhile.
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
            // To name an event costs more than to look whether somebody listens.
            let message = if self.sender.receiver_count() > 0 { self.message(number, &view) } else { None };
            if latest.events.len() >= MAX_LATEST {
                latest.events.pop_front();
            }
            latest.events.push_back((number, view));
            // Under the lock, so that whoever comes back hears each event once.
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

/// Messages a listener may be behind.
const MAX_UNHEARD: usize = 1_024;
/// Events that are told again to those who come back.
const MAX_LATEST: usize = 1_024;
