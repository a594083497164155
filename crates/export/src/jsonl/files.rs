//! Files of bounded size and number for lines.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::same_file::is_at;

/// The current file and the rotated ones; or stdout.
#[derive(Debug)]
pub(super) enum Files {
    Stdout,
    Disk(Rotated),
}

/// A file that is rotated when it is full.
#[derive(Debug)]
pub(super) struct Rotated {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    /// `None` after a failure: it is reopened for the next lines.
    file: Option<File>,
    bytes: u64,
}

impl Files {
    pub(super) fn stdout() -> Files {
        Files::Stdout
    }

    /// Opens the file to append to it, or creates it.
    pub(super) fn open(path: &Path, max_bytes: u64, keep: u32) -> io::Result<Files> {
        let mut rotated = Rotated { path: path.to_owned(), max_bytes, keep, file: None, bytes: 0 };
        rotated.open()?;
        Ok(Files::Disk(rotated))
    }

    /// Appends lines, each of which ends at one of `ends`; returns how many were written, and the error that
    /// stopped it.
    pub(super) fn append(&mut self, lines: &[u8], ends: &[usize]) -> (usize, Option<io::Error>) {
        match self {
            Files::Stdout => {
                let mut out = io::stdout().lock();
                match out.write_all(lines).and_then(|()| out.flush()) {
                    Ok(()) => (ends.len(), None),
                    // How much of them was written is unknown.
                    Err(error) => (0, Some(error)),
                }
            }
            Files::Disk(rotated) => rotated.append(lines, ends),
        }
    }
}

impl Rotated {
    fn append(&mut self, lines: &[u8], ends: &[usize]) -> (usize, Option<io::Error>) {
        self.look();
        let (mut start, mut written) = (0, 0);
        while written < ends.len() {
            if self.bytes > 0
                && ends[written] - start > self.room()
                && let Err(error) = self.rotate()
            {
                return (written, Some(error));
            }
            // At least one line, which may be larger than a file, and as many more as fit.
            let room = self.room();
            let more = ends[written..].partition_point(|end| end - start <= room).max(1);
            let end = ends[written + more - 1];
            if let Err(error) = self.write(&lines[start..end]) {
                return (written, Some(error));
            }
            (start, written) = (end, written + more);
        }
        (written, None)
    }

    /// Checks whether another program has moved, removed or cut the file, and opens a new one if needed.
    fn look(&mut self) {
        let Some(Ok(held)) = self.file.as_ref().map(File::metadata) else { return };
        if !is_at(&held, &self.path) {
            (self.file, self.bytes) = (None, 0);
            // An error occurs again when the lines are written.
            let _ = self.open();
        } else if held.is_file() {
            self.bytes = held.len();
        }
    }

    /// Bytes that still fit into the file.
    fn room(&self) -> usize {
        usize::try_from(self.max_bytes.saturating_sub(self.bytes)).unwrap_or(usize::MAX)
    }

    /// Appends all bytes or none.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            self.open()?;
            return self.write(bytes);
        };
        if let Err(error) = file.write_all(bytes) {
            // A partial line would corrupt the next one.
            let is_cut = file.set_len(self.bytes).is_ok();
            if !is_cut {
                self.file = None;
            }
            return Err(error);
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(&self.path)?;
        self.bytes = file.metadata()?.len();
        if self.bytes > 0 && !ends_with_newline(&mut file)? {
            // Keeps a line that a crash cut off apart from the next one.
            file.write_all(b"\n")?;
            self.bytes += 1;
        }
        self.file = Some(file);
        Ok(())
    }

    /// Rotates: each file becomes one older, and the oldest is removed.
    fn rotate(&mut self) -> io::Result<()> {
        self.file = None;
        let aside = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        // Another program may have removed any of them.
        let absent_or = |done: io::Result<()>| match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        };
        if self.keep == 0 {
            absent_or(fs::remove_file(&self.path))?;
        }
        // The first number without a file takes the file before it; older ones stay.
        let is_there = |number: &u32| aside(*number).symlink_metadata().is_ok();
        let oldest = (1..self.keep).find(|number| !is_there(number)).unwrap_or(self.keep);
        for number in (1..=oldest).rev() {
            let from = if number == 1 { self.path.clone() } else { aside(number - 1) };
            absent_or(fs::rename(&from, aside(number)))?;
        }
        // Even if no new file can be opened, the next attempt must not rotate again.
        self.bytes = 0;
        self.open()
    }
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
