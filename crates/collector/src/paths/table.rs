//! The table of paths, each stored once for all flows that share it.

use std::hash::BuildHasher;
use std::ops::Index;

use hashbrown::{DefaultHashBuilder, HashTable};
use inband_model::{Hop, Nanos, Path};

use crate::ports::{PortIndex, Ports};

use super::links::{LinkIndex, Links};

/// The paths in use, each stored once, up to a configured maximum.
#[derive(Debug)]
pub(crate) struct PathTable {
    slots: Vec<PathSlot>,
    free: Vec<PathIndex>,
    index: HashTable<PathIndex>,
    hasher: DefaultHashBuilder,
    capacity: usize,
    refused: u64,
}

/// Index of a path in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathIndex(usize);

/// A path and the state of its hops, looked up once for all reports on it.
#[derive(Debug)]
pub(crate) struct PathSlot {
    pub(crate) path: Path,
    /// The egress port of each hop; `None` where the table of ports is full.
    pub(crate) ports: Box<[Option<PortIndex>]>,
    /// The links between its hops; `None` where the table of links is full.
    pub(crate) links: Box<[Option<LinkIndex>]>,
    users: usize,
    touched_at: Nanos,
}

impl PathIndex {
    /// Its index, below [`PathTable::places`].
    pub(crate) fn place(self) -> usize {
        self.0
    }
}

impl PathTable {
    pub(crate) fn new(capacity: usize) -> PathTable {
        PathTable {
            slots: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            capacity,
            refused: 0,
        }
    }

    /// Acquires a path for one more user; `None` when there is no room for another path.
    pub(crate) fn acquire(
        &mut self,
        now: Nanos,
        hops: &[Hop],
        links: &mut Links,
        ports: &mut Ports,
    ) -> Option<PathIndex> {
        let hash = self.hasher.hash_one(hops);
        let slots = &self.slots;
        if let Some(index) = self.index.find(hash, |index| slots[index.0].path.hops() == hops) {
            return Some(self.share(*index));
        }
        if self.index.len() >= self.capacity {
            self.refused += 1;
            return None;
        }
        let slot = PathSlot {
            path: Path::new(hops),
            ports: hops.iter().map(|hop| ports.open(now, hop.node_id, hop.egress_interface)).collect(),
            links: hops.windows(2).map(|pair| links.learn(now, &pair[0], &pair[1])).collect(),
            users: 1,
            touched_at: now,
        };
        let index = if let Some(index) = self.free.pop() {
            self.slots[index.0] = slot;
            index
        } else {
            self.slots.push(slot);
            PathIndex(self.slots.len() - 1)
        };
        let (slots, hasher) = (&self.slots, &self.hasher);
        self.index.insert_unique(hash, index, |index| hasher.hash_one(slots[index.0].path.hops()));
        Some(index)
    }

    /// Records that there is no other node between the hops of a path.
    pub(crate) fn make_certain(&self, index: PathIndex, links: &mut Links) {
        for link in self.slots[index.0].links.iter().flatten() {
            links.make_certain(*link);
        }
    }

    /// Adds a user of a path in the table.
    pub(crate) fn share(&mut self, index: PathIndex) -> PathIndex {
        self.slots[index.0].users += 1;
        index
    }

    /// Releases a path for one user; the last release removes it.
    pub(crate) fn release(&mut self, index: PathIndex) {
        let slot = &mut self.slots[index.0];
        slot.users = slot.users.saturating_sub(1);
        if slot.users > 0 {
            return;
        }
        let hash = self.hasher.hash_one(slot.path.hops());
        if let Ok(entry) = self.index.find_entry(hash, |known| *known == index) {
            entry.remove();
            self.slots[index.0].path = Path::default();
            self.free.push(index);
        }
    }

    /// Records that a report shows this path, which keeps its links alive.
    ///
    /// The links are updated at most once per `resolution`, the accuracy that their times need.
    #[inline]
    pub(crate) fn touch(&mut self, now: Nanos, index: PathIndex, resolution: Nanos, links: &mut Links) {
        let slot = &mut self.slots[index.0];
        if now.since(slot.touched_at) >= resolution {
            slot.touched_at = now;
            for link in slot.links.iter().flatten() {
                links.touch(now, *link);
            }
        }
    }

    /// Whether a link of `old` that `new` does not use has not been reported since a time.
    pub(crate) fn left_a_dead_link(
        &self,
        old: PathIndex,
        new: PathIndex,
        since: Nanos,
        links: &Links,
    ) -> bool {
        let new_links = &self.slots[new.0].links;
        let old_links = self.slots[old.0].links.iter().filter(|link| !new_links.contains(link));
        old_links.flatten().any(|link| links.seen_at(*link) <= since)
    }

    /// Which places of ports, and which of links, belong to a path in use.
    pub(crate) fn places_in_use(&self) -> (Vec<bool>, Vec<bool>) {
        let in_use = || self.slots.iter().filter(|slot| slot.users > 0);
        let ports = in_use().flat_map(|slot| slot.ports.iter().flatten()).map(|port| port.place());
        let links = in_use().flat_map(|slot| slot.links.iter().flatten()).map(|link| link.0);
        (marked(ports), marked(links))
    }

    /// Number of places; every index in use is below it.
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Number of times there was no room for a path.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }
}

/// A table in which these places are set.
fn marked(places: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut marked = Vec::new();
    for place in places {
        if place >= marked.len() {
            marked.resize(place + 1, false);
        }
        marked[place] = true;
    }
    marked
}

impl Index<PathIndex> for PathTable {
    type Output = PathSlot;

    fn index(&self, index: PathIndex) -> &PathSlot {
        &self.slots[index.0]
    }
}
