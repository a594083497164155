//! Groups of rows with equal keys, numbered in order of first occurrence.

use super::column::Column;
use crate::mixer::Seed;

/// Groups by their keys.
#[derive(Debug)]
pub(super) struct Groups {
    /// Words per key: its values, then a bit for each that is present.
    width: usize,
    keys: Vec<i64>,
    /// By group, the one of the row after its latest row: packets of a flow repeat their hops.
    next: Vec<u32>,
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
            next: Vec::new(),
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

    /// Appends the group of each row to `found`; `None` if there are too many groups.
    pub(super) fn add(&mut self, columns: &[Column], rows: usize, found: &mut Vec<u32>) -> Option<()> {
        let keys: Vec<Key<'_>> = columns.iter().map(|column| Key::of(column, rows)).collect::<Option<_>>()?;
        let mut words = vec![0; self.width];
        let mut last: Option<u32> = None;
        for row in 0..rows {
            let is_of = |group: &u32| are_in(self.key(*group as usize), &keys, row);
            let next = last.map(|last| self.next[last as usize]);
            let group = match next.filter(is_of).or_else(|| last.filter(is_of)) {
                Some(group) => group,
                None => {
                    let mut present = 0;
                    for (place, key) in keys.iter().enumerate() {
                        words[place] = key.values[row];
                        present |= i64::from(key.is_there(row)) << place;
                    }
                    words[self.width - 1] = present;
                    self.find(&words)?
                }
            };
            if let Some(last) = last.filter(|_| next != Some(group)) {
                self.next[last as usize] = group;
            }
            last = Some(group);
            found.push(group);
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
        self.next.push(group);
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
        let next = self.next.capacity() * size_of::<u32>();
        next + self.keys.capacity() * size_of::<i64>() + self.slots.len() * size_of::<(u32, u32)>()
    }
}

/// One column of the keys of some rows.
struct Key<'a> {
    values: &'a [i64],
    valid: Option<&'a [bool]>,
}

impl<'a> Key<'a> {
    /// `None` if there are fewer rows.
    fn of(column: &'a Column, rows: usize) -> Option<Self> {
        let valid = match &column.valid {
            Some(valid) => Some(valid.get(..rows)?),
            None => None,
        };
        Some(Self { values: column.values.get(..rows)?, valid })
    }

    fn is_there(&self, row: usize) -> bool {
        self.valid.is_none_or(|valid| valid[row])
    }
}

/// Whether the key of a row has these words.
fn are_in(words: &[i64], keys: &[Key<'_>], row: usize) -> bool {
    let [words @ .., present] = words else { return false };
    let mut keys = keys.iter().zip(words).enumerate();
    keys.all(|(place, (key, word))| {
        key.values[row] == *word && key.is_there(row) == (present >> place & 1 == 1)
    })
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

/// Initial number of slots, as a power of two.
const FIRST_BITS: u32 = 10;
