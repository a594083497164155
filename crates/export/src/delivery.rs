//! The pipeline stage in front of an output's thread.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use inband_model::{ExportLedger, HopColumns, LedgerView, Nanos, Output};

use super::error::ExportError;
use super::queue::{Ending, Inlet, Messages, Outlet, queue};
use super::tally::Tally;
use crate::stage::Stage;

/// What an output takes from the pipeline. It runs on the pipeline's thread, so it only selects and copies.
pub(super) trait Choice: Send + 'static {
    /// What is passed to the thread that delivers.
    type Item: Messages;

    /// What it takes of an observation or event.
    fn choose(&mut self, output: &Output) -> Chosen<Self::Item>;

    /// Whether it wants the hops of every report.
    fn wants_hops(&self) -> bool {
        false
    }

    /// Takes note of an item that found no room in the queue.
    fn handle_turned_away(&mut self, item: Self::Item) {
        drop(item);
    }

    /// How many messages these hops would be, if each takes its own room; `None` if that is unknown before
    /// they are copied.
    fn messages_of(&self, hops: &HopColumns) -> Option<u64> {
        let _ = hops;
        None
    }

    /// What it takes of hops. They are copied as columns; the other thread makes records of them.
    fn choose_hops(&mut self, hops: &HopColumns) -> Chosen<Self::Item> {
        let _ = hops;
        Chosen::Nothing
    }

    /// Whether it wants the ledger at `now`.
    fn wants_ledger(&self, now: Nanos) -> bool {
        let _ = now;
        false
    }

    /// What it takes of the ledger, which was taken at `taken_at` by the time of day.
    fn choose_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) -> Chosen<Self::Item> {
        let _ = (now, taken_at, ledger);
        Chosen::Nothing
    }
}

/// What is done with one item of the pipeline.
#[derive(Debug)]
pub(super) enum Chosen<T> {
    /// It is delivered.
    Deliver(T),
    /// It is delivered even if the queue is full: an earlier item promised it.
    DeliverAlways(T),
    /// Its kind is delivered, but a setting or a silence keeps it back.
    KeepBack,
    /// Not meant for this output.
    Nothing,
}

/// What the thread that delivers works with.
pub(super) struct Work<T> {
    pub(super) outlet: Outlet<T>,
    pub(super) tally: Arc<Tally>,
    pub(super) ending: Arc<Ending>,
}

/// The stage in front of the thread that delivers.
pub(super) struct Export<C: Choice> {
    choice: C,
    /// `None` once the output ends.
    inlet: Option<Inlet<C::Item>>,
    tally: Arc<Tally>,
    ending: Arc<Ending>,
    /// Disconnected when its threads have ended.
    done: Receiver<()>,
}

/// The work of a second thread, independent of the one that delivers.
pub(super) type Beside = Box<dyn FnOnce(&Tally, &Ending) + Send>;

/// Starts a thread that does `work` with what `choice` takes; at most `most` messages are queued for it.
pub(super) fn start<C: Choice>(
    choice: C,
    most: u64,
    tally: Arc<Tally>,
    work: impl FnOnce(Work<C::Item>) + Send + 'static,
) -> Result<Export<C>, ExportError> {
    start_beside(choice, most, tally, work, None)
}

/// Starts such a thread and a second, independent one.
pub(super) fn start_beside<C: Choice>(
    choice: C,
    most: u64,
    tally: Arc<Tally>,
    work: impl FnOnce(Work<C::Item>) + Send + 'static,
    beside: Option<Beside>,
) -> Result<Export<C>, ExportError> {
    let (inlet, outlet) = queue(most, Arc::clone(&tally));
    let ending = Arc::new(Ending::default());
    // Disconnected when the last thread has ended.
    let (alive, done) = sync_channel::<()>(0);
    let spawn = |name: String, run: Box<dyn FnOnce() + Send>| {
        let alive = alive.clone();
        let run = move || {
            run();
            drop(alive);
        };
        let spawned = Builder::new().name(name).spawn(run).map(drop);
        spawned.map_err(|source| ExportError::Start { output: tally.output().to_owned(), source })
    };
    let given = Work { outlet, tally: Arc::clone(&tally), ending: Arc::clone(&ending) };
    spawn(tally.output().to_owned(), Box::new(move || work(given)))?;
    if let Some(beside) = beside {
        let (tally, ending) = (Arc::clone(&tally), Arc::clone(&ending));
        spawn(format!("{} beside", tally.output()), Box::new(move || beside(&tally, &ending)))?;
    }
    drop(alive);
    Ok(Export { choice, inlet: Some(inlet), tally, ending, done })
}

impl<C: Choice> Export<C> {
    fn take(&mut self, chosen: Chosen<C::Item>) {
        match (chosen, &self.inlet) {
            (Chosen::Deliver(item), Some(inlet)) => {
                if let Some(item) = inlet.put(item) {
                    self.choice.handle_turned_away(item);
                }
            }
            (Chosen::DeliverAlways(item), Some(inlet)) => inlet.put_beyond(item),
            (Chosen::KeepBack, _) => self.tally.count_kept_back(),
            (Chosen::Nothing, _) | (Chosen::Deliver(_) | Chosen::DeliverAlways(_), None) => {}
        }
    }
}

impl<C: Choice> Stage for Export<C> {
    fn handle_output(&mut self, output: &Output) {
        let chosen = self.choice.choose(output);
        self.take(chosen);
    }

    fn wants_hops(&self) -> bool {
        self.choice.wants_hops()
    }

    fn handle_hops(&mut self, hops: &HopColumns, _reports: u64) {
        // Every output gets the hops if any wants them, and they are large: those that would not fit are not
        // copied.
        if self.choice.wants_hops() {
            if let (Some(messages), Some(inlet)) = (self.choice.messages_of(hops), &self.inlet)
                && !inlet.find_room(messages)
            {
                return inlet.turn_away(messages);
            }
            let chosen = self.choice.choose_hops(hops);
            self.take(chosen);
        }
    }

    fn wants_ledger(&self, now: Nanos) -> bool {
        self.choice.wants_ledger(now)
    }

    fn handle_ledger(&mut self, now: Nanos, taken_at: Nanos, ledger: &LedgerView) {
        let chosen = self.choice.choose_ledger(now, taken_at, ledger);
        self.take(chosen);
    }

    fn drain(&mut self) {
        // The rest has the same time as at the end of any collector.
        let _ = self.tally.wait_until(|| self.tally.ledger().waiting == 0);
    }

    fn wind_up(&mut self) {
        if self.inlet.take().is_some() {
            self.ending.begin(GRACE);
        }
    }

    fn finish(&mut self) {
        self.wind_up();
        // A thread that hangs is not waited for.
        let left = self.ending.left_with(MARGIN).unwrap_or_default();
        if self.done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            self.tally.close();
        }
    }

    fn export(&self) -> Option<ExportLedger> {
        Some(self.tally.ledger())
    }
}

impl<C: Choice> fmt::Debug for Export<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").field("output", &self.tally.output()).finish_non_exhaustive()
    }
}

/// How long an output may continue to deliver when the collector ends.
const GRACE: Duration = Duration::from_secs(5);
/// How much longer its threads may take to end.
const MARGIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
