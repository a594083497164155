//! A bound on the entries of several tables together.

/// Room for a number of entries, which several tables share.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
}

impl Room {
    pub(super) const fn new(entries: usize) -> Self {
        Self { left: entries }
    }

    /// Takes room for a number of entries; returns false if less is left.
    pub(super) const fn take(&mut self, entries: usize) -> bool {
        let has_room = entries <= self.left;
        if has_room {
            self.left -= entries;
        }
        has_room
    }

    /// Frees the room of a number of entries.
    pub(super) const fn free(&mut self, entries: usize) {
        self.left += entries;
    }
}
