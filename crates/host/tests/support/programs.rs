//! Are the programs in the kernel, where it lets this user have them?
#![allow(clippy::panic, reason = "a test that cannot go on fails")]

use std::error::Error;

use inband_host::{HostError, HostInt, Programs};

/// Loads the programs; `None`, and a word why, where the kernel does not let us.
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

/// Whether the kernel says EPERM or ENOSYS, rather than that a program is wrong.
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
