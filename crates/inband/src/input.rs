//! A capture as input: a file, or stdin for `-`.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, anyhow};
use inband_capture::{Format, Interface, Reader, Record};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A capture that is being read; errors name it.
pub(crate) struct Input {
    /// The file's path, or `stdin`.
    pub(crate) name: String,
    /// Whether to end before the capture does.
    stop: Arc<AtomicBool>,
    is_file: bool,
    reader: Reader<BufReader<Box<dyn Read>>>,
}

impl Input {
    /// Opens the capture and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let (name, file) = open(path)?;
        Self::read_header(name, Box::new(file), true, Arc::default())
    }

    /// Like [`Input::open`]; once `stop` is set, a pipe ends where nothing can be read at once.
    pub(crate) fn open_until(path: &Path, stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        let (name, file) = open(path)?;
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Self::read_header(name, Box::new(file), true, Arc::clone(stop));
        }
        let pipe = Pipe { file, stop: Arc::clone(stop) };
        Self::read_header(name, Box::new(pipe), false, Arc::clone(stop))
    }

    fn read_header(
        name: String,
        source: Box<dyn Read>,
        is_file: bool,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        let reader = Reader::new(source).with_context(|| match stop.load(Ordering::Relaxed) {
            true => format!("stopped before {name} began"),
            false => name.clone(),
        })?;
        Ok(Self { name, stop, is_file, reader })
    }

    /// Checks whether to go on to `next`, the record just read.
    ///
    /// # Errors
    /// The capture is a file, and is not to be read to its end. A pipe ends where it is to stop.
    pub(crate) fn check_stopped(&self, next: &Record) -> Result<(), Error> {
        if self.is_file && self.stop.load(Ordering::Relaxed) {
            let last = next.number.saturating_sub(1);
            return Err(anyhow!("{}: stopped after packet {last}, before its end", self.name));
        }
        Ok(())
    }

    /// Reads the next record; returns false at the end.
    pub(crate) fn read_record(&mut self, record: &mut Record) -> Result<bool, Error> {
        match self.reader.read_record(record) {
            // A record may have been cut short by that.
            Err(_) if self.stop.load(Ordering::Relaxed) => Ok(false),
            read => read.with_context(|| self.name.clone()),
        }
    }

    /// Whether the next record has to be waited for, or the capture is at its end.
    pub(crate) fn is_drained(&self) -> bool {
        self.reader.source().buffer().is_empty()
    }

    /// The file format of the capture.
    pub(crate) fn format(&self) -> Format {
        self.reader.format()
    }

    /// The interfaces described so far.
    pub(crate) fn interfaces(&self) -> &[Interface] {
        self.reader.interfaces()
    }
}

fn open(path: &Path) -> Result<(String, File), Error> {
    if is_dash(path) {
        let stdin = io::stdin().as_fd().try_clone_to_owned().context("cannot open stdin")?;
        return Ok(("stdin".to_owned(), File::from(stdin)));
    }
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    Ok((name, file))
}

/// A pipe, which may give nothing for as long as its writer likes.
struct Pipe {
    file: File,
    stop: Arc<AtomicBool>,
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waiting, Some(&PATIENCE)) {
                Ok(0) | Err(Errno::INTR) if self.stop.load(Ordering::Relaxed) => return Ok(0),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.file.read(out),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether a path means stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

const BUFFER_BYTES: usize = 256 * 1024;
/// How often a pipe that gives nothing is asked whether to stop.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
