//! The folder of a history during its measurement.

use std::path::PathBuf;

/// A folder for temporary files that is removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// The name of a folder of this process for `what`; it is not created.
    pub(crate) fn new(what: &str) -> Self {
        Self(std::env::temp_dir().join(format!("inband-{what}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
