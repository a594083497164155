//! Datagrams whose bytes are kept, in the order of lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use inband_collector::ReportName;
use inband_model::api::TimeRange;
use inband_model::{Nanos, NodeId, ReportBytes, ReportReference};

use crate::recent::{Arrived, Block};

/// The key by which datagrams are ordered and identified in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) time: Nanos,
    /// `None` if the datagram is no report.
    pub(super) node: Option<NodeId>,
    pub(super) hw_id: u8,
    pub(super) sequence: u32,
}

/// A datagram whose bytes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) source: String,
    pub(super) session: String,
    pub(super) length: u32,
    pub(super) version: String,
    /// Ids of the events based on it.
    pub(super) events: Vec<String>,
    pub(super) bytes: Bytes,
}

/// The bytes of a datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bytes {
    /// Not needed here.
    None,
    /// All bytes that are kept.
    Whole(Vec<u8>),
}

/// The conditions of wanted datagrams.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) range: TimeRange,
    pub(super) node: Option<NodeId>,
    /// Only datagrams before this one.
    pub(super) below: Option<Key>,
    /// Maximum number; the latest are returned.
    pub(super) limit: usize,
}

impl Key {
    fn of(arrived: &Arrived<'_>, name: Option<&ReportName>) -> Self {
        Self {
            time: arrived.time,
            node: name.map(|name| name.node_id.unwrap_or(NodeId::NOT_AVAILABLE)),
            hw_id: name.map_or(0, |name| name.hw_id),
            // A datagram that is no report has no number; a hash of its bytes distinguishes it from others of
            // its time.
            sequence: name.map_or_else(|| nameless(arrived.bytes), |name| name.sequence),
        }
    }

    pub(super) fn to_cursor(self) -> String {
        let node = self.node.map_or_else(String::new, |node| node.0.to_string());
        format!("{}.{node}.{}.{}", self.time.0, self.hw_id, self.sequence)
    }

    pub(super) fn of_cursor(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let time = Nanos(parts.next()?.parse().ok()?);
        let node = match parts.next()? {
            "" => None,
            node => Some(NodeId(node.parse().ok()?)),
        };
        let key =
            Self { time, node, hw_id: parts.next()?.parse().ok()?, sequence: parts.next()?.parse().ok()? };
        parts.next().is_none().then_some(key)
    }
}

/// A number for a datagram without one: a hash of its bytes.
fn nameless(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl Wanted {
    fn wants(&self, key: &Key) -> bool {
        (self.range.from..self.range.to).contains(&key.time)
            && self.node.is_none_or(|node| key.node == Some(node))
            && self.below.is_none_or(|below| *key < below)
    }
}

impl Kept {
    fn of(arrived: &Arrived<'_>, name: Option<&ReportName>) -> Self {
        let is_report = name.is_some();
        let bytes = &arrived.bytes[..arrived.bytes.len().min(ReportBytes::MAX_KEPT)];
        Self {
            key: Key::of(arrived, name),
            source: arrived.from.to_string(),
            session: arrived.to.to_string(),
            length: u32::try_from(arrived.bytes.len()).unwrap_or(u32::MAX),
            version: name.map_or("", |name| name.version.name()).to_owned(),
            events: Vec::new(),
            bytes: if is_report { Bytes::None } else { Bytes::Whole(bytes.to_vec()) },
        }
    }
}

/// Adds the matching ones of the newest datagrams, keeping the latest; with `references`, only those reports.
pub(super) fn of_recent(
    blocks: &[Arc<Block>],
    wanted: &Wanted,
    references: Option<&[ReportReference]>,
    found: &mut BTreeMap<Key, Kept>,
) {
    let Wanted { range, .. } = wanted;
    for block in blocks.iter().rev().filter(|block| block.may_hold(range.from, range.to)) {
        for arrived in block.datagrams() {
            if references.is_some_and(|all| all.iter().all(|one| one.received_at != arrived.time)) {
                continue;
            }
            let name = ReportName::of(arrived.bytes);
            let mut key = Key::of(&arrived, name.as_ref());
            if let Some(references) = references {
                let is_meant = |one: &&ReportReference| {
                    one.received_at == arrived.time && name.is_some_and(|name| name.is_of(one))
                };
                let Some(meant) = references.iter().find(is_meant) else { continue };
                key = Key { node: Some(meant.node_id), sequence: meant.sequence, ..key };
            }
            let is_late =
                found.len() >= wanted.limit && found.keys().next().is_some_and(|least| key < *least);
            if is_late || !wanted.wants(&key) {
                continue;
            }
            found.entry(key).or_insert_with(|| Kept { key, ..Kept::of(&arrived, name.as_ref()) });
            if found.len() > wanted.limit {
                found.pop_first();
            }
        }
    }
    while found.len() > wanted.limit {
        found.pop_first();
    }
}

/// The matching one of the newest datagrams nearest to a time; without a time, the latest.
pub(super) fn nearest(
    blocks: &[Arc<Block>],
    wanted: &ReportReference,
    range: TimeRange,
    at: Option<Nanos>,
) -> Option<Kept> {
    let is_near = |block: &&Arc<Block>| block.may_hold(range.from, range.to);
    let near = blocks.iter().filter(is_near).flat_map(|block| block.datagrams());
    let near = near.filter(|arrived| (range.from..=range.to).contains(&arrived.time));
    let named = near.filter_map(|arrived| {
        let name = ReportName::of(arrived.bytes).filter(|name| name.is_of(wanted))?;
        // An exact number comes before one that may be padded.
        Some(((distance(arrived.time, at), name.sequence != wanted.sequence), arrived, name))
    });
    let (_, arrived, name) = named.min_by_key(|(order, ..)| *order)?;
    Some(Kept { bytes: Bytes::Whole(arrived.bytes.to_vec()), ..Kept::of(&arrived, Some(&name)) })
}

/// Distance of a time from the requested one; without one, its age.
pub(super) fn distance(time: Nanos, at: Option<Nanos>) -> u64 {
    at.map_or(u64::MAX - time.0, |at| at.0.abs_diff(time.0))
}
