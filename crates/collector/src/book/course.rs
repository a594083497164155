//! The course of an event: how it continues, when its signs are announced, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use inband_model::Nanos;

/// How an event continues and how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    /// The event ends when nothing is announced for this long; `None`: only when its end is announced.
    pub(super) quiet: Option<Nanos>,
    pub(super) counts: Counts,
}

/// The meaning of the count in an announcement of an active event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// The count since the previous announcement.
    Since,
    /// The total count.
    All,
}

/// The signs of one event that a detector sees, of which only some are announced.
///
/// The announcement rate follows from the course of the event, so that an event whose cause persists never
/// ends for lack of an announcement, whatever the settings. The book adds the others before the event ends.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    announced_at: Option<Nanos>,
    /// Created with the first sign.
    unannounced: Option<Arc<Unannounced>>,
}

/// Signs that have not been announced: those that a detector counts and the book adds to their event.
///
/// Both are parts of one collector, which one thread runs at a time: the order of accesses is that of the
/// program.
#[derive(Debug, Default)]
pub(super) struct Unannounced {
    count: AtomicU64,
    /// Time of the latest, nanoseconds of the collector's clock.
    last: AtomicU64,
}

impl Course {
    /// An event that ends when its end is announced.
    pub(crate) const UNTIL_ENDED: Self = Self { quiet: None, counts: Counts::Since };

    /// An event whose latest announcement is complete, and that ends when its end is announced.
    pub(crate) const COMPLETE_UNTIL_ENDED: Self = Self { quiet: None, counts: Counts::All };

    /// An event whose announcements add up, and that ends after `quiet` without one, at least [`MIN_QUIET`].
    pub(crate) fn until_quiet(quiet: Nanos) -> Self {
        Self { quiet: Some(quiet.max(MIN_QUIET)), counts: Counts::Since }
    }

    /// An event whose latest announcement is complete, and that ends after `quiet` without one, at least
    /// [`MIN_QUIET`].
    pub(crate) fn renewed_within(quiet: Nanos) -> Self {
        Self { quiet: Some(quiet.max(MIN_QUIET)), counts: Counts::All }
    }

    /// Time from one announcement to the next.
    fn pause(self) -> Nanos {
        self.quiet.map_or(MAX_PAUSE, |quiet| Nanos(quiet.0 / ANNOUNCEMENTS_IN_QUIET).min(MAX_PAUSE))
    }
}

impl Signs {
    /// Whether signs of an event with this course are due for an announcement.
    #[inline]
    pub(crate) fn are_due(&self, now: Nanos, course: Course) -> bool {
        self.announced_at.is_none_or(|announced_at| now.since(announced_at) >= course.pause())
    }

    /// Counts a sign; returns how many there were since the last announcement if they are to be announced
    /// now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos, course: Course) -> Option<u64> {
        self.unannounced.get_or_insert_default().add(now);
        self.are_due(now, course).then(|| self.announce(now))
    }

    /// Records an announcement; returns how many signs there were since the last one.
    pub(crate) fn announce(&mut self, now: Nanos) -> u64 {
        self.announced_at = Some(now);
        self.unannounced.as_ref().and_then(|signs| signs.take()).map_or(0, |(count, _)| count)
    }

    /// The signs that have not been announced.
    pub(super) fn unannounced(&mut self) -> Arc<Unannounced> {
        Arc::clone(self.unannounced.get_or_insert_default())
    }
}

impl Unannounced {
    #[inline]
    fn add(&self, now: Nanos) {
        // There is one writer at a time, so that no addition is lost.
        self.count.store(self.count.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
        self.last.store(now.0, Ordering::Relaxed);
    }

    /// Takes their number, and when the latest was; `None` when there are none.
    pub(super) fn take(&self) -> Option<(u64, Nanos)> {
        let count = self.count.swap(0, Ordering::Relaxed);
        (count > 0).then(|| (count, Nanos(self.last.load(Ordering::Relaxed))))
    }
}

/// Minimum quiet time of an event, whatever the settings: signs of one cause may be this far apart.
pub(crate) const MIN_QUIET: Nanos = Nanos::from_secs(1);
/// Longest time between two announcements of an active event.
const MAX_PAUSE: Nanos = Nanos::from_secs(1);
/// Minimum number of announcements in the quiet time of an event.
const ANNOUNCEMENTS_IN_QUIET: u64 = 4;
