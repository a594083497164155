//! How a datagram becomes observations and events.

mod asked;
mod overflows;

use std::net::SocketAddr;

use inband_model::{HopColumns, Nanos, Output};
use inband_wire::int::CodePoints;

use crate::due::{Timed, catch_up, catch_up_after_silence};
use crate::flow_shard::FlowShard;
use crate::intake::Intake;
use crate::settings::CollectorSettings;
use crate::share::Share;

pub use self::overflows::Overflows;

/// Receives telemetry reports, and returns observations and events.
///
/// It owns no socket and no clock: the caller passes datagrams and the time, which neither jumps nor goes
/// back, then polls until nothing is left.
///
/// It combines both parts: what belongs to the streams of nodes, as in a [`StreamShard`](crate::StreamShard),
/// and what belongs to flows, as in a [`FlowShard`].
#[derive(Debug)]
pub struct Collector {
    intake: Intake,
    flows: FlowShard,
}

impl Collector {
    /// Creates a collector that has seen nothing.
    #[must_use]
    pub fn new(settings: CollectorSettings) -> Collector {
        Collector { intake: Intake::new(&settings), flows: FlowShard::new(settings, Share::WHOLE) }
    }

    /// Sets the code points by which INT is recognised in reported packets.
    #[must_use]
    pub fn with_code_points(mut self, code_points: CodePoints<'static>) -> Collector {
        self.intake.set_code_points(code_points);
        self
    }

    /// Keeps every hop of every report for `take_records`.
    #[must_use]
    pub fn with_records(mut self) -> Collector {
        self.intake.keep_records();
        self
    }

    /// Appends the pending hops to `into`; returns how many reports they came from. Requires `with_records`.
    /// Call it when some thousands are pending: at most 65,536 are kept, and reports beyond that are dropped
    /// and counted in [`Overflows`].
    pub fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.intake.take_records(into)
    }

    /// Hops pending for `take_records`.
    #[must_use]
    pub fn waiting_hops(&self) -> usize {
        self.intake.waiting_hops()
    }

    /// Handles a datagram that arrived at `now` from one socket to another.
    ///
    /// A stream is identified by the node id in it, not by its source: addresses may change. Only where
    /// version 0.5 omits the node does the address identify it.
    pub fn handle_datagram(&mut self, now: Nanos, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        let told_at = std::mem::replace(&mut self.flows.told_at, now);
        catch_up_after_silence(self, told_at, now);
        let FlowShard { correlator, outbox, .. } = &mut self.flows;
        self.intake.handle_datagram(now, (from, to), datagram, outbox, |sighting, outbox| {
            correlator.handle_report(sighting, outbox);
        });
    }

    /// Does what has become due, each at its time.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.flows.told_at = now;
        catch_up(self, now);
    }

    /// Reports what keeps history from being written at `now`, in words; `None` while it is written. The
    /// trouble is an event that lasts until history is written again.
    pub fn handle_history(&mut self, now: Nanos, trouble: Option<&str>) {
        self.flows.handle_history(now, trouble);
    }

    /// Records that the time of day is `ahead` nanoseconds ahead of the times passed in, from `at` on.
    ///
    /// Outputs and views carry the time of day, which equals the time passed in until this is called. Nothing
    /// else depends on it: for silence, gaps and settling no time passes when a clock is set.
    pub fn handle_clock_step(&mut self, at: Nanos, ahead: i64) {
        self.flows.handle_clock_step(at, ahead);
    }

    /// The time of day at a time that was passed in.
    #[must_use]
    pub fn time_of_day(&self, at: Nanos) -> Nanos {
        self.flows.outbox.book.timeline.time_of_day(at)
    }

    /// Ends the run: what is due at `now` happens, and every active event gets an end with that reason.
    pub fn finish(&mut self, now: Nanos) {
        self.handle_timeout(now);
        self.flows.outbox.end_run(now);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.next_timeout()
    }

    /// Returns the next observation or event, oldest first; `None` when nothing is left.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.flows.poll_output()
    }

    /// Counts datagrams that came off the socket and were dropped there, because a queue was full.
    pub fn count_shed(&mut self, datagrams: u64) {
        self.intake.ledger.shed(datagrams);
    }

    /// Counts datagrams the kernel dropped before the socket was read.
    pub fn count_kernel_dropped(&mut self, datagrams: u64) {
        self.intake.ledger.kernel_dropped(datagrams);
    }

    /// What was dropped or evicted because a table was full.
    #[must_use]
    pub fn overflows(&self) -> Overflows {
        let dropped_records = self.intake.dropped_records();
        let FlowShard { correlator, outbox, .. } = &self.flows;
        Overflows { dropped_records, ..Overflows::of(&self.intake.ledger, correlator, outbox) }
    }
}

impl Timed for Collector {
    fn next_timeout(&self) -> Option<Nanos> {
        [self.intake.ledger.next_timeout(), self.flows.next_timeout()].into_iter().flatten().min()
    }

    fn do_what_is_due(&mut self, now: Nanos) {
        self.intake.ledger.handle_timeout(now, &mut self.flows.outbox);
        self.flows.do_what_is_due(now);
    }
}

#[cfg(test)]
mod tests;
