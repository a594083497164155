//! A copy of the flows, for readers outside the thread of reception.

use std::ops::Range;

use inband_model::api::{FlowPathView, FlowView};
use inband_model::{Flow, FlowId, Nanos, Origin, Path};

/// The flows at one time, with their recent paths. Each path is stored once.
#[derive(Debug, Clone, Default)]
pub struct FlowSnapshot {
    flows: Vec<CopiedFlow>,
    paths: Vec<Path>,
    latencies: Vec<Option<Nanos>>,
    past: Vec<CopiedPath>,
}

#[derive(Debug, Clone)]
struct CopiedFlow {
    id: FlowId,
    flow: Flow,
    path: Option<u32>,
    latencies: Range<usize>,
    past: Range<usize>,
    hops_expected: Option<u8>,
    complete: bool,
    origin: Origin,
    path_since: Nanos,
    path_seen_at: Nanos,
    first_seen: Nanos,
    last_seen: Nanos,
    reports: u64,
}

/// A path that a flow has left.
#[derive(Debug, Clone, Copy)]
struct CopiedPath {
    path: u32,
    since: Nanos,
    until: Nanos,
}

impl FlowSnapshot {
    /// A snapshot with room for `flows` flows.
    pub(crate) fn with_capacity(flows: usize) -> Self {
        Self {
            flows: Vec::with_capacity(flows),
            latencies: Vec::with_capacity(flows * USUAL_HOPS),
            ..Self::default()
        }
    }

    /// Adds a path, and returns its index.
    pub(crate) fn add_path(&mut self, path: &Path) -> u32 {
        self.paths.push(path.clone());
        u32::try_from(self.paths.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds the hop latencies of a flow. They are stored before the flows: the memory of each flow's is
    /// elsewhere, and a loop that does nothing else waits for that of several flows at a time.
    pub(crate) fn add_latencies(&mut self, latencies: &[Option<Nanos>]) {
        self.latencies.extend_from_slice(latencies);
    }

    /// Adds a flow, in the order of their latencies, with the index of its path, and the indices and times of
    /// the previous paths, latest first.
    pub(crate) fn add_flow(
        &mut self,
        view: &FlowView<'_>,
        path: Option<u32>,
        past: impl Iterator<Item = (u32, Nanos, Nanos)>,
    ) {
        let first_latency = self.flows.last().map_or(0, |flow| flow.latencies.end);
        let first_past = self.past.len();
        self.past.extend(past.map(|(path, since, until)| CopiedPath { path, since, until }));
        self.flows.push(CopiedFlow {
            id: view.id,
            flow: view.flow,
            path,
            latencies: first_latency..first_latency + view.hop_latency.len(),
            past: first_past..self.past.len(),
            hops_expected: view.hops_expected,
            complete: view.complete,
            origin: view.origin,
            path_since: view.path_since,
            path_seen_at: view.path_seen_at,
            first_seen: view.first_seen,
            last_seen: view.last_seen,
            reports: view.reports,
        });
    }

    /// Number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there are no flows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The flows, in no order.
    pub fn flows(&self) -> impl ExactSizeIterator<Item = FlowView<'_>> {
        (0..self.flows.len()).map(|at| self.flow(at))
    }

    /// The flow at an index below [`len`](Self::len).
    #[must_use]
    pub fn flow(&self, at: usize) -> FlowView<'_> {
        let copied = &self.flows[at];
        FlowView {
            id: copied.id,
            flow: copied.flow,
            path: copied.path.map(|path| &self.paths[path as usize]),
            hop_latency: &self.latencies[copied.latencies.clone()],
            hops_expected: copied.hops_expected,
            complete: copied.complete,
            origin: copied.origin,
            path_since: copied.path_since,
            path_seen_at: copied.path_seen_at,
            first_seen: copied.first_seen,
            last_seen: copied.last_seen,
            reports: copied.reports,
        }
    }

    /// Number of recent paths of the flow at an index, without the current one.
    #[must_use]
    pub fn past_paths(&self, at: usize) -> usize {
        self.flows[at].past.len()
    }

    /// The recent paths of the flow at an index, latest first.
    pub fn paths(&self, at: usize) -> impl Iterator<Item = FlowPathView<'_>> {
        let copied = &self.flows[at];
        let current = copied.path.map(|path| (path, copied.path_since, copied.path_seen_at, true));
        let past =
            self.past[copied.past.clone()].iter().map(|past| (past.path, past.since, past.until, false));
        current.into_iter().chain(past).map(|(path, since, until, current)| {
            let path = &self.paths[path as usize];
            FlowPathView { id: path.id(), path, since, until, current }
        })
    }
}

/// Number of hops that most paths do not exceed.
const USUAL_HOPS: usize = 4;
