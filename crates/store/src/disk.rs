//! The disk interface of the log.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Creates log files; tests substitute slow or full disks.
pub trait Disk: Send + 'static {
    /// Creates a log file.
    ///
    /// # Errors
    /// The file cannot be created or already exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
}

/// A log file open for writing.
pub trait LogFile: Send {
    /// Appends all bytes.
    ///
    /// # Errors
    /// Not all bytes were written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything written is durable.
    ///
    /// # Errors
    /// It may not be durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Truncates the file to `length` bytes.
    ///
    /// # Errors
    /// The file is unchanged.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// The machine's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Box::new(file))
    }
}

impl LogFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Makes the entries of a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
