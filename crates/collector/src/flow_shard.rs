//! The part of a collector that is partitioned by flow.

mod asked;

use inband_model::{Nanos, Output};

use crate::correlate::Correlator;
use crate::due::{Timed, catch_up, catch_up_after_silence};
use crate::handover::Handover;
use crate::outbox::Outbox;
use crate::settings::CollectorSettings;
use crate::share::Share;

/// Follows flows and detects events, from the reports that [`StreamShard`](crate::StreamShard)s pass on.
///
/// Several of them, each with a [`Share`], divide the flows and nodes of a network when each report goes to
/// those it [concerns](Handover::concerns). Their flows, interfaces and queues together, and the events of
/// flows, queues and nodes, are those of a single collector. What several flows teach about links, each shard
/// learns from its own flows alone: whether a link carries no flow (`path-change`), `silent-loss`, the clocks
/// at its ends, `ecmp-imbalance`. The same holds for `latency-change`, and for blackholes, which are
/// announced only for flows followed in the same shard as the node.
#[derive(Debug)]
pub struct FlowShard {
    pub(crate) correlator: Correlator,
    pub(crate) outbox: Outbox,
    /// The latest time passed in.
    pub(crate) told_at: Nanos,
    share: Share,
}

impl FlowShard {
    /// Creates a shard that has seen nothing, and follows these flows and nodes.
    #[must_use]
    pub fn new(settings: CollectorSettings, share: Share) -> Self {
        Self {
            share,
            outbox: Outbox::new(settings.max_outputs, settings.events.book()),
            correlator: Correlator::new(settings.paths, settings.ports, &settings.events, share),
            told_at: Nanos::ZERO,
        }
    }

    /// Handles a report that concerns it. Reports come in the order they were received.
    pub fn handle_handover(&mut self, handover: &Handover) {
        let now = handover.received_at();
        let told_at = std::mem::replace(&mut self.told_at, now);
        catch_up_after_silence(self, told_at, now);
        self.correlator.handle_report(&handover.sighting(self.share), &mut self.outbox);
    }

    /// Does what has become due, each item at its time.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.told_at = now;
        catch_up(self, now);
    }

    /// Reports what keeps history from being written at `now`, in words; `None` while it is written.
    pub fn handle_history(&mut self, now: Nanos, trouble: Option<&str>) {
        self.correlator.handle_history(now, trouble, &mut self.outbox);
    }

    /// Records that the time of day is `ahead` nanoseconds ahead of the times passed in, from `at` on.
    pub fn handle_clock_step(&mut self, at: Nanos, ahead: i64) {
        self.outbox.book.timeline.step(at, ahead);
    }

    /// Ends the run: what is due at `now` happens, and every active event gets an end with that reason.
    pub fn finish(&mut self, now: Nanos) {
        self.handle_timeout(now);
        self.outbox.end_run(now);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.next_timeout()
    }

    /// Returns the next observation or event, oldest first; `None` when nothing is left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outbox.pop()
    }
}

impl Timed for FlowShard {
    fn next_timeout(&self) -> Option<Nanos> {
        [self.correlator.next_timeout(), self.outbox.book.next_timeout()].into_iter().flatten().min()
    }

    fn do_what_is_due(&mut self, now: Nanos) {
        self.correlator.handle_timeout(now, &mut self.outbox);
        self.outbox.handle_timeout(now);
    }
}
