//! A capture as input: a file, or stdin for `-`.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Error};
use inband_capture::{Format, Interface, Reader, Record};

/// A capture that is being read; errors name it.
pub(crate) struct Input {
    /// The file's path, or `stdin`.
    pub(crate) name: String,
    reader: Reader<BufReader<Box<dyn Read>>>,
}

impl Input {
    /// Opens the capture and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let (name, source): (_, Box<dyn Read>) = if is_dash(path) {
            ("stdin".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
            (name, Box::new(file))
        };
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        let reader = Reader::new(source).with_context(|| name.clone())?;
        Ok(Self { name, reader })
    }

    /// Reads the next record; returns false at the end.
    pub(crate) fn read_record(&mut self, record: &mut Record) -> Result<bool, Error> {
        self.reader.read_record(record).with_context(|| self.name.clone())
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

/// Whether a path means stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

const BUFFER_BYTES: usize = 256 * 1024;
