//! Through what does the store write its log?

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Makes log files; tests put disks in its place that are slow, or full.
pub trait Disk: Send + 'static {
    /// Makes a new log file.
    ///
    /// # Errors
    /// The file cannot be made, or is already there.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
}

/// A log file that is being written.
pub trait LogFile: Send {
    /// Writes all bytes at the end.
    ///
    /// # Errors
    /// Not all of them could be written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Comes back when all that was written is durable.
    ///
    /// # Errors
    /// It may not be.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to its first `length` bytes.
    ///
    /// # Errors
    /// It is as long as it was.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// The disk of the machine.
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

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
