//! Doing what has become due, each at its time.

use inband_model::Nanos;

/// Something with deadlines.
pub(crate) trait Timed {
    /// When something is due; `None` when nothing is pending.
    fn next_timeout(&self) -> Option<Nanos>;

    /// Does all that is due at a time, as at that time.
    fn do_what_is_due(&mut self, now: Nanos);
}

/// Does what has become due until `now`, each at its time.
pub(crate) fn catch_up(timed: &mut impl Timed, now: Nanos) {
    do_what_was_due(timed, now);
    timed.do_what_is_due(now);
}

/// Does what was due before `now` where nothing was heard since `told_at` for so long that deadlines may have passed.
///
/// Whoever has nothing else to do may not have called for a while; a capture leaves no time between its packets.
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

/// How long deadlines may have passed when the next datagram comes.
const MAX_UNSEEN: Nanos = Nanos::from_millis(20);
/// Most deadlines that are kept one by one after a silence; what is due then is done at once.
const MAX_STEPS: usize = 4_096;
