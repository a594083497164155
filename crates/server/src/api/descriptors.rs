//! How many files the process may open, and how many connections there are for callers.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Has the process open as many files as it may be allowed to, and gives how many connections of `wanted` callers may
/// have so that some are left for everything else.
pub(super) fn connections(wanted: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // What may not be raised stays.
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

/// Files for sockets, history, outputs and the program itself.
const RESERVED: usize = 96;
/// Connections that callers have however few files there may be.
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
