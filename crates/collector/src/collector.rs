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

/// Takes telemetry reports in, and gives observations and events out.
///
/// It owns no socket and no clock: the caller hands in datagrams and the time, which neither jumps nor goes back, then
/// polls until there is nothing more.
///
/// It is both parts in one: what belongs to the streams of nodes, as a [`StreamShard`](crate::StreamShard) has it, and what
/// belongs to flows, as a [`FlowShard`] has it.
#[derive(Debug)]
pub struct Collector {
    intake: Intake,
    flows: FlowShard,
}

impl Collector {
    /// Makes a collector that has seen nothing yet.
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

    /// Has every hop of every report kept for `take_records`.
    #[must_use]
    pub fn with_records(mut self) -> Collector {
        self.intake.keep_records();
        self
    }

    /// Appends the pending hops to `into`; returns how many reports they came from. Only with `with_records`, and best
    /// whenever some thousands wait: 65,536 hops may, and reports with more are dropped and counted in [`Overflows`].
    pub fn take_records(&mut self, into: &mut HopColumns) -> u64 {
        self.intake.take_records(into)
    }

    /// Hops that wait for `take_records`.
    #[must_use]
    pub fn waiting_hops(&self) -> usize {
        self.intake.waiting_hops()
    }

    /// Takes a datagram that arrived at `now` from one socket to another.
    ///
    /// A stream is named by the node id in it, not by where it comes from: addresses may change on the way. Only
    /// where version 0.5 leaves the node out, the address stands for it.
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

    /// Takes what keeps history from being written at `now`, in words; `None` while it is written. It is an event that
    /// goes on until history is written again.
    pub fn handle_history(&mut self, now: Nanos, trouble: Option<&str>) {
        self.flows.handle_history(now, trouble);
    }

    /// Notes that the time of day is `ahead` nanoseconds ahead of the times that are handed in, from `at` on.
    ///
    /// What is given out and answered carries the time of day; it is the time that is handed in until this is called.
    /// Nothing else depends on it: for silence, gaps and settling no time passes when a clock is set.
    pub fn handle_clock_step(&mut self, at: Nanos, ahead: i64) {
        self.flows.handle_clock_step(at, ahead);
    }

    /// The time of day at a time that is handed in.
    #[must_use]
    pub fn time_of_day(&self, at: Nanos) -> Nanos {
        self.flows.outbox.book.timeline.time_of_day(at)
    }

    /// Ends the run: what is due at `now` happens, and every event that goes on gets an end that says why.
    pub fn finish(&mut self, now: Nanos) {
        self.handle_timeout(now);
        self.flows.outbox.end_run(now);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.next_timeout()
    }

    /// Gives out the next observation or event, oldest first; `None` when there is no more.
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

    /// What was dropped or forgotten because a table was full.
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
