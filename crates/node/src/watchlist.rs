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
/// Of the entries that match a packet the one with the highest priority decides, among equals the first. A
/// few entries are compared one by one; more of them are put into a decision structure in which a packet meets
/// only those that share its addresses, ports or protocol.
#[derive(Clone, Debug, Default)]
pub struct Watchlist {
    rules: Vec<Rule>,
    index: Index,
    watches: Vec<Watch>,
    /// How many entries are sampled.
    sampled: usize,
}

/// Whose turn it is at the entries of a [`Watchlist`] that sample: how many packets each has selected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampling(Vec<u32>);

/// What is done about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) actions: Actions,
    sample: u32,
    /// The entry's place in [`Sampling`], where it samples.
    slot: u32,
}

impl Watchlist {
    /// Creates the watchlist of `entries`; without entries nothing is watched.
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

    /// Whether nothing is watched.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What is done about the packet; nothing where no entry matches.
    #[inline]
    #[must_use]
    pub fn actions(&self, subject: &Subject) -> Actions {
        self.find(subject)
            .and_then(|rank| self.watches.get(rank))
            .map_or(Actions::NONE, |watch| watch.actions)
    }

    /// What is done about the packet if its entry's sampling says that it is this packet's turn; `None` where no
    /// entry matches.
    ///
    /// Drops are reported whoever's turn it is: they are too rare and too telling to be sampled.
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

    /// The entry that decides, by its rank.
    #[inline]
    fn find(&self, subject: &Subject) -> Option<usize> {
        let rule = self.index.find(&self.rules, subject)?;
        usize::try_from(self.rules.get(rule)?.rank).ok()
    }
}

impl Watch {
    /// The watch of `entry`, which follows `sampled` that sample.
    fn new(entry: &WatchEntry, sampled: &mut u32) -> Self {
        let (sample, slot) = (entry.sample.get(), *sampled);
        *sampled += u32::from(sample > 1);
        Self { actions: entry.action, sample, slot }
    }
}

impl Sampling {
    /// The turns at the entries of `watchlist`, each at its beginning.
    pub(crate) fn new(watchlist: &Watchlist) -> Self {
        Self(vec![0; watchlist.sampled])
    }
}

impl WatchEntry {
    /// Whether every key that is given matches; entries with a port match TCP and UDP only.
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
