//! The flow watchlist.

mod index;
mod prefixes;
mod rule;
mod subject;

use std::net::IpAddr;

use crate::config::{Actions, PortRange, Prefix, WatchEntry};
use index::Index;
use rule::Rule;
pub use subject::Subject;

/// The flow watchlist.
///
/// The matching entry with the highest priority applies, among equals the first. A few entries are compared
/// one by one; more are compiled into an index in which a packet is compared only with entries that share its
/// addresses, ports or protocol.
#[derive(Clone, Debug, Default)]
pub struct Watchlist {
    rules: Vec<Rule>,
    index: Index,
    watches: Vec<Watch>,
    /// Number of entries that sample.
    sampled: usize,
}

/// Sampling state of a [`Watchlist`]: a packet counter per sampled entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampling(Vec<u32>);

/// The compiled actions of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) actions: Actions,
    sample: u32,
    /// The entry's index in [`Sampling`], if it samples.
    slot: u32,
}

impl Watchlist {
    /// Creates the watchlist of `entries`; without entries no packet is watched.
    #[must_use]
    pub fn new(entries: &[WatchEntry]) -> Self {
        let mut order: Vec<&WatchEntry> = entries.iter().collect();
        // The sort is stable: entries of one priority keep their order.
        order.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
        let rules = Rule::compile(order.iter().copied());
        let mut sampled = 0;
        let watches = order.iter().map(|entry| Watch::new(entry, &mut sampled)).collect();
        let sampled = usize::try_from(sampled).unwrap_or_default();
        Self { index: Index::new(&rules), rules, watches, sampled }
    }

    /// Whether no packet is watched.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The actions for the packet; none if no entry matches.
    #[inline]
    #[must_use]
    pub fn actions(&self, subject: &Subject) -> Actions {
        self.find(subject)
            .and_then(|rank| self.watches.get(rank))
            .map_or(Actions::NONE, |watch| watch.actions)
    }

    /// The actions for the packet after sampling; `None` if no entry matches.
    ///
    /// Drop reports are not sampled: drops are too rare and too significant.
    // int-2.1/domain-04, int-2.1/congestion-03: flows are selected by addresses, protocol and ports.
    #[inline]
    pub(crate) fn select(&self, subject: &Subject, sampling: &mut Sampling) -> Option<Actions> {
        let rank = self.find(subject)?;
        let watch = self.watches.get(rank)?;
        if watch.sample <= 1 {
            return Some(watch.actions);
        }
        let selected = sampling.0.get_mut(usize::try_from(watch.slot).ok()?)?;
        let is_turn = *selected == 0;
        *selected = (*selected + 1) % watch.sample;
        Some(if is_turn { watch.actions } else { watch.actions.of_drops() })
    }

    /// The rank of the entry that applies.
    #[inline]
    fn find(&self, subject: &Subject) -> Option<usize> {
        let rule = self.index.find(&self.rules, subject)?;
        usize::try_from(self.rules.get(rule)?.rank).ok()
    }
}

impl Watch {
    /// The watch of `entry`, given that `sampled` entries before it sample.
    fn new(entry: &WatchEntry, sampled: &mut u32) -> Self {
        let (sample, slot) = (entry.sample.get(), *sampled);
        *sampled += u32::from(sample > 1);
        Self { actions: entry.action, sample, slot }
    }
}

impl Sampling {
    /// Initial sampling state of `watchlist`.
    pub(crate) fn new(watchlist: &Watchlist) -> Self {
        Self(vec![0; watchlist.sampled])
    }
}

impl WatchEntry {
    /// Whether every key that is present matches; entries with a port match TCP and UDP only.
    #[must_use]
    pub fn matches(&self, subject: &Subject) -> bool {
        let flow = &subject.flow;
        let inside = |prefix: &Option<Prefix>, addresses: &[IpAddr]| {
            prefix.is_none_or(|prefix| addresses.iter().any(|address| prefix.contains(*address)))
        };
        let has_ports = matches!(flow.protocol, 6 | 17);
        let port = |range: &Option<PortRange>, port: u16| {
            range.as_ref().is_none_or(|range| has_ports && range.0.contains(&port))
        };
        inside(&self.source, &[flow.source])
            && inside(&self.destination, &[flow.destination])
            && inside(&self.either, &[flow.source, flow.destination])
            && self.protocol.is_none_or(|protocol| protocol.0 == flow.protocol)
            && port(&self.source_port, flow.source_port)
            && port(&self.destination_port, flow.destination_port)
            && self.dscp.is_none_or(|dscp| dscp == subject.dscp)
            && self.vni.is_none_or(|vni| subject.vni == Some(vni))
            && self.ingress.is_none_or(|ingress| ingress == subject.ingress)
    }
}

#[cfg(test)]
mod tests;
