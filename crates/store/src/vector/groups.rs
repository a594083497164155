//! Groups of rows with equal keys, numbered in order of first occurrence.

use super::column::Column;
use crate::mixer::Seed;

/// Groups by their keys.
#[derive(Debug)]
pub(super) struct Groups {
    /// Words per key: its values, then a bit for each that is present.
    width: usize,
    keys: Vec<i64>,
    /// One plus the number of a group, 0 for none; then bits of the hash, which distinguish most keys.
    slots: Vec<(u32, u32)>,
    shift: u32,
    /// The seed of the hash, so that colliding keys cannot be chosen from outside.
    seed: u64,
}

impl Groups {
    pub(super) fn new(keys: usize) -> Self {
        let slots = 1 << FIRST_BITS;
        Self {
            width: keys + 1,
            keys: Vec::new(),
            slots: vec![(0, 0); slots],
            shift: u64::BITS - FIRST_BITS,
            seed: Seed::new().number(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len() / self.width
    }

    /// The words of a group's key.
    pub(super) fn key(&self, group: usize) -> &[i64] {
        &self.keys[group * self.width..][..self.width]
    }

    /// Appends the groups of all rows to an empty `found`; `None` if there are too many groups.
    pub(super) fn add(&mut self, columns: &[Column], rows: usize, found: &mut Vec<Run>) -> Option<()> {
        let mut keys: Vec<Key<'_>> =
            columns.iter().map(|column| Key::of(column, rows)).collect::<Option<_>>()?;
        let mut words = vec![0; self.width];
        let mut row = 0;
        while row < rows {
            // Where nearly all rows are of other groups than their neighbours, looking for runs takes longer.
            let is_mixed = row >= SAMPLE_ROWS && found.len() > row / 2;
            let (mut present, mut end) = (0, if is_mixed { row + 1 } else { rows });
            for (place, key) in keys.iter_mut().enumerate() {
                words[place] = key.values[row];
                present |= i64::from(key.is_there(row)) << place;
                if !is_mixed {
                    end = end.min(key.end_of_run(row));
                }
            }
            words[self.width - 1] = present;
            found.push(Run { group: self.find(&words)?, rows: end - row });
            row = end;
        }
        Some(())
    }

    /// The number of the group with this key, added if new.
    pub(super) fn find(&mut self, words: &[i64]) -> Option<u32> {
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = hash(words, self.seed);
        let (mut slot, mask) = (place(hash, self.shift), self.slots.len() - 1);
        while self.slots[slot].0 != 0 {
            let (group, bits) = self.slots[slot];
            if bits == low(hash) && are_same(self.key(group as usize - 1), words) {
                return Some(group - 1);
            }
            slot = (slot + 1) & mask;
        }
        let group = u32::try_from(self.len()).ok().filter(|group| *group < u32::MAX)?;
        self.keys.extend_from_slice(words);
        self.slots[slot] = (group + 1, low(hash));
        Some(group)
    }

    fn grow(&mut self) {
        self.shift -= 1;
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, (0, 0));
        for (group, words) in (1..).zip(self.keys.chunks_exact(self.width)) {
            let hash = hash(words, self.seed);
            let mut slot = place(hash, self.shift);
            while self.slots[slot].0 != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = (group, low(hash));
        }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<i64>() + self.slots.len() * size_of::<(u32, u32)>()
    }
}

/// Adjacent rows of the same group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) group: u32,
    pub(super) rows: usize,
}

/// One column of the keys of some rows.
struct Key<'a> {
    values: &'a [i64],
    valid: Option<&'a [bool]>,
    /// The first row with another value than the rows before it.
    end: usize,
}

impl<'a> Key<'a> {
    /// `None` if there are fewer rows.
    fn of(column: &'a Column, rows: usize) -> Option<Self> {
        let valid = match &column.valid {
            Some(valid) => Some(valid.get(..rows)?),
            None => None,
        };
        Some(Self { values: column.values.get(..rows)?, valid, end: 0 })
    }

    fn is_there(&self, row: usize) -> bool {
        self.valid.is_none_or(|valid| valid[row])
    }

    /// The first row after `row` with another value. Rows must ascend from one call to the next.
    fn end_of_run(&mut self, row: usize) -> usize {
        if self.end <= row {
            self.end = row + same(&self.values[row..]);
            if let Some(valid) = self.valid {
                self.end = self.end.min(row + same(&valid[row..]));
            }
        }
        self.end
    }
}

/// The number of items at the front that are equal to the first one.
fn same<T: PartialEq>(items: &[T]) -> usize {
    items.iter().take_while(|item| **item == items[0]).count()
}

/// Whether keys are equal; they are too short for a call to `memcmp`.
fn are_same(one: &[i64], other: &[i64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// The first slot to look for a key in: the leading bits of its hash.
fn place(hash: u64, shift: u32) -> usize {
    usize::try_from(hash >> shift).unwrap_or(0)
}

/// The low bits of a hash.
fn low(hash: u64) -> u32 {
    u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(0)
}

fn hash(words: &[i64], seed: u64) -> u64 {
    let mix = |hash: u64, word: &i64| {
        (hash.rotate_left(29) ^ word.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let hash = words.iter().fold(seed, mix);
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Rows that tell whether groups are mixed.
const SAMPLE_ROWS: usize = 64;
/// Initial number of slots, as a power of two.
const FIRST_BITS: u32 = 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Column, Groups, Run, SAMPLE_ROWS};

    proptest! {
        /// Groups of runs are those of their rows one by one; a run is as long as it can be, unless groups
        /// are mixed.
        #[test]
        fn runs_are_adjacent_rows_with_equal_keys(
            rows in prop::collection::vec((0..2_i64, prop::option::of(0..2_i64), 1..4_usize), 0..100),
        ) {
            let rows: Vec<(i64, Option<i64>)> =
                rows.into_iter().flat_map(|(one, other, times)| vec![(one, other); times]).collect();
            let columns = [
                Column::numbers(rows.iter().map(|row| row.0).collect::<Vec<_>>(), None),
                Column::numbers(
                    rows.iter().map(|row| row.1.unwrap_or(0)).collect::<Vec<_>>(),
                    Some(rows.iter().map(|row| row.1.is_some()).collect()),
                ),
            ];
            let (mut groups, mut runs) = (Groups::new(2), Vec::new());
            groups.add(&columns, rows.len(), &mut runs).unwrap();
            if rows.len() < SAMPLE_ROWS {
                prop_assert!(runs.is_sorted_by(|one: &Run, next| one.group != next.group));
            }
            let of_rows = runs.iter().flat_map(|run| vec![run.group; run.rows]);
            let mut expected = Groups::new(2);
            for (row, group) in rows.iter().zip(of_rows.clone()) {
                let words = [row.0, row.1.unwrap_or(0), 1 | i64::from(row.1.is_some()) << 1];
                prop_assert_eq!(expected.find(&words), Some(group));
            }
            prop_assert_eq!(of_rows.count(), rows.len());
        }
    }
}
