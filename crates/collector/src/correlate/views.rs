//! What can be read of the flows?

use inband_model::{Flow, Nanos, Origin, Path};

use super::Correlator;

/// A flow as users see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowView<'a> {
    /// The flow.
    pub flow: Flow,
    /// Its latest path; `None` as long as nothing tells.
    pub path: Option<&'a Path>,
    /// The latest latency of each hop of `path`; `None` where the node did not say.
    pub hop_latency: &'a [Option<Nanos>],
    /// Hops `path` should have; `None` when nothing tells.
    pub hops_expected: Option<u8>,
    /// Where the path comes from.
    pub origin: Origin,
    /// When the path was last confirmed.
    pub path_seen_at: Nanos,
    /// When the first report on the flow arrived.
    pub first_seen: Nanos,
    /// When the last one did.
    pub last_seen: Nanos,
    /// Individual reports on it.
    pub reports: u64,
}

impl FlowView<'_> {
    /// Whether all hops of the path were seen, as far as is known.
    #[must_use]
    pub fn path_is_complete(&self) -> bool {
        let seen = self.path.map_or(0, |path| path.hops().len());
        seen > 0 && self.hops_expected.is_some_and(|expected| seen >= usize::from(expected))
    }
}

/// What was dropped or forgotten because a table was full, and how full they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) flows: usize,
    pub(crate) paths: usize,
    pub(crate) evicted_flows: u64,
    pub(crate) aged_flows: u64,
    pub(crate) refused_paths: u64,
    pub(crate) unlearned_links: u64,
    pub(crate) unfollowed_ports: u64,
}

impl Correlator {
    /// The flows, in no order.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowView<'_>> {
        self.flows.iter().map(|entry| FlowView {
            flow: entry.flow,
            path: entry.path.map(|path| &self.paths[path].path),
            hop_latency: &entry.latencies,
            hops_expected: entry.hops_expected,
            origin: entry.origin,
            path_seen_at: entry.path_seen_at,
            first_seen: entry.first_seen,
            last_seen: entry.last_seen,
            reports: entry.reports,
        })
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            flows: self.flows.len(),
            paths: self.paths.len(),
            evicted_flows: self.evicted_flows,
            aged_flows: self.aged_flows,
            refused_paths: self.paths.refused(),
            unlearned_links: self.links.unlearned(),
            unfollowed_ports: self.ports.overflow(),
        }
    }

    pub(crate) fn ports(&self) -> &crate::ports::Ports {
        &self.ports
    }
}
