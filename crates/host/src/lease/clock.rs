//! The offset of another host's clock, measured with probes and their answers.

use super::message::Stamp;

/// The clock of a destination, relative to the monotonic clock of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerClock {
    /// Its kind; 0: unknown.
    pub(crate) kind: u8,
    /// What is added to this host's monotonic clock to get the other's, nanoseconds.
    pub(crate) offset_ns: i128,
    /// The error of that, either way, nanoseconds.
    pub(crate) uncertainty_ns: u64,
    /// When it was measured, of the monotonic clock, nanoseconds.
    at: u64,
}

/// How long an offset is kept against less certain ones: clocks drift, and are set.
const KEEP_NS: u64 = 60_000_000_000;

impl PeerClock {
    /// The more certain of the known offset and that of an answer, which came at `now` to a probe of `sent`.
    /// The probe arrived between the two, so half their distance is the uncertainty of the middle.
    pub(super) fn better(known: Option<Self>, stamp: Stamp, sent: u64, now: u64) -> Option<Self> {
        if stamp == Stamp::default() {
            return known;
        }
        let uncertainty_ns = now.saturating_sub(sent).div_ceil(2);
        let middle = i128::from(sent) + i128::from(uncertainty_ns);
        let new =
            Self { kind: stamp.clock, offset_ns: i128::from(stamp.time) - middle, uncertainty_ns, at: now };
        let is_kept = |known: &Self| {
            known.kind == new.kind
                && known.uncertainty_ns < new.uncertainty_ns
                && now.saturating_sub(known.at) < KEEP_NS
        };
        Some(known.filter(is_kept).unwrap_or(new))
    }
}

#[cfg(test)]
mod tests {
    use super::{KEEP_NS, PeerClock};
    use crate::lease::Stamp;

    #[test]
    fn the_offset_of_a_clock_is_within_half_of_the_time_that_an_answer_takes() {
        // 5,000 ahead, 300 on the way there and 700 back.
        let clock = PeerClock::better(None, Stamp { clock: 1, time: 6_300 }, 1_000, 2_000).unwrap();
        assert_eq!((clock.offset_ns, clock.uncertainty_ns), (4_800, 500));
        assert!((clock.offset_ns - 5_000).unsigned_abs() <= 500);

        let slower = PeerClock::better(Some(clock), Stamp { clock: 1, time: 9_000 }, 3_000, 9_000);
        assert_eq!(slower, Some(clock), "the more certain one is kept");
        let other = PeerClock::better(Some(clock), Stamp { clock: 3, time: 9_000 }, 3_000, 9_000).unwrap();
        assert_eq!(other.kind, 3, "another kind of clock is another clock");
        let later = 2_001 + KEEP_NS;
        let late = PeerClock::better(Some(clock), Stamp { clock: 1, time: 9 }, later - 2_000, later).unwrap();
        assert_eq!(late.uncertainty_ns, 1_000, "what is old is given up");
    }
}
