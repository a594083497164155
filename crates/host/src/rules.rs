//! The watchlist as the programs in the kernel read it.
//!
//! Every entry is a rule and has a bit. Two prefix maps, for source and destination addresses, map an address
//! to the bits of all rules whose prefix contains it; the rules in both results are then compared by protocol
//! and ports.

use std::cmp::Reverse;
use std::net::{IpAddr, SocketAddr};

use inband_node::config::{Actions, PortRange, Prefix, WatchEntry};
use zerocopy::big_endian::U16;

use crate::abi::{Collector, Rule, Rules};
use crate::error::HostError;

/// A prefix of IPv6 addresses; IPv4 is mapped into ::ffff:0:0/96.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MappedPrefix {
    pub(crate) address: u128,
    pub(crate) length: u32,
    is_ipv4: bool,
}

/// The watchlist in the form of the programs' maps.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleSet {
    pub(crate) rules: Rules,
    pub(crate) sources: Vec<(MappedPrefix, u64)>,
    pub(crate) destinations: Vec<(MappedPrefix, u64)>,
}

/// One side of all rules: their prefixes, each with the bit of its rule.
type Side = Vec<(Option<MappedPrefix>, u64)>;

const IPV4: MappedPrefix = MappedPrefix { address: 0xffff_0000_0000, length: 96, is_ipv4: true };

impl RuleSet {
    /// Turns the watchlist into rules; entries that do not ask for `action` are exceptions.
    ///
    /// # Errors
    /// More entries than there are bits (one with `either` takes two), or a key unknown to the programs.
    pub(crate) fn new(
        entries: &[WatchEntry],
        action: Actions,
        collectors: &[SocketAddr],
        control_port: u16,
    ) -> Result<Self, HostError> {
        entries.iter().try_for_each(check)?;
        let mut set = Self::default();
        let (mut sources, mut destinations) = (Side::new(), Side::new());
        let mut entries: Vec<_> = entries.iter().collect();
        // The sort is stable: among equals the first decides.
        entries.sort_by_key(|entry| Reverse(entry.priority));
        for (source, destination, entry) in entries.iter().copied().flat_map(both_ways) {
            let number = usize::try_from(set.rules.count).unwrap_or(usize::MAX);
            let Some(rule) = set.rules.rule.get_mut(number) else {
                let value = format!("{} entries", entries.len());
                let instead = "at most 64; one with `either` counts twice";
                return Err(HostError::Unsupported { key: "watch", value, instead });
            };
            *rule = Rule { except: u8::from(!entry.action.contain(action)), ..rule_of(entry) };
            set.rules.count += 1;
            sources.push((source.map(MappedPrefix::of), 1 << number));
            destinations.push((destination.map(MappedPrefix::of), 1 << number));
        }
        set.exempt(collectors)?;
        set.rules.control_port = U16::new(control_port);
        (set.rules.any_source, set.sources) = by_prefix(&sources);
        (set.rules.any_destination, set.destinations) = by_prefix(&destinations);
        Ok(set)
    }

    /// Excludes traffic to the collectors from the watchlist: reports would cause further reports.
    fn exempt(&mut self, collectors: &[SocketAddr]) -> Result<(), HostError> {
        for (number, collector) in collectors.iter().enumerate() {
            let Some(place) = self.rules.collector.get_mut(number) else {
                let value = format!("{} collectors", collectors.len());
                return Err(HostError::Unsupported { key: "report.session", value, instead: "at most 8" });
            };
            let address = MappedPrefix::of(Prefix::new(collector.ip(), 128)).address.to_be_bytes();
            *place = Collector { address, port: U16::new(collector.port()), padding: 0 };
            self.rules.collectors += 1;
        }
        Ok(())
    }
}

impl MappedPrefix {
    /// All addresses.
    pub(crate) const ANY: Self = Self { address: 0, length: 0, is_ipv4: false };

    pub(crate) fn of(prefix: Prefix) -> Self {
        let (address, length, is_ipv4) = match prefix.address() {
            IpAddr::V4(address) => {
                (address.to_ipv6_mapped().to_bits(), 96 + u32::from(prefix.length()), true)
            }
            IpAddr::V6(address) => (address.to_bits(), u32::from(prefix.length()), false),
        };
        Self { address: address & mask(length), length, is_ipv4 }
    }

    /// The prefix of its whole length.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        Self::of_entry(address.to_bits(), 128)
    }

    /// The prefix of an entry of the programs' tables.
    pub(crate) fn of_entry(address: u128, length: u32) -> Self {
        let is_ipv4 = length >= IPV4.length && address & mask(IPV4.length) == IPV4.address;
        Self { address: address & mask(length), length, is_ipv4 }
    }

    /// Address and length, by which the programs' tables find it.
    pub(crate) const fn key(&self) -> (u128, u32) {
        (self.address, self.length)
    }

    /// The key of the prefix of this `length` around it.
    pub(crate) fn shortened(&self, length: u32) -> (u128, u32) {
        (self.address & mask(length), length)
    }

    /// Whether every address of `other` is one of this prefix, which must be of the same IP version.
    fn holds(&self, other: &Self) -> bool {
        self.is_ipv4 == other.is_ipv4
            && self.length <= other.length
            && other.address & mask(self.length) == self.address
    }
}

fn mask(length: u32) -> u128 {
    u128::MAX.checked_shl(128 - length).unwrap_or(0)
}

/// Refuses keys that the programs do not read: they match addresses, protocol and ports of the outer packet.
fn check(entry: &WatchEntry) -> Result<(), HostError> {
    let instead = "entries of addresses, protocol and ports";
    let given = [
        ("watch.dscp", entry.dscp.map(u32::from)),
        ("watch.vni", entry.vni),
        ("watch.ingress", entry.ingress.map(u32::from)),
        ("watch.sample", Some(entry.sample.get()).filter(|sample| *sample > 1)),
    ];
    match given.iter().find_map(|(key, value)| Some((*key, (*value)?))) {
        Some((key, value)) => Err(HostError::Unsupported { key, value: value.to_string(), instead }),
        None => Ok(()),
    }
}

/// The prefixes of an entry; with `either` one rule for the source and one for the destination, given the
/// other side.
fn both_ways(entry: &WatchEntry) -> Vec<(Option<Prefix>, Option<Prefix>, &WatchEntry)> {
    let Some(either) = entry.either else {
        return vec![(entry.source, entry.destination, entry)];
    };
    let mut ways = Vec::new();
    if let Some(source) = narrower(entry.source, either) {
        ways.push((Some(source), entry.destination, entry));
    }
    if let Some(destination) = narrower(entry.destination, either) {
        ways.push((entry.source, Some(destination), entry));
    }
    ways
}

/// The addresses that are in both prefixes; `None`: none.
fn narrower(given: Option<Prefix>, either: Prefix) -> Option<Prefix> {
    let Some(given) = given else {
        return Some(either);
    };
    let (one, other) = (MappedPrefix::of(given), MappedPrefix::of(either));
    match (one.holds(&other), other.holds(&one)) {
        (true, _) => Some(either),
        (false, true) => Some(given),
        (false, false) => None,
    }
}

fn rule_of(entry: &WatchEntry) -> Rule {
    let range = |ports: &Option<PortRange>| {
        ports.as_ref().map_or((0, u16::MAX), |range| (*range.0.start(), *range.0.end()))
    };
    let (source_first, source_last) = range(&entry.source_port);
    let (destination_first, destination_last) = range(&entry.destination_port);
    Rule {
        protocol: entry.protocol.map_or(0, |protocol| protocol.0),
        any_protocol: u8::from(entry.protocol.is_none()),
        ports: u8::from(entry.source_port.is_some() || entry.destination_port.is_some()),
        except: 0,
        source_first,
        source_last,
        destination_first,
        destination_last,
    }
}

/// The rules without a prefix, and per prefix the rules of all that contain it: lookups find the longest.
fn by_prefix(side: &Side) -> (u64, Vec<(MappedPrefix, u64)>) {
    let any = side.iter().filter(|(prefix, _)| prefix.is_none()).fold(0, |bits, (_, bit)| bits | bit);
    let given: Vec<_> = side.iter().filter_map(|(prefix, bit)| Some(((*prefix)?, *bit))).collect();
    let mut prefixes: Vec<_> = given.iter().map(|(prefix, _)| *prefix).collect();
    // An IPv6 prefix shorter than 96 bits does not include the IPv4 addresses in it.
    prefixes.push(IPV4);
    prefixes.sort_unstable();
    prefixes.dedup();
    let bits = |prefix: &MappedPrefix| {
        given.iter().filter(|(holder, _)| holder.holds(prefix)).fold(0, |bits, (_, bit)| bits | bit)
    };
    (any, prefixes.iter().map(|prefix| (*prefix, bits(prefix))).collect())
}

#[cfg(test)]
mod tests;
