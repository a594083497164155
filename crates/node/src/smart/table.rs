//! Which flows are remembered exactly?

use super::filter::{Key, Reported};
use super::observation::Observation;

/// A table of fixed size whose entries die with their interval.
///
/// A key has [`WAYS`] places. Where all of them are taken by others it is not remembered here.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A part of the hash of each entry, so that few entries are looked at; 0 where there is none.
    tags: Vec<[u16; WAYS]>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    key: Key,
    pub(super) seen: Observation,
    pub(super) reported: Reported,
}

/// Places of one key.
const WAYS: usize = 8;

impl Table {
    /// Creates a table of `keys` entries, rounded up to whole rows of [`WAYS`]; memory is taken at once.
    pub(super) fn new(keys: u32) -> Self {
        let rows = usize::try_from(keys).unwrap_or(usize::MAX).div_ceil(WAYS);
        let nothing = Entry {
            key: Key { flow: inband_wire::FiveTuple::default(), reason: None },
            seen: Observation::default(),
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

    /// Remembers a key that is not in the table; `false` where its places are taken by keys whose interval is
    /// not over.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        key: Key,
        seen: Observation,
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
        *entry = Entry { key, seen, reported: Reported(now) };
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
