//! Waiting for programs in the kernel that run at the moment.

use std::io;

/// `MEMBARRIER_CMD_GLOBAL`.
const GLOBAL: libc::c_int = 1;

/// Returns when every program that ran at the call has ended; later runs see what was written to maps before.
///
/// # Errors
/// What the kernel says, such as that it has no such call.
pub fn wait() -> io::Result<()> {
    // SAFETY: the call has no pointers among its arguments. It waits for a grace period of RCU, which programs hold off.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
