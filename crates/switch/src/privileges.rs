//! The capabilities of a switch: only those that it needs.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities, set_no_new_privs};

/// For interfaces and routes, frames, programs in the kernel that read its structures, and locked memory.
const NEEDED: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::IPC_LOCK);

/// Drops all capabilities of this thread, and of those it starts later, but those that a switch needs:
/// `CAP_NET_ADMIN`, `CAP_NET_RAW`, `CAP_BPF`, `CAP_PERFMON` and `CAP_IPC_LOCK`; programs that it executes get
/// none.
///
/// # Errors
/// An error of the kernel.
pub fn keep_needed() -> io::Result<()> {
    set_no_new_privs(true)?;
    let mut sets = capabilities(None)?;
    sets.permitted &= NEEDED;
    sets.effective &= NEEDED;
    sets.inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn nothing_is_left_that_a_switch_does_not_need() {
        // Capabilities belong to a thread.
        std::thread::spawn(|| {
            let before = capabilities(None).unwrap();

            keep_needed().unwrap();

            let after = capabilities(None).unwrap();
            assert_eq!(after.permitted, before.permitted & NEEDED);
            assert_eq!(after.effective, before.effective & NEEDED);
            assert_eq!(after.inheritable, CapabilitySet::empty());
            let child = std::thread::spawn(|| capabilities(None).unwrap()).join().unwrap();
            assert_eq!(child.permitted, after.permitted);
        })
        .join()
        .unwrap();
    }
}
