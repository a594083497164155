//! One file of a spool.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use inband_store::{FRAME_HEADER_BYTES, split_frame};

/// A file, up to its last whole message.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    /// Number of its first message.
    pub(super) first: u64,
    /// Messages in it.
    pub(super) count: u64,
    /// Bytes up to the end of the last whole message.
    pub(super) bytes: u64,
    /// Bytes up to the end of the last delivered message.
    delivered_bytes: u64,
    /// Number of the first message of the latest read, and where each of them ends.
    ends: (u64, Vec<u64>),
    reader: Option<BufReader<File>>,
    /// The next message of the reader, and its position in the file.
    place: (u64, u64),
    /// The first message of the latest read, which may be read again, and its position.
    mark: (u64, u64),
}

/// A message with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) payload: Vec<u8>,
}

/// A file that was found.
#[derive(Debug)]
pub(super) enum Found {
    /// Its whole messages up to the first place without one, and the bytes from there on.
    Messages(Segment, u64),
    /// Another version or program wrote it.
    Unknown,
}

impl Segment {
    /// Creates a file whose first message has this number.
    pub(super) fn create(directory: &Path, first: u64) -> io::Result<(Segment, File)> {
        let path = path(directory, first);
        let mut file = OpenOptions::new().append(true).create_new(true).open(&path)?;
        file.write_all(MAGIC).inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })?;
        Ok((Segment::of(path, first), file))
    }

    fn of(path: PathBuf, first: u64) -> Segment {
        let bytes = MAGIC.len() as u64;
        Segment {
            path,
            first,
            count: 0,
            bytes,
            delivered_bytes: bytes,
            ends: (first, Vec::new()),
            reader: None,
            place: (first, bytes),
            mark: (first, bytes),
        }
    }

    /// Counts the whole messages at the beginning of a file, and those below `delivered`.
    pub(super) fn scan(first: u64, path: PathBuf, delivered: u64) -> io::Result<Found> {
        let mut file = BufReader::new(File::open(&path)?);
        let length = file.get_ref().metadata()?.len();
        let mut magic = Vec::new();
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        let mut segment = Segment::of(path, first);
        if magic != MAGIC {
            let is_torn = magic.len() < MAGIC.len();
            return Ok(if is_torn { Found::Messages(segment, length) } else { Found::Unknown });
        }
        let mut frame = Vec::new();
        while read_frame(&mut file, &mut frame)? {
            segment.count += 1;
            segment.bytes += frame.len() as u64;
            if segment.end() <= delivered {
                segment.delivered_bytes = segment.bytes;
            }
        }
        let behind = length.saturating_sub(segment.bytes);
        Ok(Found::Messages(segment, behind))
    }

    /// Number of the message after the last one.
    pub(super) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// Bytes of the messages that are not delivered.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.bytes - self.delivered_bytes
    }

    /// Records that the messages below this number are delivered.
    pub(super) fn deliver(&mut self, below: u64) {
        let (first, ends) = &self.ends;
        let last = below.checked_sub(first + 1).and_then(|place| ends.get(usize::try_from(place).ok()?));
        self.delivered_bytes = self.delivered_bytes.max(last.copied().unwrap_or(0));
    }

    /// Appends frames, all or none.
    pub(super) fn append(&mut self, file: &mut File, frames: &[u8], messages: u64) -> io::Result<()> {
        if let Err(error) = file.write_all(frames) {
            // If this fails too, the next start cuts it off.
            let _ = file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += frames.len() as u64;
        self.count += messages;
        Ok(())
    }

    /// The messages from this number on, at most `most` and about [`MAX_BYTES`], but at least one.
    pub(super) fn read(&mut self, from: u64, most: usize) -> io::Result<Vec<Entry>> {
        let (start, end) = ((self.first, MAGIC.len() as u64), self.end());
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                (self.place, self.mark) = ((u64::MAX, 0), start);
                none.insert(BufReader::new(File::open(&self.path)?))
            }
        };
        if self.place.0 != from {
            self.place = if self.mark.0 <= from { self.mark } else { start };
            reader.seek(SeekFrom::Start(self.place.1))?;
        }
        self.ends = (from, Vec::new());
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while self.place.0 < end && entries.len() < most && bytes < MAX_BYTES {
            let (number, place) = self.place;
            let mut frame = Vec::new();
            let failure = match read_frame(reader, &mut frame) {
                Ok(true) => None,
                Ok(false) => Some(io::Error::new(ErrorKind::InvalidData, "it is not as it was written")),
                Err(error) => Some(error),
            };
            if let Some(error) = failure {
                self.reader = None;
                // The next read begins with the message that cannot be read.
                return if entries.is_empty() { Err(error) } else { Ok(entries) };
            }
            self.place = (number + 1, place + frame.len() as u64);
            if number == from {
                self.mark = (number, place);
            }
            if number >= from {
                bytes += frame.len();
                self.ends.1.push(self.place.1);
                entries.push(Entry { number, payload: frame.split_off(FRAME_HEADER_BYTES) });
            }
        }
        Ok(entries)
    }
}

/// The file whose first message has this number.
pub(super) fn path(directory: &Path, first: u64) -> PathBuf {
    directory.join(format!("{first:020}.spool"))
}

/// The files of a spool, oldest first.
pub(super) fn files(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".spool")?.parse().ok());
        files.extend(number.map(|number| (number, path)));
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads a frame, header included; false if there is no whole one.
fn read_frame(file: &mut impl Read, frame: &mut Vec<u8>) -> io::Result<bool> {
    frame.clear();
    file.take(FRAME_HEADER_BYTES as u64).read_to_end(frame)?;
    let Some(length) = frame.first_chunk().filter(|_| frame.len() == FRAME_HEADER_BYTES) else {
        return Ok(false);
    };
    file.take(u32::from_le_bytes(*length).into()).read_to_end(frame)?;
    // No message is empty, but a hole in a file looks like empty ones.
    let is_empty = frame.len() == FRAME_HEADER_BYTES;
    Ok(!is_empty && split_frame(frame).is_some_and(|(_, behind)| behind.is_empty()))
}

pub(super) const MAGIC: &[u8; 8] = b"INBSPL1\n";
/// Bytes that are read at once, about.
const MAX_BYTES: usize = 1 << 20;
