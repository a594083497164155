//! Values of the last seconds, tens of seconds and minutes by key, without empty entries.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap as FastMap;

use super::buckets::{LAST_BUCKET, Sums, bucket};

/// The key of values.
pub(super) trait Key: Copy + Eq + Hash + Ord {}

impl<T: Copy + Eq + Hash + Ord> Key for T {}

/// Values by time and key.
#[derive(Debug)]
pub(super) struct Ring<K> {
    keys: Arc<Vec<K>>,
    index: FastMap<K, u32>,
    levels: [Level; LEVELS.len()],
}

/// Slots of one length: the open one, and those before.
#[derive(Debug, Default)]
struct Level {
    /// Number of the open slot, in slot lengths since 1970.
    at: u64,
    open: Counts,
    closed: VecDeque<Arc<Slot>>,
}

/// The counts of an open slot.
#[derive(Debug, Default)]
struct Counts {
    /// By key and bucket.
    cells: FastMap<u64, u32>,
    /// The highest value of each key plus one; 0: none.
    maxima: Vec<u64>,
    touched: Vec<u32>,
}

/// A closed slot.
#[derive(Debug, Clone, Default)]
struct Slot {
    at: u64,
    cells: Vec<(u64, u32)>,
    maxima: Vec<(u32, u64)>,
}

/// The slots of a window.
pub(super) struct Parts<K> {
    keys: Arc<Vec<K>>,
    slots: Vec<Arc<Slot>>,
}

impl<K: Key> Ring<K> {
    pub(super) fn new() -> Self {
        Self { keys: Arc::default(), index: FastMap::new(), levels: Default::default() }
    }

    /// Counts a current value; values of keys beyond `MAX_KEYS` are ignored.
    #[inline]
    pub(super) fn record(&mut self, key: K, value: u64) {
        let known = self.index.get(&key).copied();
        let Some(number) = known.or_else(|| self.add(key)) else { return };
        self.levels[0].open.add(number, bucket(value), 1);
        self.levels[0].open.reach(number, value);
    }

    /// Starts a new second if `second` is one, and returns whether it is.
    pub(super) fn turn(&mut self, second: u64) -> bool {
        let last = self.levels[0].at;
        // A late report counts as current.
        if second == last || (second < last && last - second < MAX_LATE) {
            return false;
        }
        if second < last {
            // The clock was set back: the counts belong to no time that can be requested.
            self.levels = Default::default();
        }
        for (level, length) in LEVELS.iter().enumerate() {
            let at = second / length;
            if self.levels[level].at == at {
                break;
            }
            self.close(level);
            self.levels[level].at = at;
        }
        true
    }

    /// The slots of the last `seconds`, up to `now`.
    pub(super) fn parts(&self, seconds: u64, now: u64) -> Parts<K> {
        // The longest slots of which six fit; open slots add what is not yet in closed ones.
        let level = LEVELS.iter().rposition(|length| length * 6 <= seconds).unwrap_or(0);
        let length = LEVELS[level];
        let is_in = |at: u64| (at + 1) * length + seconds > now && at * length <= now;
        let closed = self.levels[level].closed.iter().filter(|slot| is_in(slot.at));
        let mut slots: Vec<Arc<Slot>> = closed.cloned().collect();
        let open = self.levels[..=level].iter().zip(LEVELS);
        let open = open.filter(|(level, length)| (level.at + 1) * length + seconds > now);
        slots.extend(open.map(|(level, _)| Arc::new(level.open.slot(level.at))));
        Parts { keys: Arc::clone(&self.keys), slots }
    }

    /// Evicts the oldest slot; false if there is none.
    pub(super) fn drop_oldest(&mut self) -> bool {
        let level = self.levels.iter_mut().rev().find(|level| !level.closed.is_empty());
        level.is_some_and(|level| level.closed.pop_front().is_some())
    }

    /// Approximate memory use, bytes.
    pub(super) fn bytes(&self) -> usize {
        let keys = self.keys.capacity() * size_of::<K>() + self.index.capacity() * (size_of::<K>() + 8);
        keys + self.levels.iter().map(Level::bytes).sum::<usize>()
    }

    fn add(&mut self, key: K) -> Option<u32> {
        let number = u32::try_from(self.keys.len()).ok().filter(|_| self.keys.len() < MAX_KEYS)?;
        // Copied only while an answer reads them.
        Arc::make_mut(&mut self.keys).push(key);
        self.index.insert(key, number);
        Some(number)
    }

    /// Closes the open slot.
    fn close(&mut self, level: usize) {
        let of_level = &mut self.levels[level];
        let slot = of_level.open.slot(of_level.at);
        of_level.open.clear();
        if let Some(above) = self.levels.get_mut(level + 1) {
            above.open.take(&slot);
        }
        if !slot.cells.is_empty() {
            let closed = &mut self.levels[level].closed;
            closed.push_back(Arc::new(slot));
            if closed.len() > KEPT {
                closed.pop_front();
            }
        }
    }
}

impl Level {
    fn bytes(&self) -> usize {
        let slots: usize = self.closed.iter().map(|slot| slot.bytes()).sum();
        slots
            + self.open.cells.capacity() * CELL_BYTES
            + (self.open.maxima.capacity() + self.open.touched.capacity()) * 8
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, key: u32, bucket: u16, count: u32) {
        let cell = u64::from(key) << 16 | u64::from(bucket);
        let counted = self.cells.entry(cell).or_insert(0);
        *counted = counted.saturating_add(count);
    }

    #[inline]
    fn reach(&mut self, key: u32, value: u64) {
        let place = key as usize;
        if self.maxima.len() <= place {
            self.maxima.resize(place + 1, 0);
        }
        let most = &mut self.maxima[place];
        if *most == 0 {
            self.touched.push(key);
        }
        *most = (*most).max(value.saturating_add(1));
    }

    fn take(&mut self, slot: &Slot) {
        for (cell, count) in &slot.cells {
            let counted = self.cells.entry(*cell).or_insert(0);
            *counted = counted.saturating_add(*count);
        }
        slot.maxima.iter().for_each(|(key, value)| self.reach(*key, *value));
    }

    fn slot(&self, at: u64) -> Slot {
        let maxima = self.touched.iter().map(|key| (*key, self.maxima[*key as usize] - 1));
        Slot {
            at,
            cells: self.cells.iter().map(|(cell, count)| (*cell, *count)).collect(),
            maxima: maxima.collect(),
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        for key in self.touched.drain(..) {
            self.maxima[key as usize] = 0;
        }
    }
}

impl Slot {
    fn bytes(&self) -> usize {
        (self.cells.len() + self.maxima.len()) * CELL_BYTES
    }
}

impl<K: Key> Parts<K> {
    /// The sums of all slots, by key.
    pub(super) fn sums(self) -> BTreeMap<K, Sums> {
        let mut sums: HashMap<u32, Sums> = HashMap::new();
        for slot in &self.slots {
            for (key, value) in &slot.maxima {
                sums.entry(*key).or_default().reach(*value);
            }
            for (cell, count) in &slot.cells {
                let key = u32::try_from(cell >> 16).unwrap_or(0);
                let bucket = u16::try_from(cell & 0xffff).unwrap_or(0).min(LAST_BUCKET);
                sums.entry(key).or_default().add(bucket, *count);
            }
        }
        let keyed = sums.into_iter().filter_map(|(key, sums)| Some((*self.keys.get(key as usize)?, sums)));
        keyed.collect()
    }
}

/// The lengths of slots, seconds.
const LEVELS: [u64; 3] = [1, 10, 60];
/// Number of closed slots kept of each length.
const KEPT: usize = 10;
/// Maximum number of keys.
const MAX_KEYS: usize = 65_536;
/// Maximum lateness of a report, seconds; an older one means that the clock was set back.
const MAX_LATE: u64 = 5;
/// Approximate memory use of a cell.
const CELL_BYTES: usize = 16;
