//! A rule of the compiled watchlist.

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use crate::config::{Prefix, WatchEntry};

use super::subject::Subject;

/// A conjunction of conditions. An entry with `either` becomes two of them, one for each end of the flow.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The entry's rank among all entries; the lowest that matches applies.
    pub(super) rank: u32,
    pub(super) conditions: Conditions,
}

/// Conditions on a packet; `None`: any value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Conditions {
    pub(super) source: Option<Prefix>,
    pub(super) destination: Option<Prefix>,
    pub(super) source_port: Option<RangeInclusive<u16>>,
    pub(super) destination_port: Option<RangeInclusive<u16>>,
    pub(super) protocol: Option<u8>,
    pub(super) dscp: Option<u8>,
    pub(super) vni: Option<u32>,
    pub(super) ingress: Option<u16>,
}

impl Rule {
    /// The rules of the entries in order of rank, without those shadowed by an earlier one.
    pub(super) fn compile<'a>(entries: impl Iterator<Item = &'a WatchEntry>) -> Vec<Self> {
        let rules = (0_u32..).zip(entries).flat_map(|(rank, entry)| Self::of(entry, rank));
        let mut seen = HashSet::new();
        rules.filter(|rule| seen.insert(rule.conditions.clone())).collect()
    }

    /// The rules of `entry`, at most two; none where no packet can match it.
    fn of(entry: &WatchEntry, rank: u32) -> Vec<Self> {
        let rule = |source: Option<Prefix>, destination: Option<Prefix>| Self {
            rank,
            conditions: Conditions {
                source,
                destination,
                source_port: entry.source_port.as_ref().map(|range| range.0.clone()),
                destination_port: entry.destination_port.as_ref().map(|range| range.0.clone()),
                protocol: entry.protocol.map(|protocol| protocol.0),
                dscp: entry.dscp,
                vni: entry.vni,
                ingress: entry.ingress,
            },
        };
        let Some(either) = entry.either else {
            return vec![rule(entry.source, entry.destination)];
        };
        let by_source = both(entry.source, either).map(|source| rule(Some(source), entry.destination));
        let by_destination =
            both(entry.destination, either).map(|destination| rule(entry.source, Some(destination)));
        by_source.into_iter().chain(by_destination).collect()
    }
}

impl Conditions {
    /// Whether the packet meets every condition.
    #[inline]
    pub(super) fn matches(&self, subject: &Subject) -> bool {
        let flow = &subject.flow;
        let inside = |prefix: &Option<Prefix>, address: IpAddr| {
            prefix.as_ref().is_none_or(|prefix| prefix.contains(address))
        };
        let has_ports = matches!(flow.protocol, 6 | 17);
        let port = |range: &Option<RangeInclusive<u16>>, port: u16| {
            range.as_ref().is_none_or(|range| has_ports && range.contains(&port))
        };
        self.protocol.is_none_or(|protocol| protocol == flow.protocol)
            && inside(&self.source, flow.source)
            && inside(&self.destination, flow.destination)
            && port(&self.source_port, flow.source_port)
            && port(&self.destination_port, flow.destination_port)
            && self.dscp.is_none_or(|dscp| dscp == subject.dscp)
            && self.vni.is_none_or(|vni| subject.vni == Some(vni))
            && self.ingress.is_none_or(|ingress| ingress == subject.ingress)
    }
}

/// The intersection of both prefixes: the longer one, or none.
fn both(given: Option<Prefix>, other: Prefix) -> Option<Prefix> {
    let Some(given) = given else { return Some(other) };
    let (shorter, longer) = if given.length() <= other.length() { (given, other) } else { (other, given) };
    shorter.contains(longer.address()).then_some(longer)
}
