//! How do those who watch hear of events and counts as they come?

use std::sync::Arc;

use inband_collector::Output;
use inband_model::{EventView, LedgerView, Nanos};
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::names::Names;
use crate::pipeline::Stage;

/// The stage that shows events and the ledger to whoever listens. One who is slow misses the oldest of them and is told
/// how many.
#[derive(Debug, Clone)]
pub struct Live {
    sender: Sender<Message>,
    names: Arc<Names>,
}

/// Something those who listen are told.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// What it is: `event` or `ledger`.
    pub(crate) name: &'static str,
    /// A JSON object.
    pub(crate) json: String,
}

impl Live {
    /// Nobody listens yet; events will have these names beside numbers.
    #[must_use]
    pub fn new(names: Arc<Names>) -> Live {
        Live { sender: channel(MOST_UNHEARD).0, names }
    }

    pub(crate) fn listen(&self) -> Receiver<Message> {
        self.sender.subscribe()
    }

    fn tell(&self, name: &'static str, what: &impl Serialize) {
        if self.sender.receiver_count() > 0
            && let Ok(json) = serde_json::to_string(what)
        {
            // The last listener may have gone meanwhile.
            let _ = self.sender.send(Message { name, json });
        }
    }
}

impl Default for Live {
    fn default() -> Live {
        Live::new(Arc::default())
    }
}

impl Stage for Live {
    fn handle_output(&mut self, output: &Output) {
        if let Output::Event(event) = output {
            // To name an event costs more than to look whether somebody listens.
            if self.sender.receiver_count() > 0 {
                let view = EventView { id: event.id(), event: event.clone(), acknowledged: None };
                self.tell("event", &self.names.of_event(&view));
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
const MOST_UNHEARD: usize = 1_024;
