//! The table of recent flows.

mod entry;
mod upstream;

use std::ops::{Index, IndexMut};

use hashbrown::HashMap;
use inband_model::{Flow, Nanos};

pub(crate) use self::entry::{FLAPS, FlowEntry, PAST_PATHS, PastPath, RecentChange, Unsettled};
pub(crate) use self::upstream::{HeldStack, MAX_PARTS, Part, Span};

/// The recent flows, up to a configured maximum.
///
/// Flows come from the network, so any number of them may be forged. When the table is full, a new flow
/// evicts the longest silent of the next few candidates.
#[derive(Debug)]
pub(crate) struct FlowTable {
    slots: Vec<Option<FlowEntry>>,
    free: Vec<FlowIndex>,
    index: HashMap<Flow, FlowIndex>,
    capacity: usize,
    hand: usize,
}

/// Index of a flow in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FlowIndex(usize);

impl FlowTable {
    pub(crate) fn new(capacity: usize) -> FlowTable {
        FlowTable { slots: Vec::new(), free: Vec::new(), index: HashMap::new(), capacity, hand: 0 }
    }

    pub(crate) fn find(&self, flow: &Flow) -> Option<FlowIndex> {
        self.index.get(flow).copied()
    }

    /// The flow at this place, unless it has been removed.
    pub(crate) fn get_mut(&mut self, index: FlowIndex) -> Option<&mut FlowEntry> {
        self.slots.get_mut(index.0)?.as_mut()
    }

    /// The flow at this place, unless it has been removed.
    pub(crate) fn get(&self, index: FlowIndex) -> Option<&FlowEntry> {
        self.slots.get(index.0)?.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.index.len() >= self.capacity
    }

    /// Adds a flow that is not in the table; `None` when the table is full.
    pub(crate) fn insert(&mut self, now: Nanos, flow: Flow) -> Option<FlowIndex> {
        if self.is_full() {
            return None;
        }
        let entry = Some(FlowEntry::new(now, flow));
        let index = if let Some(index) = self.free.pop() {
            self.slots[index.0] = entry;
            index
        } else {
            self.slots.push(entry);
            FlowIndex(self.slots.len() - 1)
        };
        self.index.insert(flow, index);
        Some(index)
    }

    /// Removes a flow and returns it.
    pub(crate) fn remove(&mut self, index: FlowIndex) -> Option<FlowEntry> {
        let entry = self.slots.get_mut(index.0)?.take()?;
        self.index.remove(&entry.flow);
        self.free.push(index);
        Some(entry)
    }

    /// The longest silent of the next few flows, taken in rotation.
    pub(crate) fn longest_silent(&mut self) -> Option<FlowIndex> {
        let last_seen = |index: &FlowIndex| self.slots[index.0].as_ref().map(|entry| entry.last_seen);
        let count = self.slots.len();
        let next = (0..CANDIDATES.min(count)).map(|step| FlowIndex((self.hand + step) % count));
        let oldest = next.min_by_key(last_seen);
        self.hand = (self.hand + CANDIDATES).checked_rem(count).unwrap_or(0);
        oldest
    }

    /// The next flow in rotation, among at most `places`, that has been silent since `before`.
    pub(crate) fn next_silent(&mut self, before: Nanos, places: &mut usize) -> Option<FlowIndex> {
        while *places > 0 {
            *places -= 1;
            let place = self.hand.checked_rem(self.slots.len())?;
            self.hand = place + 1;
            if self.slots[place].as_ref().is_some_and(|entry| entry.last_seen < before) {
                return Some(FlowIndex(place));
            }
        }
        None
    }

    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FlowEntry> {
        self.slots.iter().flatten()
    }
}

impl Index<FlowIndex> for FlowTable {
    type Output = FlowEntry;

    fn index(&self, index: FlowIndex) -> &FlowEntry {
        self.slots[index.0].as_ref().expect("an index in use names a flow that was not removed")
    }
}

impl IndexMut<FlowIndex> for FlowTable {
    fn index_mut(&mut self, index: FlowIndex) -> &mut FlowEntry {
        self.slots[index.0].as_mut().expect("an index in use names a flow that was not removed")
    }
}

/// Number of candidates for an eviction.
const CANDIDATES: usize = 8;
