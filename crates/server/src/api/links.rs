//! Current error bounds of link latencies.

use std::collections::HashMap;

use super::Shared;
use super::problem::Problem;

/// The ends of a link: the node and interface packets leave, and those they reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LinkEnds {
    pub(super) from: u32,
    pub(super) egress: Option<u32>,
    pub(super) to: u32,
    pub(super) ingress: Option<u32>,
}

/// Maximum difference of the clocks at the ends of links, where known.
#[derive(Debug)]
pub(super) struct Uncertainties(HashMap<LinkEnds, u64>);

impl Uncertainties {
    pub(super) async fn of(state: &Shared) -> Result<Self, Problem> {
        let links = state.read.links().await?;
        let known = links.iter().filter_map(|link| {
            let ends = LinkEnds {
                from: link.from.0,
                egress: link.egress_interface.map(u32::from),
                to: link.to.0,
                ingress: link.ingress_interface.map(u32::from),
            };
            Some((ends, link.clock_uncertainty?.0))
        });
        Ok(Self(known.collect()))
    }

    pub(super) fn of_link(&self, ends: LinkEnds) -> Option<u64> {
        self.0.get(&ends).copied()
    }
}
