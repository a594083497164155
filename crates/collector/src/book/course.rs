//! How an event goes on, when its signs are announced, and how it ends.

use inband_model::Nanos;

/// How an event goes on, and how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    /// It ends by itself when nothing more is announced of it for so long; `None`: only when its end is announced.
    pub(super) quiet: Option<Nanos>,
    pub(super) counts: Counts,
}

/// What the count of an announcement is, where the event goes on already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// What has come since the one before.
    Since,
    /// The whole count.
    All,
}

/// The signs of one event that a detector sees, of which only some are announced.
///
/// How often that is follows from the course of the event, so that an event whose cause goes on never ends for want of an
/// announcement, whatever the settings are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Signs {
    announced_at: Option<Nanos>,
    unannounced: u64,
}

impl Course {
    /// An event that ends when its end is announced.
    pub(crate) const UNTIL_ENDED: Self = Self { quiet: None, counts: Counts::Since };

    /// An event whose announcements add up, and that ends when there are none for so long, at least [`MIN_QUIET`].
    pub(crate) fn until_quiet(quiet: Nanos) -> Self {
        Self { quiet: Some(quiet.max(MIN_QUIET)), counts: Counts::Since }
    }

    /// An event whose latest announcement says all, and that ends when there is none for so long, at least
    /// [`MIN_QUIET`].
    pub(crate) fn renewed_within(quiet: Nanos) -> Self {
        Self { quiet: Some(quiet.max(MIN_QUIET)), counts: Counts::All }
    }

    /// How long after one announcement the next one is due.
    fn pause(self) -> Nanos {
        self.quiet.map_or(MAX_PAUSE, |quiet| Nanos(quiet.0 / ANNOUNCEMENTS_IN_QUIET).min(MAX_PAUSE))
    }
}

impl Signs {
    /// Whether signs of an event with this course are to be announced.
    #[inline]
    pub(crate) fn are_due(&self, now: Nanos, course: Course) -> bool {
        self.announced_at.is_none_or(|announced_at| now.since(announced_at) >= course.pause())
    }

    /// Counts a sign, and gives how many there were since the last announcement if they are to be announced now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos, course: Course) -> Option<u64> {
        self.unannounced = self.unannounced.saturating_add(1);
        self.are_due(now, course).then(|| self.announce(now))
    }

    /// Notes an announcement, and gives how many signs there were since the last one.
    pub(crate) fn announce(&mut self, now: Nanos) -> u64 {
        self.announced_at = Some(now);
        std::mem::take(&mut self.unannounced)
    }
}

/// An event ends no sooner than this after its last sign, whatever is set: signs of one cause come as far apart as this.
pub(crate) const MIN_QUIET: Nanos = Nanos::from_secs(1);
/// Longest time between two announcements of an event that goes on.
const MAX_PAUSE: Nanos = Nanos::from_secs(1);
/// So often at least are signs announced in the time after which their event ends.
const ANNOUNCEMENTS_IN_QUIET: u64 = 4;
