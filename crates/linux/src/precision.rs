//! The uncertainty of the clock, as the kernel estimates it.

/// The maximum error of the real-time clock, nanoseconds; `None`: it is not disciplined.
pub(crate) fn clock_uncertainty() -> Option<u64> {
    // SAFETY: all fields of `struct timex` are integers, for which zeros are values; without modes nothing is set.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live `struct timex`, which the call only fills.
    let result = unsafe { libc::adjtimex(&raw mut state) };
    let is_kept = result >= 0 && result != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0;
    // The kernel counts microseconds.
    is_kept.then(|| u64::try_from(state.maxerror).unwrap_or(u64::MAX).saturating_mul(1000))
}
