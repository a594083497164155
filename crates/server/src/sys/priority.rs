//! Thread priority of reception.

/// Raises the calling thread above all time-shared threads (`SCHED_RR`), or, where that is not allowed, gives
/// it a larger share of the processor (`nice`). Threads and processes it starts do not inherit `SCHED_RR`.
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
    // SAFETY: only numbers are passed; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } == 0 {
        return Some("nice");
    }
    None
}

/// Above everything that is not real-time, below everything else that is.
const LOWEST_OF_REAL_TIME: libc::c_int = 1;
/// Against threads of nice 0 it gets nine tenths of a processor.
const NICE: libc::c_int = -10;
