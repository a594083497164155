//! The exactly stored flows.

use super::key::Key;
use super::latency::{Latencies, Sensitivity};
use super::observation::{Observation, Way};
use super::reported::Reported;

/// A table of fixed size whose entries expire with their interval.
///
/// A key has [`WAYS`] slots. If other keys hold all of them, it is not stored.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A part of the hash of each entry, so that few entries are compared; 0 if empty.
    tags: Vec<[u16; WAYS]>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    key: Key,
    way: Way,
    latencies: Latencies,
    /// Latencies of the stack's hops, at most 255.
    upstream: Box<[u32]>,
    pub(super) reported: Reported,
}

impl Entry {
    /// Whether the packet `seen` is to be reported, however soon after the previous one.
    #[inline(always)]
    pub(super) fn differs_from(&self, seen: &Observation<'_>, sensitivity: Sensitivity) -> bool {
        self.way != seen.way
            || sensitivity.have_changed(self.latencies, seen.latencies)
            || sensitivity.have_changed_upstream(&self.upstream, seen.upstream)
    }

    /// Stores the key's latest packet.
    #[inline(always)]
    pub(super) fn remember(&mut self, seen: &Observation<'_>) {
        self.way = seen.way;
        self.latencies = seen.latencies;
        copy_into(&mut self.upstream, seen.upstream);
    }
}

/// Copies `from`, reusing the memory of `to` if it has the same length.
pub(super) fn copy_into(to: &mut Box<[u32]>, from: &[u32]) {
    if to.len() == from.len() {
        to.copy_from_slice(from);
    } else {
        *to = from.into();
    }
}

/// Slots of one key.
const WAYS: usize = 8;

impl Table {
    /// Creates a table of `keys` entries, rounded up to whole rows of [`WAYS`]; memory is allocated at once.
    pub(super) fn new(keys: u32) -> Self {
        let rows = usize::try_from(keys).unwrap_or(usize::MAX).div_ceil(WAYS);
        let nothing = Entry {
            key: Key { flow: inband_wire::FiveTuple::default(), reason: None },
            way: Way::default(),
            latencies: Latencies::default(),
            upstream: Box::default(),
            reported: Reported::default(),
        };
        Self { tags: vec![[0; WAYS]; rows], entries: vec![nothing; rows * WAYS] }
    }

    /// The entry of `key`.
    pub(super) fn find(&mut self, hash: u64, key: &Key) -> Option<&mut Entry> {
        let (row, tag) = self.place(hash)?;
        let tags = self.tags.get(row)?;
        let at = (row * WAYS..).zip(tags).find(|(at, other)| {
            **other == tag && self.entries.get(*at).is_some_and(|entry| entry.key == *key)
        });
        let (at, _) = at?;
        self.entries.get_mut(at)
    }

    /// Stores a key that is not in the table; `false` if its slots are held by keys whose interval has not
    /// passed.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        key: Key,
        seen: &Observation<'_>,
        now: u64,
        interval_ns: u64,
    ) -> bool {
        let Some((row, tag)) = self.place(hash) else { return false };
        let Some(tags) = self.tags.get_mut(row) else { return false };
        let entries = self.entries.get_mut(row * WAYS..).unwrap_or_default();
        let free = tags.iter_mut().zip(entries).find(|(tag, entry)| {
            let mut reported = entry.reported;
            **tag == 0 || reported.is_over(now, interval_ns)
        });
        let Some((tag_of, entry)) = free else { return false };
        *tag_of = tag;
        entry.key = key;
        entry.reported = Reported(now);
        entry.remember(seen);
        true
    }

    /// Row and tag of a hash.
    fn place(&self, hash: u64) -> Option<(usize, u16)> {
        let rows = u64::try_from(self.tags.len()).ok()?;
        let row = usize::try_from((hash >> 32).checked_rem(rows)?).ok()?;
        let tag = u16::try_from(hash & 0xffff).unwrap_or_default();
        Some((row, tag.max(1)))
    }
}
