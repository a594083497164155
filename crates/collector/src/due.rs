//! Catching up with due work, each item at its time.

use inband_model::Nanos;

/// Something with deadlines.
pub(crate) trait Timed {
    /// When something is due; `None` when nothing is pending.
    fn next_timeout(&self) -> Option<Nanos>;

    /// Does everything that is due at a time, as at that time.
    fn do_what_is_due(&mut self, now: Nanos);
}

/// Does everything that has become due until `now`, each item at its time.
pub(crate) fn catch_up(timed: &mut impl Timed, now: Nanos) {
    do_what_was_due(timed, now);
    timed.do_what_is_due(now);
}

/// Does what was due before `now`, if the last datagram, at `told_at`, is old enough for deadlines to have
/// passed.
///
/// A caller without other work may not have called for a while; a capture leaves no time between its packets.
#[inline]
pub(crate) fn catch_up_after_silence(timed: &mut impl Timed, told_at: Nanos, now: Nanos) {
    if now.since(told_at) >= MAX_UNSEEN {
        do_what_was_due(timed, now);
    }
}

fn do_what_was_due(timed: &mut impl Timed, now: Nanos) {
    for _ in 0..MAX_STEPS {
        let Some(due) = timed.next_timeout().filter(|due| *due < now) else { return };
        timed.do_what_is_due(due);
    }
    timed.do_what_is_due(now);
}

/// How long deadlines may have been overdue when the next datagram arrives.
const MAX_UNSEEN: Nanos = Nanos::from_millis(20);
/// Maximum number of deadlines met one by one after a silence; what is due after that is done at once.
const MAX_STEPS: usize = 4_096;
