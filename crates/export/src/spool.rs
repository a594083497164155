//! The spool: a bounded queue on disk for messages to a broker that is unreachable.
//!
//! ```text
//! inband-spool/nats/LOCK                            held by the process that writes
//!                   POSITION                        which messages are delivered: see `position`
//!                   BOOT                            the start of the machine during which it was last open
//!                   00000000000000000017.spool      magic "INBSPL1\n", then a frame for each message from number 17 on
//!                   00000000000000000017.unknown    a file of another version, set aside
//! ```
//!
//! Messages are numbered from 0 for as long as the directory exists. When the machine was restarted, messages
//! that were sent may be missing on disk, so the next number is one that no message can have had. Frames
//! are those of the store's log. A file is removed when all its messages are delivered, or, oldest first,
//! when the files together are too large. A file with messages in flight is held: they may have arrived,
//! and would count as lost.

mod boot;
mod position;
mod salvage;
mod segment;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use inband_store::{FRAME_HEADER_BYTES, put_frame};

pub(super) use self::segment::Entry;

use crate::same_file::is_at;

use self::position::Position;
use self::segment::{Found, Segment};

/// The name of the file that is locked.
const LOCK: &str = "LOCK";

/// The queue on disk.
#[derive(Debug)]
pub(super) struct Spool {
    directory: PathBuf,
    max_bytes: u64,
    segment_bytes: u64,
    /// Oldest first; `writer`, if any, writes to the last one.
    segments: VecDeque<Segment>,
    writer: Option<File>,
    position: Position,
    /// Number of the next message.
    next: u64,
    /// Whether the file that is read next must not be evicted.
    is_held: bool,
    /// The lock is held as long as the spool.
    lock: File,
}

/// What opening the spool found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recovered {
    /// Messages that are not delivered yet.
    pub(super) messages: u64,
    /// Bytes that belong to no whole message and were cut off.
    pub(super) torn_bytes: u64,
    /// Messages that are lost with those bytes, at least.
    pub(super) lost: u64,
    /// Files of another version that were set aside.
    pub(super) unknown: u64,
}

/// The result of appending messages.
#[derive(Debug)]
pub(super) struct Appended {
    /// Older messages that were dropped to make room.
    pub(super) dropped: u64,
    /// New messages that were refused: because of `error`, or because only a held file could make room.
    pub(super) refused: u64,
    pub(super) error: Option<io::Error>,
}

impl Spool {
    /// Opens or creates the spool in a directory; it takes at most `max_bytes`.
    pub(super) fn open(directory: &Path, max_bytes: u64) -> io::Result<(Spool, Recovered)> {
        fs::create_dir_all(directory)?;
        let lock = lock(&directory.join(LOCK))?;
        let mut position = Position::open(&directory.join("POSITION"))?;
        let mut recovered = Recovered::default();
        let (segments, known) = read_files(directory, position.delivered(), &mut recovered)?;
        let next = known.max(position.delivered());
        // Messages older than the oldest file were dropped.
        let oldest = segments.front().map_or(next, |segment| segment.first);
        position.advance(oldest);
        let segment_bytes = (max_bytes / 8).clamp(MIN_SEGMENT, MAX_SEGMENT);
        let directory = directory.to_owned();
        let mut spool = Spool {
            directory,
            max_bytes,
            segment_bytes,
            segments,
            writer: None,
            position,
            next,
            is_held: false,
            lock,
        };
        spool.remove_delivered();
        spool.skip_numbers(recovered.unknown > 0);
        recovered.messages = spool.waiting();
        Ok((spool, recovered))
    }

    /// Skips numbers that messages may have had that are not on disk: after a restart of the machine, or if a
    /// file is unknown.
    fn skip_numbers(&mut self, is_unknown: bool) {
        let has_restarted = boot::has_restarted(&self.directory);
        if is_unknown || (has_restarted && self.next > 0) {
            self.next = salvage::above(self.next);
            // The new file keeps the number. Without it, the numbers are skipped again next time.
            if self.begin_segment().is_err() {
                return;
            }
        }
        boot::note(&self.directory);
    }

    /// Distinguishes this spool's numbers from those of another.
    pub(super) fn id(&self) -> String {
        self.position.id()
    }

    /// Messages that are not delivered.
    pub(super) fn waiting(&self) -> u64 {
        let of =
            |segment: &Segment| segment.end().saturating_sub(segment.first.max(self.position.delivered()));
        self.segments.iter().map(of).sum()
    }

    /// Bytes of the messages that are not delivered.
    pub(super) fn waiting_bytes(&self) -> u64 {
        let delivered = self.position.delivered();
        self.segments.iter().filter(|segment| segment.end() > delivered).map(Segment::waiting_bytes).sum()
    }

    /// Holds or releases the file that is read next. It is held while its messages are in flight or may have
    /// arrived without acknowledgement.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// How many of the messages fill at most half a file; at least one, if there are any.
    pub(super) fn portion(&self, payloads: &[Vec<u8>]) -> usize {
        let most = usize::try_from(self.segment_bytes / 2).unwrap_or(usize::MAX);
        let mut bytes = 0_usize;
        let portion = payloads.iter().take_while(|payload| {
            bytes += FRAME_HEADER_BYTES + payload.len();
            bytes <= most
        });
        portion.count().max(1).min(payloads.len())
    }

    /// Whether messages fit without dropping pending ones.
    pub(super) fn has_room(&self, payloads: &[Vec<u8>]) -> bool {
        let bytes: usize = payloads.iter().map(|payload| FRAME_HEADER_BYTES + payload.len()).sum();
        // A fully delivered file is removed; if nothing is pending, waiting would make no more room.
        self.waiting() == 0 || self.bytes() + bytes as u64 <= self.max_bytes
    }

    /// Appends messages, and evicts the oldest files that are not held to make room.
    pub(super) fn append(&mut self, payloads: &[Vec<u8>]) -> Appended {
        let mut appended = Appended { dropped: 0, refused: 0, error: None };
        let mut left = payloads;
        while !left.is_empty() && appended.error.is_none() {
            // At most one file's worth at once, so that earlier messages can make room.
            let (mut frames, mut taken) = (Vec::new(), 0);
            while let Some(payload) = left.get(taken)
                && (taken == 0 || (frames.len() + payload.len()) as u64 <= self.segment_bytes)
            {
                // Messages are far smaller than the maximum frame.
                let _ = put_frame(&mut frames, |bytes| {
                    bytes.extend_from_slice(payload);
                    true
                });
                taken += 1;
            }
            let (dropped, has_room) = self.make_room(frames.len() as u64);
            appended.dropped += dropped;
            if !has_room {
                break;
            }
            match self.write(&frames, taken as u64) {
                Ok(()) => left = &left[taken..],
                Err(error) => appended.error = Some(error),
            }
        }
        appended.refused = left.len() as u64;
        appended
    }

    /// The oldest messages that are not delivered, at most `most`.
    pub(super) fn read(&mut self, most: usize) -> io::Result<Vec<Entry>> {
        let from = self.position.delivered();
        match self.segments.iter_mut().find(|segment| segment.end() > from) {
            None => Ok(Vec::new()),
            Some(segment) => segment.read(from.max(segment.first), most),
        }
    }

    /// Records that all messages up to and including this one are delivered; returns how many those are.
    pub(super) fn deliver(&mut self, through: u64) -> u64 {
        let before = self.waiting();
        self.position.advance(through + 1);
        let delivered = before - self.waiting();
        self.remove_delivered();
        delivered
    }

    /// Skips the file that cannot be read; returns how many messages it had.
    pub(super) fn skip(&mut self) -> u64 {
        let from = self.position.delivered();
        let end = self.segments.iter().map(Segment::end).find(|end| *end > from);
        end.map_or(0, |end| self.deliver(end - 1))
    }

    /// Whether another program has removed or replaced the directory, whose messages no further run finds.
    pub(super) fn is_removed(&self) -> bool {
        !self.lock.metadata().is_ok_and(|held| is_at(&held, &self.directory.join(LOCK)))
    }

    /// Makes everything durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if let Some(writer) = &self.writer {
            writer.sync_data()?;
        }
        self.position.sync()?;
        File::open(&self.directory)?.sync_all()
    }

    fn write(&mut self, frames: &[u8], messages: u64) -> io::Result<()> {
        if self.writer.is_none() || self.segments.back().is_none_or(|last| last.bytes >= self.segment_bytes) {
            self.begin_segment()?;
        }
        let (Some(writer), Some(segment)) = (&mut self.writer, self.segments.back_mut()) else {
            return Err(io::Error::other("no file is open"));
        };
        if let Err(error) = segment.append(writer, frames, messages) {
            // Bytes after the last whole message are not read.
            self.writer = None;
            return Err(error);
        }
        self.next += messages;
        Ok(())
    }

    fn begin_segment(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.sync_data()?;
        }
        self.segments.retain(|segment| segment.count > 0 || fs::remove_file(&segment.path).is_err());
        let (segment, writer) = Segment::create(&self.directory, self.next)?;
        self.segments.push_back(segment);
        self.writer = Some(writer);
        Ok(())
    }

    /// Evicts the oldest files until `bytes` fit or only a held file is left; returns how many messages were
    /// lost, and whether there is room.
    fn make_room(&mut self, bytes: u64) -> (u64, bool) {
        let before = self.waiting();
        let mut has_room = true;
        while self.bytes() + bytes > self.max_bytes && !self.segments.is_empty() {
            let held = self.held();
            let Some(oldest) = (0..self.segments.len()).find(|at| Some(*at) != held) else {
                has_room = false;
                break;
            };
            let Some(segment) = self.segments.remove(oldest) else { break };
            if oldest == self.segments.len() {
                self.writer = None;
            }
            // A file that cannot be removed is found at the next start: its messages are sent twice.
            let _ = fs::remove_file(&segment.path);
            // Gaps behind a held file are skipped on reading.
            if held.is_none_or(|held| oldest < held) {
                self.position.advance(segment.end());
            }
        }
        (before - self.waiting(), has_room)
    }

    /// The index of the held file.
    fn held(&self) -> Option<usize> {
        let delivered = self.position.delivered();
        self.segments.iter().position(|segment| segment.end() > delivered).filter(|_| self.is_held)
    }

    fn remove_delivered(&mut self) {
        let delivered = self.position.delivered();
        if let Some(segment) = self.segments.iter_mut().find(|segment| segment.end() > delivered) {
            segment.deliver(delivered);
        }
        let complete = self.segment_bytes.min(MAX_IDLE);
        while let Some(oldest) = self.segments.front().filter(|oldest| oldest.end() <= delivered) {
            if self.segments.len() == 1 && self.writer.is_some() && oldest.bytes < complete {
                return;
            }
            let _ = fs::remove_file(&oldest.path);
            self.segments.pop_front();
            if self.segments.is_empty() {
                self.writer = None;
            }
        }
    }
}

/// Reads the files, and repairs them: damaged places are left out, unknown files set aside. Returns the files
/// and the number after their last message.
fn read_files(
    directory: &Path,
    delivered: u64,
    recovered: &mut Recovered,
) -> io::Result<(VecDeque<Segment>, u64)> {
    let (mut segments, mut end) = (VecDeque::new(), 0);
    let files = segment::files(directory)?;
    for (at, (first, path)) in files.iter().enumerate() {
        end = end.max(*first);
        let (segment, behind) = match Segment::scan(*first, path.clone(), delivered)? {
            Found::Messages(segment, behind) => (segment, behind),
            Found::Unknown => {
                fs::rename(path, path.with_extension("unknown"))?;
                recovered.unknown += 1;
                continue;
            }
        };
        end = end.max(segment.end());
        let mut moved_to = None;
        if behind > 0 {
            let following = files.get(at + 1).map(|(first, _)| *first);
            let salvaged = salvage::salvage(&segment, following)?;
            recovered.torn_bytes += behind.saturating_sub(salvaged.bytes);
            recovered.lost += salvaged.lost;
            moved_to = salvaged.moved_to;
        }
        segments.push_back(segment);
        if let Some(first) = moved_to
            && let Found::Messages(segment, _) =
                Segment::scan(first, segment::path(directory, first), delivered)?
        {
            end = end.max(segment.end());
            segments.push_back(segment);
        }
    }
    Ok((segments, end))
}

/// Excludes other writers as long as the file is open.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    let since = Instant::now();
    // A process that is ending may still hold it, and so may, briefly, a child that it has just started.
    while file.try_lock().is_err() {
        if since.elapsed() > PATIENCE {
            return Err(io::Error::other("another process has it"));
        }
        thread::sleep(PATIENCE / 50);
    }
    Ok(file)
}

/// How long to wait for a process that is ending.
const PATIENCE: Duration = Duration::from_secs(1);
/// Smallest and largest size of a complete file, bytes.
const MIN_SEGMENT: u64 = 4 << 10;
const MAX_SEGMENT: u64 = 64 << 20;

/// Size from which a fully delivered file is removed, bytes.
const MAX_IDLE: u64 = 1 << 20;

#[cfg(test)]
mod tests;
