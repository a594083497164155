//! Followers of changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The followers. Without any, nothing is compared.
#[derive(Debug, Default)]
pub(super) struct Followers {
    count: Mutex<Count>,
}

#[derive(Debug, Default)]
struct Count {
    followers: usize,
    /// Distinguishes the current comparing task from one that has not yet noticed its end.
    turn: u64,
}

/// A follower, until it is dropped.
#[derive(Debug)]
pub(super) struct Follower {
    all: Arc<Followers>,
}

impl Followers {
    /// Adds a follower; returns a turn if a comparing task must be started.
    pub(super) fn begin(self: &Arc<Self>) -> (Follower, Option<u64>) {
        let mut count = self.count();
        count.followers += 1;
        let is_first = count.followers == 1;
        count.turn += u64::from(is_first);
        (Follower { all: Arc::clone(self) }, is_first.then_some(count.turn))
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        // The count is consistent at any time.
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the task of this turn still has followers.
    pub(super) fn is_followed(&self, turn: u64) -> bool {
        let count = self.count();
        count.followers > 0 && count.turn == turn
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut count = self.all.count();
        count.followers = count.followers.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Followers};

    #[test]
    fn comparing_begins_with_the_first_and_is_over_with_the_last() {
        let all = Arc::new(Followers::default());
        let (one, first) = all.begin();
        let (two, second) = all.begin();
        assert_eq!((first, second), (Some(1), None));
        drop(one);
        assert!(all.is_followed(1));
        drop(two);
        assert!(!all.is_followed(1));

        let (_again, third) = all.begin();
        // A task that has not yet noticed its end does not continue beside the new one.
        assert_eq!((third, all.is_followed(1), all.is_followed(2)), (Some(2), false, true));
    }
}
