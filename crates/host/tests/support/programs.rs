//! The programs in the kernel, where this user may load them.
#![allow(clippy::panic, reason = "a test that cannot go on fails")]

use std::error::Error;

use inband_host::{HostError, HostInt, Programs};

/// Loads the programs; `None`, with a message, where that is not permitted.
pub(crate) fn load(host: &HostInt) -> Option<Programs> {
    match Programs::load(host) {
        Ok(programs) => Some(programs),
        Err(error) if is_forbidden(&error) => {
            eprintln!("without the kernel, which does not let this user load BPF programs: {error}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Whether the error is EPERM or ENOSYS, rather than an invalid program.
fn is_forbidden(error: &HostError) -> bool {
    let mut cause = Some(error as &dyn Error);
    while let Some(error) = cause {
        let code = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
        if matches!(code, Some(1 | 38)) {
            return true;
        }
        cause = error.source();
    }
    false
}
