//! State of detectors, indexed by the place of a port or a link.

/// A table of states by place; each is created on first use.
///
/// The places are those of a bounded table, so this one has the same bound.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Option<T>>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// The state of a place, created if missing.
    #[inline]
    pub(super) fn at(&mut self, place: usize, make: impl FnOnce() -> T) -> &mut T {
        if place >= self.slots.len() {
            self.grow(place);
        }
        self.slots[place].get_or_insert_with(make)
    }

    /// The state of a place; `None` if missing.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.slots.get(place)?.as_ref()
    }

    /// The state of a place, mutable; `None` if missing.
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.slots.get_mut(place)?.as_mut()
    }

    /// All places with their states.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots.iter().enumerate().filter_map(|(place, slot)| Some((place, slot.as_ref()?)))
    }

    /// Forgets the state of a place, which another port or link may take.
    pub(super) fn clear(&mut self, place: usize) {
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = None;
        }
    }

    #[cold]
    fn grow(&mut self, place: usize) {
        self.slots.resize_with(place + 1, || None);
    }
}
