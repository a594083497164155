//! Loss detection for numbered flows.
//!
//! A source that numbers the packets of each flow lets the sink detect losses on the path. `flow` tracks the
//! numbers of one flow, `window` which of the latest ones arrived; [`LossDetector`] holds the flows and
//! closes their gaps in time. Numbers are 32 bits and wrap; a late packet fills its gap, a second copy is a
//! duplicate, and neither is a loss.

mod flow;
mod headers;
mod summary;
mod window;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, DefaultHasher};

use inband_wire::FiveTuple;

use flow::Numbers;
pub use flow::{Arrival, Gap};

/// The numbered flows of a sink.
#[derive(Clone, Debug)]
pub struct LossDetector {
    flows: HashMap<FiveTuple, State, BuildHasherDefault<DefaultHasher>>,
    most_flows: usize,
    hold_ns: u64,
    idle_ns: u64,
    lost: Vec<Loss>,
    counts: LossCounts,
    swept_at: u64,
}

/// The state of one flow.
#[derive(Clone, Debug)]
struct State {
    numbers: Numbers,
    source: Source,
    /// The interface of its latest packet.
    egress: u16,
    seen_at: u64,
}

impl State {
    /// Closes the gaps for which `is_closed`, given their opening time, is true; they are losses of `flow`.
    fn close(&mut self, flow: FiveTuple, is_closed: impl Fn(u64) -> bool) -> impl Iterator<Item = Loss> {
        let Self { ref mut numbers, source, egress, .. } = *self;
        numbers.close(is_closed).map(move |gap| Loss { flow, source, egress, gap })
    }
}

/// The source that numbers the packets of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its node ID.
    pub node_id: u32,
    /// Its ingress interface of the packets.
    pub ingress: u16,
}

/// The lost packets of one gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The flow.
    pub flow: FiveTuple,
    /// The source that numbers it.
    pub source: Source,
    /// The interface of the sink through which its latest packet left; for Host-INT, which has one interface,
    /// the one by which it arrived.
    pub egress: u16,
    /// The gap.
    pub gap: Gap,
}

/// Packets by arrival order, and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// The next of its flow, or the first seen.
    pub in_order: u64,
    /// After a later one of its flow, within the hold time.
    pub reordered: u64,
    /// After its gap was closed.
    pub late: u64,
    /// Duplicates.
    pub duplicate: u64,
    /// Not received when its gap closed.
    pub lost: u64,
    /// Sources that restarted their numbering.
    pub restarts: u64,
    /// Packets of flows that are not tracked, because the table is full.
    pub unknown: u64,
}

/// Interval between sweeps for expired gaps and idle flows, nanoseconds.
const SWEEP_NS: u64 = 10_000_000;

impl LossDetector {
    /// Creates a detector of up to `most_flows` flows, of about 200 bytes each plus 24 for every open gap.
    ///
    /// A gap becomes a loss after `hold_ns`; a flow is evicted after `idle_ns` without packets.
    #[must_use]
    pub fn new(most_flows: usize, hold_ns: u64, idle_ns: u64) -> Self {
        Self {
            flows: HashMap::default(),
            most_flows,
            hold_ns,
            idle_ns: idle_ns.max(hold_ns),
            lost: Vec::new(),
            counts: LossCounts::default(),
            swept_at: 0,
        }
    }

    /// Records a packet of `flow` with the source's `number`, received at `now`, that leaves by `egress`.
    pub fn handle_packet(
        &mut self,
        flow: FiveTuple,
        source: Source,
        egress: u16,
        number: u32,
        now: u64,
    ) -> Arrival {
        self.handle_timeout(now);
        let is_full = self.flows.len() >= self.most_flows;
        let state = match self.flows.entry(flow) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if is_full => {
                self.counts.unknown += 1;
                return Arrival::Unknown;
            }
            Entry::Vacant(entry) => {
                entry.insert(State { numbers: Numbers::new(number), source, egress, seen_at: now });
                self.counts.in_order += 1;
                return Arrival::InOrder;
            }
        };
        (state.seen_at, state.egress) = (now, egress);
        let hold_ns = self.hold_ns;
        self.lost.extend(state.close(flow, |opened_at| is_over(opened_at, now, hold_ns)));
        let arrival = state.numbers.take(number, now);
        if arrival == Arrival::Restart {
            // The gaps of the previous numbering can no longer be filled.
            self.lost.extend(state.close(flow, |_| true));
            state.numbers = Numbers::new(number);
            state.source = source;
        }
        self.count(arrival);
        arrival
    }

    /// Closes the gaps that have been open for the hold time at `now`, and evicts idle flows.
    pub fn handle_timeout(&mut self, now: u64) {
        // A clock that was set back does not delay the sweep.
        if now >= self.swept_at && now - self.swept_at < SWEEP_NS {
            return;
        }
        self.swept_at = now;
        let (hold_ns, idle_ns, lost) = (self.hold_ns, self.idle_ns, &mut self.lost);
        self.flows.retain(|flow, state| {
            let is_silent = is_over(state.seen_at, now, idle_ns);
            lost.extend(state.close(*flow, |opened_at| is_silent || is_over(opened_at, now, hold_ns)));
            !is_silent
        });
    }

    /// Closes every gap, as at the end of a run.
    pub fn flush(&mut self) {
        for (flow, state) in &mut self.flows {
            self.lost.extend(state.close(*flow, |_| true));
        }
    }

    /// Returns the next pending loss, in no order among flows.
    pub fn poll_loss(&mut self) -> Option<Loss> {
        let loss = self.lost.pop()?;
        self.counts.lost += u64::from(loss.gap.missing);
        Some(loss)
    }

    /// The counts so far; losses count when they are polled.
    #[must_use]
    pub const fn counts(&self) -> LossCounts {
        self.counts
    }

    fn count(&mut self, arrival: Arrival) {
        let counts = &mut self.counts;
        match arrival {
            Arrival::InOrder => counts.in_order += 1,
            Arrival::Reordered => counts.reordered += 1,
            Arrival::Late => counts.late += 1,
            Arrival::Duplicate => counts.duplicate += 1,
            Arrival::Restart => {
                counts.restarts += 1;
                counts.in_order += 1;
            }
            Arrival::Unknown => counts.unknown += 1,
        }
    }
}

/// Whether `span_ns` have passed from `since` to `now`; a clock set back by at least that much counts too.
fn is_over(since: u64, now: u64, span_ns: u64) -> bool {
    now.abs_diff(since) >= span_ns
}

#[cfg(test)]
mod tests;
