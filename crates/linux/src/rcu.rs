//! Waiting for running programs in the kernel.

use std::io;

/// `MEMBARRIER_CMD_GLOBAL`.
const GLOBAL: libc::c_int = 1;

/// Returns when every program that was running at the call has ended; later runs see earlier writes to maps.
///
/// # Errors
/// An error of the kernel, for example that it has no such call.
pub fn wait() -> io::Result<()> {
    // SAFETY: the call has no pointers among its arguments. It waits for a grace period of RCU, which programs hold off.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
