//! The message counts of one output.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use inband_model::ExportLedger;

use super::answer::Answer;
use super::patience::Patience;

/// The live counts of one output.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    output: String,
    offered: AtomicU64,
    decided: Mutex<Decided>,
    kept_back: AtomicU64,
    retries: AtomicU64,
    spool_bytes: AtomicU64,
    /// What keeps each part of the output from delivering; an output without parts uses the empty name.
    trouble: Mutex<BTreeMap<&'static str, String>>,
    /// How a replay waits for this output; `None`: it does not.
    patience: Option<Patience>,
    /// Whether messages that wait at the end are delivered by the next run.
    is_kept: AtomicBool,
}

/// Messages whose outcome is known.
#[derive(Debug, Clone, Copy, Default)]
struct Decided {
    exported: u64,
    failed: [u64; Failure::ALL.len()],
    /// Whether the counts are final.
    is_closed: bool,
}

impl Decided {
    fn all(&self) -> u64 {
        self.exported + self.failed.iter().sum::<u64>()
    }
}

/// Why a message was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The queue was full.
    QueueFull,
    /// No attempt succeeded.
    GaveUp,
    /// The other side refused it permanently.
    Refused,
    /// The other side accepted only a part of it.
    Rejected,
    /// It could not be written to disk, or read back.
    Disk,
    /// The spool was full, and this was its oldest message.
    SpoolFull,
    /// The collector ended before it was delivered.
    Stopped,
}

/// The names of the reasons for which messages are given up.
#[must_use]
pub fn failure_reasons() -> [&'static str; 7] {
    Failure::ALL.map(Failure::name)
}

impl Failure {
    const ALL: [Failure; 7] = [
        Failure::QueueFull,
        Failure::GaveUp,
        Failure::Refused,
        Failure::Rejected,
        Failure::Disk,
        Failure::SpoolFull,
        Failure::Stopped,
    ];

    /// Its user-visible name.
    const fn name(self) -> &'static str {
        match self {
            Failure::QueueFull => "queue-full",
            Failure::GaveUp => "gave-up",
            Failure::Refused => "refused",
            Failure::Rejected => "rejected",
            Failure::Disk => "disk",
            Failure::SpoolFull => "spool-full",
            Failure::Stopped => "stopped",
        }
    }
}

impl Tally {
    pub(super) fn new(output: String) -> Tally {
        Tally { output, ..Tally::default() }
    }

    /// The tally of an output that a replay waits for.
    pub(super) fn with_patience(self, patience: Option<Patience>) -> Tally {
        Tally { patience, ..self }
    }

    /// Waits until `is_done`, if a replay waits for this output; returns whether it is.
    pub(super) fn wait_until(&self, is_done: impl Fn() -> bool) -> bool {
        match &self.patience {
            Some(patience) => patience.wait(|| self.decisions(), is_done),
            None => is_done(),
        }
    }

    /// Whether a replay waits for this output.
    pub(super) fn is_waited_for(&self) -> bool {
        self.patience.is_some()
    }

    /// Messages that the other side has accepted or refused, or that the disk lost.
    fn decisions(&self) -> u64 {
        let Decided { exported, failed, .. } = *self.decided();
        exported + failed[Failure::Refused as usize] + failed[Failure::Disk as usize]
    }

    fn decided(&self) -> MutexGuard<'_, Decided> {
        // The counts are valid at any time.
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The output's name.
    pub(super) fn output(&self) -> &str {
        &self.output
    }

    pub(super) fn count_offered(&self, messages: u64) {
        add(&self.offered, messages);
    }

    pub(super) fn count_exported(&self, messages: u64) {
        let mut decided = self.decided();
        if !decided.is_closed {
            decided.exported += messages;
        }
    }

    pub(super) fn count_failed(&self, failure: Failure, messages: u64) {
        let mut decided = self.decided();
        if !decided.is_closed {
            decided.failed[failure as usize] += messages;
        }
    }

    /// Notes that messages that wait at the end are delivered by the next run.
    #[cfg(any(feature = "nats", feature = "kafka"))]
    pub(super) fn keep(&self) {
        self.is_kept.store(true, Ordering::Release);
    }

    /// Ends counting although the output still works. Messages that wait are given up, unless the next run
    /// delivers them.
    pub(super) fn close(&self) {
        let mut decided = self.decided();
        if self.is_kept.load(Ordering::Acquire) || decided.is_closed {
            return;
        }
        let waiting = self.offered.load(Ordering::Acquire).saturating_sub(decided.all());
        decided.failed[Failure::Stopped as usize] += waiting;
        decided.is_closed = true;
    }

    pub(super) fn count_kept_back(&self) {
        add(&self.kept_back, 1);
    }

    pub(super) fn count_retry(&self) {
        add(&self.retries, 1);
    }

    /// Records how many bytes are pending on disk.
    #[cfg(any(feature = "nats", feature = "kafka"))]
    pub(super) fn note_spool(&self, bytes: u64) {
        self.spool_bytes.store(bytes, Ordering::Release);
    }

    /// Records the answer to an attempt.
    pub(super) fn note_answer(&self, answer: &Answer) {
        self.note_part("", answer);
    }

    /// Records the answer to an attempt of one part of the output.
    pub(super) fn note_part(&self, part: &'static str, answer: &Answer) {
        // The map is valid at any time.
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Answer::Taken => trouble.remove(part),
            Answer::TakenInPart { why, .. } | Answer::Refused(why) | Answer::Away { why, .. } => {
                trouble.insert(part, why.clone())
            }
        };
    }

    /// What keeps the output from delivering; `None` if nothing does.
    fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(part, why): (&&str, &String)| match *part {
            "" => why.clone(),
            part => format!("{part}: {why}"),
        };
        let lines: Vec<_> = trouble.iter().map(line).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }

    /// A snapshot of the counts.
    pub(super) fn ledger(&self) -> ExportLedger {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let decided = *self.decided();
        let failures = Failure::ALL.map(|failure| (failure.name(), decided.failed[failure as usize]));
        let failures = failures.into_iter().filter(|(_, count)| *count > 0);
        // Read last: every decided message was offered before.
        let offered = read(&self.offered);
        ExportLedger {
            output: self.output.clone(),
            offered,
            exported: decided.exported,
            export_failed: decided.all() - decided.exported,
            waiting: offered.saturating_sub(decided.all()),
            failures: failures.map(|(name, count)| (name.to_owned(), count)).collect(),
            kept_back: read(&self.kept_back),
            retries: read(&self.retries),
            spool_bytes: read(&self.spool_bytes),
            trouble: self.trouble(),
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Failure, Tally};

    #[test]
    fn the_sum_of_outcomes_is_what_was_offered_when_counting_ends_amid_deliveries() {
        for _ in 0..200 {
            let tally = Tally::new("spine".into());
            tally.count_offered(2_000);
            thread::scope(|scope| {
                scope.spawn(|| (0..1_000).for_each(|_| tally.count_exported(1)));
                scope.spawn(|| (0..1_000).for_each(|_| tally.count_failed(Failure::Refused, 1)));
                scope.spawn(|| tally.close());
            });
            let ledger = tally.ledger();
            assert_eq!((ledger.exported + ledger.export_failed, ledger.waiting), (2_000, 0), "{ledger:?}");
        }
    }
}
