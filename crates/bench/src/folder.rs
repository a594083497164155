//! Where is a history kept while it is measured?

use std::path::PathBuf;

/// A folder for temporary files that is removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Names a folder of this process for `what`; it is not made.
    pub(crate) fn new(what: &str) -> Self {
        Self(std::env::temp_dir().join(format!("inband-{what}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
