//! Loading of BPF programs whose verification a signal interrupts.

use std::error::Error;
use std::io;

/// Loads a program; tries again, at most five times in all, while the kernel answers EAGAIN.
///
/// The kernel ends the verification of a program when a signal is pending, for example when the process was
/// stopped and continues.
///
/// # Errors
/// The error of `load`, if it is another one, or that of the last attempt.
pub fn uninterrupted<T, E: Error + 'static>(mut load: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 1..ATTEMPTS {
        match load() {
            Err(error) if is_interrupted(&error) => {}
            loaded => return loaded,
        }
    }
    load()
}

/// Whether EAGAIN is the cause of an error.
fn is_interrupted(error: &(dyn Error + 'static)) -> bool {
    let of_kernel = error.downcast_ref::<io::Error>();
    of_kernel.is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        || error.source().is_some_and(is_interrupted)
}

const ATTEMPTS: usize = 5;

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fmt;
    use std::io::{self, ErrorKind};

    use super::{ATTEMPTS, uninterrupted};

    /// An error with a cause.
    #[derive(Debug)]
    struct Refused(io::Error);

    impl fmt::Display for Refused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("refused")
        }
    }

    impl Error for Refused {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    /// The number of attempts, and the result, of a load that fails this often.
    fn load(failures: usize, kind: ErrorKind) -> (usize, Result<(), ErrorKind>) {
        let mut attempts = 0;
        let loaded = uninterrupted(|| {
            attempts += 1;
            if attempts <= failures { Err(io::Error::from(kind)) } else { Ok(()) }
        });
        (attempts, loaded.map_err(|error| error.kind()))
    }

    #[test]
    fn an_interrupted_verification_is_repeated_a_few_times() {
        assert_eq!(load(0, ErrorKind::WouldBlock), (1, Ok(())));
        assert_eq!(load(ATTEMPTS - 1, ErrorKind::WouldBlock), (ATTEMPTS, Ok(())));
        assert_eq!(load(ATTEMPTS, ErrorKind::WouldBlock), (ATTEMPTS, Err(ErrorKind::WouldBlock)));
        assert_eq!(load(1, ErrorKind::PermissionDenied), (1, Err(ErrorKind::PermissionDenied)));
    }

    #[test]
    fn the_kernels_error_may_be_the_cause_of_another() {
        let mut attempts = 0;
        let loaded = uninterrupted(|| {
            attempts += 1;
            if attempts == 1 { Err(Refused(ErrorKind::WouldBlock.into())) } else { Ok(attempts) }
        });
        assert_eq!(loaded.unwrap(), 2);
    }
}
