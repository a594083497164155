//! Signals that end the program.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Error};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Returns a flag that the first SIGINT or SIGTERM sets; the second exits with 1, in case stopping takes too
/// long.
pub(crate) fn until_stopped() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("cannot catch signals")?;
    }
    Ok(stop)
}

/// Like [`until_stopped`], but the second signal calls `clear` before it exits with 1.
pub(crate) fn until_stopped_or_cleared(
    clear: impl FnOnce() + Send + 'static,
) -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let (mut heard, told) = UnixStream::pair().context("cannot catch signals")?;
    for signal in [SIGINT, SIGTERM] {
        let told = told.try_clone().context("cannot catch signals")?;
        pipe::register(signal, told)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("cannot catch signals")?;
    }
    let wait = move || {
        // One byte per signal.
        if heard.read_exact(&mut [0; 2]).is_ok() {
            clear();
            std::process::exit(1);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).context("cannot catch signals")?;
    Ok(stop)
}

/// Makes SIGHUP, sent when the terminal goes away, set `stop` too, unless it was ignored at the start of the
/// program, as under `nohup`.
pub(crate) fn stop_when_left_alone(stop: &Arc<AtomicBool>) -> Result<(), Error> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !is_ignored(&status, SIGHUP) {
        signal_hook::flag::register(SIGHUP, Arc::clone(stop)).context("cannot catch signals")?;
    }
    Ok(())
}

/// Whether a process ignores a signal, according to its `/proc/PID/status`.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::is_ignored;

    #[test]
    fn the_mask_says_which_signals_are_ignored() {
        let status = "Name:\tinband\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";

        let ignored: Vec<i32> = (1..=64).filter(|signal| is_ignored(status, *signal)).collect();

        assert_eq!(ignored, [1, 13]);
        assert!(!is_ignored("", 1));
    }
}
