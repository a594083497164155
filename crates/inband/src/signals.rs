//! How is a program asked to end?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Error};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Set by the first SIGINT or SIGTERM; the second ends the program with 1, for where the end takes too long.
pub(crate) fn until_stopped() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("cannot catch signals")?;
    }
    Ok(stop)
}
