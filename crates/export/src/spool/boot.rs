//! Whether the machine was restarted since a spool was last open.
//!
//! A process that ends leaves everything it wrote to the operating system. A machine that fails loses what
//! was not on disk yet: messages that a broker may know by their numbers.

use std::fs;
use std::path::Path;

/// Whether the machine has been restarted, or that is unknown.
pub(super) fn has_restarted(directory: &Path) -> bool {
    let noted = fs::read_to_string(directory.join(NAME)).ok();
    noted.is_none() || noted != current()
}

/// Notes the current start of the machine.
pub(super) fn note(directory: &Path) {
    // If this fails, the machine counts as restarted next time.
    let _ = fs::write(directory.join(NAME), current().unwrap_or_default());
}

/// The kernel's id of its start.
fn current() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// The file with the id.
pub(super) const NAME: &str = "BOOT";
