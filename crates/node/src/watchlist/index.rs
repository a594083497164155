//! An index that finds the first matching rule among tens of thousands.
//!
//! Rules are split by the field that gives the smallest groups, each group again by another field, until a
//! few rules are left that are compared one by one. A packet visits the groups of its own fields: for
//! addresses and ports those of the prefixes that cover them, for other fields one group. Rules without a
//! condition on the field form a group that every packet visits. Only port ranges are stored more than once,
//! as the blocks they consist of.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use crate::config::Prefix;

use super::prefixes::Prefixes;
use super::rule::{Conditions, Rule};
use super::subject::Subject;

/// Rules by number, the lowest first.
#[derive(Clone, Debug)]
pub(super) enum Index {
    /// Few rules, compared one by one.
    Few(Box<[u32]>),
    Branch(Box<Branch>),
}

/// Rules split by one field.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The lowest rule in the split.
    first: u32,
    groups: Groups,
    /// The rules without a condition on the field.
    open: Option<Index>,
}

#[derive(Clone, Debug)]
enum Groups {
    Source(Addresses),
    Destination(Addresses),
    SourcePort(Prefixes<u16, Index>),
    DestinationPort(Prefixes<u16, Index>),
    Other(Field, Vec<(u32, Index)>),
}

/// Groups by address prefix.
#[derive(Clone, Debug)]
struct Addresses {
    v4: Prefixes<u32, Index>,
    v6: Prefixes<u128, Index>,
}

/// A field that rules can be split by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Source,
    Destination,
    SourcePort,
    DestinationPort,
    Protocol,
    Dscp,
    Vni,
    Ingress,
}

const FIELDS: [Field; 8] = [
    Field::Source,
    Field::Destination,
    Field::SourcePort,
    Field::DestinationPort,
    Field::Protocol,
    Field::Dscp,
    Field::Vni,
    Field::Ingress,
];

/// Number of rules compared one by one: about as many as the steps of a split cost.
const FEW: usize = 8;
/// Maximum copies of a rule, one for each block of its port ranges.
const MAX_COPIES: usize = 32;

/// The groups of some rules by one field.
type Split = BTreeMap<Key, Vec<u32>>;

/// A rule's condition on one field: a prefix of an address or port, or a value of full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Open,
    V4(u32, u8),
    V6(u128, u8),
    Port(u16, u8),
    Value(u32),
}

impl Default for Index {
    fn default() -> Self {
        Self::Few(Box::default())
    }
}

impl Index {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let numbers = (0_u32..).zip(rules).map(|(number, _)| number).collect();
        Self::build(rules, numbers, &FIELDS, MAX_COPIES)
    }

    /// Splits the rules by some of `fields`; each may be stored up to `most_copies` times.
    fn build(rules: &[Rule], mut numbers: Vec<u32>, fields: &[Field], most_copies: usize) -> Self {
        if numbers.len() <= FEW {
            return Self::Few(numbers.into());
        }
        let splits = fields.iter().filter_map(|field| Some((*field, split(rules, &numbers, *field)?)));
        let affordable = splits.filter(|(_, split)| copies(split, numbers.len()) <= most_copies);
        let largest = |split: &Split| split.values().map(Vec::len).max().unwrap_or(0);
        let Some((field, split)) = affordable.min_by_key(|(_, split)| largest(split)) else {
            if fields.is_empty() {
                // Rules equal in every field: only the first can apply.
                numbers.truncate(1);
            }
            return Self::Few(numbers.into());
        };
        let most_copies = most_copies / copies(&split, numbers.len()).max(1);
        let others: Vec<_> = fields.iter().copied().filter(|other| *other != field).collect();
        let first = numbers.first().copied().unwrap_or(0);
        let mut groups: BTreeMap<Key, Self> = split
            .into_iter()
            .map(|(key, group)| (key, Self::build(rules, group, &others, most_copies)))
            .collect();
        let open = groups.remove(&Key::Open);
        Self::Branch(Box::new(Branch { first, groups: Groups::new(field, groups), open }))
    }

    /// The first rule that matches.
    #[inline]
    pub(super) fn find(&self, rules: &[Rule], subject: &Subject) -> Option<usize> {
        let mut best = u32::MAX;
        match self {
            Self::Few(numbers) => first_match(numbers, rules, subject, &mut best),
            // By value: a subject that few rules inspect need not be assembled as a whole.
            Self::Branch(branch) => best = branch.find(rules, *subject),
        }
        usize::try_from(best).ok().filter(|_| best != u32::MAX)
    }

    /// Lowers `best` to the first matching rule in the split, if that is lower.
    #[inline]
    fn improve(&self, rules: &[Rule], subject: &Subject, best: &mut u32) {
        match self {
            Self::Few(numbers) => first_match(numbers, rules, subject, best),
            Self::Branch(branch) if branch.first < *best => branch.improve(rules, subject, best),
            Self::Branch(_) => {}
        }
    }
}

/// Lowers `best` to the first matching rule of `numbers`, if that is lower.
#[inline]
fn first_match(numbers: &[u32], rules: &[Rule], subject: &Subject, best: &mut u32) {
    for number in numbers {
        if number >= best {
            return;
        }
        let rule = usize::try_from(*number).ok().and_then(|number| rules.get(number));
        if rule.is_some_and(|rule| rule.conditions.matches(subject)) {
            *best = *number;
            return;
        }
    }
}

impl Branch {
    /// The first matching rule; the highest number if there is none.
    #[inline(never)]
    fn find(&self, rules: &[Rule], subject: Subject) -> u32 {
        let mut best = u32::MAX;
        self.improve(rules, &subject, &mut best);
        best
    }

    fn improve(&self, rules: &[Rule], subject: &Subject, best: &mut u32) {
        let flow = &subject.flow;
        let mut visit = |index: &Index| index.improve(rules, subject, best);
        match &self.groups {
            Groups::Source(addresses) => addresses.visit(flow.source, visit),
            Groups::Destination(addresses) => addresses.visit(flow.destination, visit),
            Groups::SourcePort(ports) => ports.covering(flow.source_port, 16).for_each(visit),
            Groups::DestinationPort(ports) => ports.covering(flow.destination_port, 16).for_each(visit),
            Groups::Other(field, values) => {
                let group = field.value(subject).and_then(|value| {
                    values
                        .binary_search_by_key(&value, |(value, _)| *value)
                        .ok()
                        .and_then(|at| values.get(at))
                });
                if let Some((_, index)) = group {
                    visit(index);
                }
            }
        }
        if let Some(open) = &self.open {
            open.improve(rules, subject, best);
        }
    }
}

impl Groups {
    fn new(field: Field, groups: BTreeMap<Key, Index>) -> Self {
        let (mut v4, mut v6) = (BTreeMap::new(), BTreeMap::new());
        let (mut ports, mut values) = (BTreeMap::new(), Vec::new());
        for (key, index) in groups {
            match key {
                Key::Open => {}
                Key::V4(address, length) => drop(v4.insert((address, length), index)),
                Key::V6(address, length) => drop(v6.insert((address, length), index)),
                Key::Port(port, length) => drop(ports.insert((port, length), index)),
                Key::Value(value) => values.push((value, index)),
            }
        }
        match field {
            Field::Source => Self::Source(Addresses { v4: Prefixes::new(v4), v6: Prefixes::new(v6) }),
            Field::Destination => {
                Self::Destination(Addresses { v4: Prefixes::new(v4), v6: Prefixes::new(v6) })
            }
            Field::SourcePort => Self::SourcePort(Prefixes::new(ports)),
            Field::DestinationPort => Self::DestinationPort(Prefixes::new(ports)),
            Field::Protocol | Field::Dscp | Field::Vni | Field::Ingress => Self::Other(field, values),
        }
    }
}

impl Addresses {
    fn visit(&self, address: IpAddr, visit: impl FnMut(&Index)) {
        match address {
            IpAddr::V4(address) => self.v4.covering(address.to_bits(), 32).for_each(visit),
            IpAddr::V6(address) => self.v6.covering(address.to_bits(), 128).for_each(visit),
        }
    }
}

impl Field {
    /// The packet's value of a field that is compared as a whole.
    fn value(self, subject: &Subject) -> Option<u32> {
        match self {
            Self::Protocol => Some(subject.flow.protocol.into()),
            Self::Dscp => Some(subject.dscp.into()),
            Self::Vni => subject.vni,
            Self::Ingress => Some(subject.ingress.into()),
            Self::Source | Self::Destination | Self::SourcePort | Self::DestinationPort => None,
        }
    }

    /// The conditions of `rule` on the field; a range of ports is several prefixes.
    fn keys(self, rule: &Conditions) -> Vec<Key> {
        let value = |value: Option<u32>| vec![value.map_or(Key::Open, Key::Value)];
        match self {
            Self::Source => vec![rule.source.map_or(Key::Open, Key::of)],
            Self::Destination => vec![rule.destination.map_or(Key::Open, Key::of)],
            Self::SourcePort => blocks(rule.source_port.as_ref()),
            Self::DestinationPort => blocks(rule.destination_port.as_ref()),
            Self::Protocol => value(rule.protocol.map(u32::from)),
            Self::Dscp => value(rule.dscp.map(u32::from)),
            Self::Vni => value(rule.vni),
            Self::Ingress => value(rule.ingress.map(u32::from)),
        }
    }
}

impl Key {
    fn of(prefix: Prefix) -> Self {
        let length = prefix.length();
        match prefix.address() {
            IpAddr::V4(address) => Self::V4(address.to_bits(), length),
            IpAddr::V6(address) => Self::V6(address.to_bits(), length),
        }
    }
}

/// Groups the rules by one field; `None` if no rule has a condition on it.
fn split(rules: &[Rule], numbers: &[u32], field: Field) -> Option<Split> {
    let mut split = Split::new();
    for number in numbers {
        let Some(rule) = usize::try_from(*number).ok().and_then(|number| rules.get(number)) else { continue };
        for key in field.keys(&rule.conditions) {
            split.entry(key).or_default().push(*number);
        }
    }
    split.keys().any(|key| *key != Key::Open).then_some(split)
}

/// Average number of groups that hold a rule, rounded up.
fn copies(split: &Split, rules: usize) -> usize {
    split.values().map(Vec::len).sum::<usize>().div_ceil(rules.max(1))
}

/// The blocks a range of ports consists of, each a prefix of 16 bits; at most 30.
fn blocks(range: Option<&RangeInclusive<u16>>) -> Vec<Key> {
    let Some(range) = range else { return vec![Key::Open] };
    let (mut first, end) = (u32::from(*range.start()), u32::from(*range.end()) + 1);
    let mut blocks = Vec::new();
    while first < end {
        // The largest block that starts here and ends within the range.
        let aligned = first.trailing_zeros().min(16);
        let fits = (end - first).ilog2();
        let bits = aligned.min(fits);
        let length = u8::try_from(16 - bits).unwrap_or(16);
        blocks.push(Key::Port(u16::try_from(first).unwrap_or(u16::MAX), length));
        first += 1 << bits;
    }
    blocks
}
