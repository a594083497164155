//! Which threads the processor goes to first.

/// Lets the calling thread run before all that share the processor by turns (`SCHED_RR`), or, where that is not allowed,
/// more often than they do. What it starts does not have it.
///
/// `None`: neither is allowed.
pub(crate) fn run_first() -> Option<&'static str> {
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `sched_param` is a plain C structure of numbers, for which zeros are valid.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = LOWEST_OF_REAL_TIME;
    // SAFETY: the kernel reads the structure, which lives through the call; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } == 0 {
        return Some("realtime");
    }
    // SAFETY: only numbers are handed over; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } == 0 {
        return Some("nice");
    }
    None
}

/// Before everything that is not real-time, and behind everything else that is.
const LOWEST_OF_REAL_TIME: libc::c_int = 1;
/// Beside threads of 0 it has nine tenths of a processor.
const NICE: libc::c_int = -10;
