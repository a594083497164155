//! Whether a file that is open is still the one at its path.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether the file with this metadata is at `path`, and was not moved, removed or replaced there.
pub(super) fn is_at(held: &Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino()))
}
