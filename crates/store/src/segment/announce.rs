//! Announcement of reads to the operating system, which then reads several places of a disk at once.

use std::fs::File;
use std::num::NonZeroU64;

use rustix::fs::{Advice, fadvise};

/// Announces that bytes of a file will be read. Returns at once.
pub(super) fn announce(file: &File, start: u64, length: u64) {
    // Without it, the read itself waits.
    let _ = fadvise(file, start, NonZeroU64::new(length), Advice::WillNeed);
}

/// Announces that a segment of `length` bytes will be opened: its magic and its footer are read.
pub(super) fn announce_ends(file: &File, length: u64) {
    announce(file, 0, MAGIC_BYTES);
    let start = length.saturating_sub(USUAL_FOOTER_BYTES);
    announce(file, start, length - start);
}

const MAGIC_BYTES: u64 = 4;
/// Most footers are smaller.
const USUAL_FOOTER_BYTES: u64 = 64 << 10;
