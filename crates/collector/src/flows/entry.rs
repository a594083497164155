//! The state of one flow.

use inband_model::{Confidence, Flow, Nanos, Origin, ReportReference};

use crate::paths::{LinkIndex, Mark, PathIndex, Postcards};

use super::upstream::Upstream;

/// The state of one flow.
#[derive(Debug)]
pub(crate) struct FlowEntry {
    pub(crate) flow: Flow,
    pub(crate) first_seen: Nanos,
    pub(crate) last_seen: Nanos,
    /// Number of individual reports on it.
    pub(crate) reports: u64,
    /// The latest path.
    pub(crate) path: Option<PathIndex>,
    /// Whether `path` contains all hops, as far as the reports show.
    pub(crate) path_is_whole: bool,
    /// Whether a stack of just the hops of `path` confirms it: hops before them need not be looked for.
    pub(crate) stack_confirms: bool,
    /// Remaining Hop Count before the first hop of `path`, where stacks show it.
    pub(crate) remaining_at_source: Option<u8>,
    /// Hops `path` should have; `None` when unknown.
    pub(crate) hops_expected: Option<u8>,
    /// When `path` was first seen.
    pub(crate) path_since: Nanos,
    /// When `path` was last confirmed.
    pub(crate) path_seen_at: Nanos,
    pub(crate) origin: Origin,
    /// The latest latency of each hop of `path`.
    pub(crate) latencies: Box<[Option<Nanos>]>,
    /// The previous paths, latest last; at most [`PAST_PATHS`].
    pub(crate) past_paths: Vec<PastPath>,
    /// The first parts of the path, where transit hops remove the stack from packets.
    pub(crate) upstream: Option<Box<Upstream>>,
    /// When the path changed most recently, latest first.
    pub(crate) changed_at: [Option<Nanos>; FLAPS],
    /// When the path was last reported.
    pub(crate) told_at: Nanos,
    /// Whether the report of a path is postponed until enough time has passed since the last one.
    pub(crate) is_kept_back: bool,
    /// When a node last dropped one of its packets because of a zero TTL.
    pub(crate) ttl_zero_at: Option<Nanos>,
    /// The latest change of path, while its old links have time to show whether they still carry flows.
    pub(crate) recent_change: Option<RecentChange>,
    /// The latest report of each node, in MX and XD mode.
    pub(crate) postcards: Postcards,
    /// Nodes' reports that differ from `path`.
    pub(crate) unsettled: Option<Unsettled>,
    /// The position of the latest stack in the order of packets.
    pub(crate) latest: Option<Mark>,
    /// Whether the clock behind `latest` has run correctly since its last error.
    pub(crate) trusts_clock: bool,
    /// When a node last dropped one of its packets.
    pub(crate) dropped_at: Option<Nanos>,
    /// The link at which it ends although no node reports a drop.
    pub(crate) stopped_at: Option<LinkIndex>,
}

/// Nodes' reports that differ from the path of their flow and have time to settle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsettled {
    /// When the first of them arrived.
    pub(crate) since: Nanos,
    /// When they are next checked, whether or not more reports arrive.
    pub(crate) due: Nanos,
    /// When they were last checked.
    pub(crate) tried_at: Nanos,
}

/// A path that a flow has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PastPath {
    pub(crate) path: PathIndex,
    pub(crate) since: Nanos,
    pub(crate) until: Nanos,
    /// When the first report showed that the flow had left it.
    pub(crate) left_at: Nanos,
}

/// A change of path that may turn out to be a reroute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecentChange {
    pub(crate) old: PathIndex,
    pub(crate) new: PathIndex,
    pub(crate) changed_at: Nanos,
    pub(crate) report: ReportReference,
    pub(crate) confidence: Confidence,
}

impl FlowEntry {
    pub(crate) fn new(now: Nanos, flow: Flow) -> FlowEntry {
        FlowEntry {
            flow,
            first_seen: now,
            last_seen: now,
            reports: 0,
            path: None,
            path_is_whole: false,
            stack_confirms: false,
            remaining_at_source: None,
            hops_expected: None,
            path_since: now,
            path_seen_at: now,
            origin: Origin::XdReport,
            latencies: Box::default(),
            past_paths: Vec::new(),
            upstream: None,
            changed_at: [None; FLAPS],
            told_at: Nanos::ZERO,
            is_kept_back: false,
            ttl_zero_at: None,
            recent_change: None,
            postcards: Postcards::default(),
            unsettled: None,
            latest: None,
            trusts_clock: false,
            dropped_at: None,
            stopped_at: None,
        }
    }

    /// Whether its path changes so often that not every change is reported.
    pub(crate) fn flaps(&self, now: Nanos, window: Nanos) -> bool {
        self.changed_at[FLAPS - 1].is_some_and(|earliest| now.since(earliest) <= window)
    }

    /// The paths this flow keeps in the path table.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathIndex> {
        let changed = self.recent_change.map(|change| [change.old, change.new]);
        let upstream = self.upstream.iter().flat_map(|upstream| upstream.paths());
        let past = self.past_paths.iter().map(|past| past.path);
        self.path.into_iter().chain(upstream).chain(changed.into_iter().flatten()).chain(past)
    }
}

/// Number of changes within the flap window that make a flap.
pub(crate) const FLAPS: usize = 3;
/// Number of previous paths that are remembered.
pub(crate) const PAST_PATHS: usize = 7;
