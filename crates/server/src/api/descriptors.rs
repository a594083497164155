//! Limits on open files, and on callers' connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of open files as far as allowed, and returns how many of the `wanted` connections callers
/// may have so that files are left for everything else.
pub(super) fn connections(wanted: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Failure leaves the limit unchanged.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum.or(current), maximum });
    match getrlimit(Resource::Nofile).current {
        Some(files) => within(wanted, files),
        None => wanted,
    }
}

fn within(wanted: usize, files: u64) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    wanted.min(files.saturating_sub(RESERVED).max(MIN_CONNECTIONS))
}

/// Files reserved for sockets, history, outputs and the program itself.
const RESERVED: usize = 96;
/// Minimum number of connections for callers.
const MIN_CONNECTIONS: usize = 4;

#[cfg(test)]
mod tests {
    use super::{MIN_CONNECTIONS, RESERVED, connections, within};

    #[test]
    fn callers_leave_files_for_everything_else() {
        assert_eq!(within(256, 1_024), 256);
        assert_eq!(within(256, 200), 200 - RESERVED);
        assert_eq!(within(256, 10), MIN_CONNECTIONS);
        assert_eq!(within(2, 10), 2);
        assert!(connections(8) <= 8);
    }
}
