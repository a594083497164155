//! The kernel's estimate of its clock's error.

use std::io;
use std::mem::MaybeUninit;

/// How far the kernel's clock may be from the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Synchronisation {
    /// Whether the clock is synchronised.
    pub(crate) is_synchronised: bool,
    /// Largest possible error, microseconds.
    pub(crate) most_error_us: u64,
}

/// Queries the kernel (`adjtimex`); changes nothing.
///
/// # Errors
/// The kernel's error.
pub(crate) fn synchronisation() -> io::Result<Synchronisation> {
    let mut clock = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all zeros are a valid `timex`, whose mode 0 only reads; the kernel writes within it.
    let (result, clock) = unsafe { (libc::adjtimex(clock.as_mut_ptr()), clock.assume_init()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Synchronisation {
        is_synchronised: result != libc::TIME_ERROR && clock.status & libc::STA_UNSYNC == 0,
        most_error_us: u64::try_from(clock.maxerror).unwrap_or_default(),
    })
}
