//! The part of a collector that is partitioned by the streams of nodes.

use std::collections::VecDeque;
use std::net::SocketAddr;

use inband_model::{HopColumns, Ledger, LedgerView, Nanos, Output};
use inband_wire::int::CodePoints;

use crate::due::{Timed, catch_up, catch_up_after_silence};
use crate::handover::Handover;
use crate::intake::Intake;
use crate::outbox::Outbox;
use crate::settings::CollectorSettings;

/// Counts and reads the reports of some nodes, and passes them to [`FlowShard`](crate::FlowShard)s.
///
/// Several of them divide the nodes of a network when all datagrams of a node, by its id, go to the same one.
#[derive(Debug)]
pub struct StreamShard {
    intake: Intake,
    outbox: Outbox,
    /// At most as many as the outputs that may be pending.
    handovers: VecDeque<Handover>,
    max_handovers: usize,
    dropped_handovers: u64,
    /// The latest time passed in.
    told_at: Nanos,
}

impl StreamShard {
    /// Creates a shard that has seen nothing.
    #[must_use]
    pub fn new(settings: &CollectorSettings) -> Self {
        Self {
            intake: Intake::new(settings),
            outbox: Outbox::new(settings.max_outputs, settings.events.book()),
            handovers: VecDeque::new(),
            max_handovers: settings.max_outputs,
            dropped_handovers: 0,
            told_at: Nanos::ZERO,
        }
    }

    /// Sets the code points by which INT is recognised in reported packets.
    #[must_use]
    pub fn with_code_points(mut self, code_points: CodePoints<'static>) -> Self {
        self.intake.set_code_points(code_points);
        self
    }

    /// Keeps every hop of every report for `take_records`.
    #[must_use]
    pub fn with_records(mut self) -> Self {
        self.intake.keep_records();
        self
    }

    /// Appends the pending hops to `into`; returns how many reports they came from.
    pub fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.intake.take_records(into)
    }

    /// Handles a datagram that arrived at `now` from one socket to another.
    pub fn handle_datagram(&mut self, now: Nanos, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        let told_at = std::mem::replace(&mut self.told_at, now);
        catch_up_after_silence(self, told_at, now);
        let Self { intake, outbox, handovers, max_handovers, dropped_handovers, .. } = self;
        intake.handle_datagram(now, (from, to), datagram, outbox, |sighting, _| {
            if handovers.len() < *max_handovers {
                handovers.push_back(Handover::of(sighting));
            } else {
                *dropped_handovers += 1;
            }
        });
    }

    /// Does what has become due, each item at its time.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.told_at = now;
        catch_up(self, now);
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

    /// Returns the next report whose flow is to be followed, oldest first; `None` when nothing is left.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.handovers.pop_front()
    }

    /// Returns the next event of the streams, oldest first; `None` when nothing is left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// The totals so far.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.intake.ledger.total()
    }

    /// The totals so far, and every stream.
    #[must_use]
    pub fn ledger_view(&self) -> LedgerView {
        LedgerView {
            malformed: self.intake.malformed.counts(),
            unreadable: self.intake.unreadable.counts(),
            overflows: [("dropped_handovers".to_owned(), self.dropped_handovers)].into(),
            ..self.intake.ledger.view()
        }
    }

    /// Reports that were not passed on because they were not polled in time; the ledger counts them as
    /// accepted.
    #[must_use]
    pub fn dropped_handovers(&self) -> u64 {
        self.dropped_handovers
    }
}

impl Timed for StreamShard {
    fn next_timeout(&self) -> Option<Nanos> {
        [self.intake.ledger.next_timeout(), self.outbox.book.next_timeout()].into_iter().flatten().min()
    }

    fn do_what_is_due(&mut self, now: Nanos) {
        self.intake.ledger.handle_timeout(now, &mut self.outbox);
        self.outbox.handle_timeout(now);
    }
}
