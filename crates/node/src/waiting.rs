//! A queue of generated packets, pending until the caller polls.

use std::collections::VecDeque;

/// Packets in order of creation, up to [`MAX_WAITING`].
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T>(VecDeque<T>);

/// Maximum number of pending packets; the excess is counted as shed.
const MAX_WAITING: usize = 256;

impl<T> Waiting<T> {
    /// Whether there is room for another packet.
    pub(crate) fn has_room(&self) -> bool {
        self.0.len() < MAX_WAITING
    }

    /// Queues a packet; `false` if there is no room.
    pub(crate) fn push(&mut self, packet: T) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.0.push_back(packet);
        }
        has_room
    }

    /// Returns the oldest packet.
    pub(crate) fn poll(&mut self) -> Option<T> {
        self.0.pop_front()
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WAITING, Waiting};

    #[test]
    fn the_oldest_comes_first_and_one_too_many_is_refused() {
        let mut waiting = Waiting::default();
        assert!((0..MAX_WAITING).all(|number| waiting.push(number)));
        assert!(!waiting.has_room() && !waiting.push(MAX_WAITING));
        assert_eq!(waiting.poll(), Some(0));
        assert!(waiting.push(MAX_WAITING));
        assert!((1..=MAX_WAITING).all(|number| waiting.poll() == Some(number)));
        assert_eq!(waiting.poll(), None);
    }
}
