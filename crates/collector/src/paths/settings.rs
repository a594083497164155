//! Settings of flows and paths.

use inband_model::{GivenLink, Nanos};
use serde::{Deserialize, Serialize};

/// Bounds and times of flows and paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathSettings {
    /// Whether flows, paths and ports are followed; if not, reports are counted, decoded and kept as history,
    /// and the only events are those of the ledger. Default true.
    pub follow: bool,
    /// Flows followed at the same time. Default 131,072: about 100 MB, and 400 MB under reports crafted to
    /// fill the memory.
    pub max_flows: usize,
    /// Distinct paths of these flows. Default 65,536: about 25 MB, and 100 MB under reports crafted to fill
    /// the memory.
    pub max_paths: usize,
    /// Seconds without a report after which a flow expires. Default 60.
    pub flow_idle_s: u64,
    /// Links that are learned. Default 65,536: about 5 MB.
    pub max_links: usize,
    /// Nanoseconds, in addition to `settle_ms`, for which a node's report on a flow counts while other nodes
    /// continue to report it, and at least until one of them has done so five times. Default 2,684,354,560:
    /// 2.5 times the 2^30 ns after which a smart node reports a flow again.
    pub keep_ns: u64,
    /// Milliseconds that a report may be late, after others or after its packet, and still count for paths
    /// and gaps. Default 500.
    pub settle_ms: u64,
    /// Nanoseconds for which an old link must carry no flow for a change of path to be a reroute. Default
    /// 3,221,225,472: 3 times 2^30 ns.
    pub reroute_after_ns: u64,
    /// Seconds in which three changes of path are a flap; a flap is announced once in that time. Default 60.
    pub flap_window_s: u64,
    /// Whether the nodes' clocks agree well enough to order hops by their timestamps. Default true.
    pub synchronous_clocks: bool,
    /// Interfaces that face hosts: `[[paths.edge]]`. If there are any, a path is complete only when its first
    /// hop was entered and its last one left by one of them. Default: none.
    #[serde(rename = "edge")]
    pub edges: Vec<EdgeInterface>,
    /// Configured links, which order the hops reported by single nodes: `[[paths.link]]`. Those of `[names]`
    /// count as well. Default: none.
    #[serde(rename = "link")]
    pub links: Vec<GivenLink>,
    /// Whether each hop of each report produces observations of its latency and queue depth. Default false.
    pub hop_observations: bool,
}

/// An interface that faces hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeInterface {
    /// The node.
    pub node: u32,
    /// Its interface of level 1.
    pub interface: u16,
}

/// 2.5 epochs: a node that reports each flow once an epoch, and misses one, has reported again by then.
pub(crate) const EPOCHS: Nanos = Nanos(2_684_354_560);

impl Default for PathSettings {
    fn default() -> PathSettings {
        PathSettings {
            follow: true,
            max_flows: 131_072,
            max_paths: 65_536,
            flow_idle_s: 60,
            max_links: 65_536,
            keep_ns: EPOCHS.0,
            settle_ms: 500,
            reroute_after_ns: 3_221_225_472,
            flap_window_s: 60,
            synchronous_clocks: true,
            edges: Vec::new(),
            links: Vec::new(),
            hop_observations: false,
        }
    }
}

impl PathSettings {
    pub(crate) fn keep(&self) -> Nanos {
        Nanos(self.keep_ns)
    }

    pub(crate) fn settle(&self) -> Nanos {
        Nanos::from_millis(self.settle_ms)
    }

    /// When the settling of reports that differ from the path since `since` ends: at the earliest, and at the
    /// latest. A first path has no previous one that shows what is missing.
    pub(crate) fn settling_ends(&self, since: Nanos, is_first_path: bool) -> [Nanos; 2] {
        let settle = self.settle();
        if is_first_path {
            let first = since + settle + SETTLING;
            return [first, first.max(since + settle + self.keep())];
        }
        let first = since + SETTLING.max(Nanos(settle.0 / 5 * 3));
        [first, first.max(since + settle + self.keep() + self.keep())]
    }

    pub(crate) fn reroute_after(&self) -> Nanos {
        Nanos(self.reroute_after_ns)
    }

    /// Resolution of the last time of a link.
    pub(crate) fn link_resolution(&self) -> Nanos {
        Nanos(self.reroute_after_ns / 24)
    }

    pub(crate) fn flap_window(&self) -> Nanos {
        Nanos::from_secs(self.flap_window_s)
    }
}

/// How long nodes take to report a change, which they do at the end of an epoch at the latest.
const SETTLING: Nanos = Nanos::from_millis(1_100);
