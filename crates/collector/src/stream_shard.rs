//! The part of a collector that is shared out by the streams of nodes.

use std::collections::VecDeque;
use std::net::SocketAddr;

use inband_model::{HopColumns, Ledger, LedgerView, Nanos, Output};
use inband_wire::int::CodePoints;

use crate::due::{Timed, catch_up, catch_up_after_silence};
use crate::handover::Handover;
use crate::intake::Intake;
use crate::outbox::Outbox;
use crate::settings::CollectorSettings;

/// Counts and reads the reports of some nodes, and hands them over to [`FlowShard`](crate::FlowShard)s.
///
/// Several of them share the nodes of a network when all datagrams of a node, by its id, come to the same one.
#[derive(Debug)]
pub struct StreamShard {
    intake: Intake,
    outbox: Outbox,
    /// At most as many as outputs may wait.
    handovers: VecDeque<Handover>,
    max_handovers: usize,
    dropped_handovers: u64,
    /// The latest time it was told of.
    told_at: Nanos,
}

impl StreamShard {
    /// Makes one that has seen nothing yet.
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

    /// Has every hop of every report kept for `take_records`.
    #[must_use]
    pub fn with_records(mut self) -> Self {
        self.intake.keep_records();
        self
    }

    /// Appends the pending hops to `into`; returns how many reports they came from.
    pub fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.intake.take_records(into)
    }

    /// Takes a datagram that arrived at `now` from one socket to another.
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

    /// Does what has become due, each at its time.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.told_at = now;
        catch_up(self, now);
    }

    /// Notes that the time of day is `ahead` nanoseconds ahead of the times that are handed in, from `at` on.
    pub fn handle_clock_step(&mut self, at: Nanos, ahead: i64) {
        self.outbox.book.timeline.step(at, ahead);
    }

    /// Ends the run: what is due at `now` happens, and every event that goes on gets an end that says why.
    pub fn finish(&mut self, now: Nanos) {
        self.handle_timeout(now);
        self.outbox.end_run(now);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.next_timeout()
    }

    /// Gives out the next report whose flow is to be followed, oldest first; `None` when there is no more.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.handovers.pop_front()
    }

    /// Gives out the next event of the streams, oldest first; `None` when there is no more.
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

    /// Reports that were not handed over because nobody polled in time; they are accepted in the ledger.
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
