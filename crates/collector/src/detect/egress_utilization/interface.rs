//! The utilization of one interface, second by second, and the flows that fill it.

use inband_model::{FillingFlow, Flow, Nanos};

use crate::ports::Sample;

use super::settings::{EgressUtilizationSettings, Levels};

/// An egress interface that is busy.
#[derive(Debug)]
pub(super) struct Interface {
    second_began_at: Nanos,
    sum: u64,
    count: u64,
    seen_at: Nanos,
    /// Start of the seconds that are all above the level at which the event begins.
    over_since: Option<Nanos>,
    reports: u64,
    bytes: u64,
    /// The flows with the most bytes, at most [`MAX_FLOWS`]; a new one replaces the smallest and adds to its
    /// bytes.
    flows: Vec<(Flow, u64)>,
}

/// A completed second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Second {
    pub(super) mean: u32,
    began_at: Nanos,
    ended_at: Nanos,
}

/// The level of the mean of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The interface has been nearly full for long enough.
    Over,
    /// The interface is busy, but not nearly full for long enough.
    Between,
    /// The interface is not busy.
    Below,
}

impl Interface {
    pub(super) fn new(now: Nanos) -> Self {
        Self {
            second_began_at: now,
            sum: 0,
            count: 0,
            seen_at: now,
            over_since: None,
            reports: 0,
            bytes: 0,
            flows: Vec::new(),
        }
    }

    /// Adds a report; returns the second that it completes.
    pub(super) fn take(
        &mut self,
        settings: &EgressUtilizationSettings,
        hop: &Sample<'_>,
        utilization: u32,
    ) -> Option<Second> {
        let is_silent = hop.now().since(self.seen_at) >= settings.quiet();
        if is_silent {
            *self = Self::new(hop.now());
        }
        let elapsed = hop.now().since(self.second_began_at);
        let mean = u32::try_from(self.sum.checked_div(self.count).unwrap_or(0)).unwrap_or(u32::MAX);
        let second = Second { mean, began_at: self.second_began_at, ended_at: hop.now() };
        let is_over = elapsed >= SECOND && self.count > 0;
        if is_over {
            (self.second_began_at, self.sum, self.count) = (hop.now(), 0, 0);
        }
        self.seen_at = self.seen_at.max(hop.now());
        self.sum += u64::from(utilization);
        self.count += 1;
        self.reports += 1;
        self.bytes += u64::from(hop.packet_bytes());
        if let Some(flow) = hop.flow() {
            self.add(*flow, u64::from(hop.packet_bytes()));
        }
        is_over.then_some(second)
    }

    /// Judges a completed second.
    pub(super) fn judge(
        &mut self,
        settings: &EgressUtilizationSettings,
        levels: Levels,
        second: Second,
    ) -> Level {
        if !levels.is_busy(second.mean) {
            return Level::Below;
        }
        if !levels.is_nearly_full(second.mean) {
            self.over_since = None;
            return Level::Between;
        }
        let since = *self.over_since.get_or_insert(second.began_at);
        let is_long = second.ended_at.since(since) >= Nanos::from_secs(settings.for_s);
        if is_long { Level::Over } else { Level::Between }
    }

    /// The flows with the most bytes, largest first.
    pub(super) fn flows(&self) -> Vec<FillingFlow> {
        let mut flows = self.flows.clone();
        flows.sort_by_key(|(flow, bytes)| (std::cmp::Reverse(*bytes), *flow));
        let share = |bytes: u64| bytes.saturating_mul(1_000).checked_div(self.bytes).unwrap_or(0);
        let listed = flows.into_iter().take(MAX_LISTED);
        listed.map(|(flow, bytes)| FillingFlow { flow, bytes, share_permille: share(bytes) }).collect()
    }

    /// Bytes of reported packets.
    pub(super) fn reported_bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of reports since the interface became busy.
    pub(super) fn reports(&self) -> u64 {
        self.reports
    }

    /// When the last report arrived.
    pub(super) fn seen_at(&self) -> Nanos {
        self.seen_at
    }

    /// Start of the seconds that are all above the level at which the event begins.
    pub(super) fn over_since(&self) -> Option<Nanos> {
        self.over_since
    }

    fn add(&mut self, flow: Flow, bytes: u64) {
        if let Some((_, known)) = self.flows.iter_mut().find(|(known, _)| *known == flow) {
            *known += bytes;
        } else if self.flows.len() < MAX_FLOWS {
            self.flows.push((flow, bytes));
        } else if let Some(smallest) = self.flows.iter_mut().min_by_key(|(_, bytes)| *bytes) {
            *smallest = (flow, smallest.1 + bytes);
        }
    }
}

/// Maximum number of flows counted for an interface.
const MAX_FLOWS: usize = 32;
/// Maximum number of flows listed.
const MAX_LISTED: usize = 8;
const SECOND: Nanos = Nanos::from_secs(1);
