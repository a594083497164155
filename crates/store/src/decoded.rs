//! A cache of decoded logs: the next question decodes only what was appended since.
//!
//! The rows of a log are kept in parts. A full part never changes, so questions share it; the last one grows,
//! and is copied only while an earlier question still reads it. A log is dropped when it has become segments,
//! and when no question has come for a while.

mod part;
mod roll;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use inband_model::table::{BurstRow, FlowMinuteRow, LinkMinuteRow, MinuteRow, TotalRow};

pub(crate) use self::part::LogPart;
use self::roll::Rolling;
use crate::batch::Batch;
use crate::bursts::bursts;
use crate::damage::Damage;
use crate::layout::Generation;
use crate::log::{self, FRAME_HEADER_BYTES, Outcome, Salt};
use crate::seconds::seconds;
use crate::segment::ROW_GROUP_ROWS;

/// The decoded logs of a store.
#[derive(Debug, Default)]
pub(crate) struct DecodedLogs {
    kept: Mutex<Kept>,
    /// Maximum rows that are kept.
    max_rows: usize,
    blocks: AtomicU64,
    /// Bytes in use when a question last ended, for the ingest thread, which must not wait for a question.
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
pub(crate) struct Kept {
    logs: BTreeMap<Generation, DecodedLog>,
    asked_at: Option<Instant>,
}

/// The rows of a log at one moment.
#[derive(Debug, Clone)]
pub(crate) struct LogRows {
    /// The rows, oldest first.
    pub(crate) parts: Vec<Arc<LogPart>>,
    rolling: Arc<Rolling>,
}

/// A log, as far as it is decoded.
#[derive(Debug, Default)]
struct DecodedLog {
    /// Device, inode, length and modification time of the file that was read.
    seen: Option<Seen>,
    /// Where the next block begins; everything before is decoded or listed as damaged.
    whole: usize,
    /// The last decoded block: its offset and header.
    last: Option<(u64, [u8; FRAME_HEADER_BYTES])>,
    parts: Vec<Arc<LogPart>>,
    rolling: Arc<Rolling>,
    /// Damage before `whole`.
    damage: Vec<Damage>,
    /// Damage after it, which may be a block that is being written.
    behind: Vec<Damage>,
}

/// The file that was read: device and inode, length, modification time.
type Seen = ([u64; 2], u64, [i64; 2]);

impl DecodedLogs {
    /// Keeps at most `max_rows` rows between questions; the default keeps none.
    pub(crate) fn keeping(max_rows: usize) -> Self {
        Self { max_rows, ..Self::default() }
    }

    /// The rows of a log, and its damage. Decodes what was appended since the last call.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) fn read(&self, generation: Generation, path: &Path) -> io::Result<(LogRows, Vec<Damage>)> {
        let mut kept = self.kept();
        kept.asked_at = Some(Instant::now());
        let mut log = kept.logs.remove(&generation).unwrap_or_default();
        let mut blocks = 0;
        let read = log.read(path, &mut blocks);
        self.blocks.fetch_add(blocks, Ordering::AcqRel);
        read?;
        let damage = log.damage.iter().chain(&log.behind).cloned().collect();
        let rows = LogRows { parts: log.parts.clone(), rolling: Arc::clone(&log.rolling) };
        let others: usize = kept.logs.values().map(DecodedLog::rows).sum();
        if others + log.rows() <= self.max_rows {
            kept.logs.insert(generation, log);
        }
        self.measure(&kept);
        Ok((rows, damage))
    }

    /// Drops a log that has become segments.
    pub(crate) fn forget(&self, generation: Generation) {
        let mut kept = self.kept();
        kept.logs.remove(&generation);
        self.measure(&kept);
    }

    /// Drops all logs if no question has come for this long.
    pub(crate) fn forget_unasked(&self, for_so_long: Duration) {
        let mut kept = self.kept();
        if kept.asked_at.is_none_or(|asked_at| asked_at.elapsed() >= for_so_long) {
            kept.logs.clear();
            self.measure(&kept);
        }
    }

    /// Blocks that were decoded.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Acquire)
    }

    /// Bytes of memory in use, approximately. Never waits for a log that is being decoded.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    fn measure(&self, kept: &Kept) {
        let bytes: usize = kept.logs.values().map(DecodedLog::bytes).sum();
        self.bytes.store(bytes as u64, Ordering::Release);
    }

    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        // A log is taken out while it is read, so what is kept is valid.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogRows {
    /// Minutes of queues in these rows.
    pub(crate) fn minutes(&self) -> Arc<Vec<MinuteRow>> {
        self.rolling.minutes(&self.parts)
    }

    /// Hours of queues in these rows.
    pub(crate) fn hours(&self) -> Arc<Vec<MinuteRow>> {
        self.rolling.hours(&self.parts)
    }

    /// Minutes of flows in these rows.
    pub(crate) fn flow_minutes(&self) -> Arc<Vec<FlowMinuteRow>> {
        self.rolling.flows(&self.parts)
    }

    /// Minutes of links in these rows.
    pub(crate) fn link_minutes(&self) -> Arc<Vec<LinkMinuteRow>> {
        self.rolling.links(&self.parts)
    }

    /// Seconds of all reports in these rows.
    pub(crate) fn totals(&self) -> Arc<Vec<TotalRow>> {
        self.rolling.totals(&self.parts)
    }

    /// Seconds of queues in these rows, where they differ from their minutes.
    pub(crate) fn seconds(&self) -> Vec<MinuteRow> {
        seconds(self.parts.iter().map(|part| &part.memory.hops), &self.minutes())
    }

    /// The episodes announced in these rows.
    pub(crate) fn bursts(&self) -> Vec<BurstRow> {
        let events = self.parts.iter().flat_map(|part| &part.memory.events);
        bursts(events, self.parts.iter().map(|part| &part.memory.hops))
    }
}

impl DecodedLog {
    /// Reads what was appended to the file.
    fn read(&mut self, path: &Path, blocks: &mut u64) -> io::Result<()> {
        let mut outcome = self.read_once(path, blocks)?;
        // The last block may be in the middle of a write; then it is complete a moment later.
        for _ in 0..TORN_ATTEMPTS {
            if outcome.is_none_or(|outcome| outcome.torn == 0) {
                break;
            }
            thread::sleep(TORN_PAUSE);
            outcome = self.read_once(path, blocks)?;
        }
        Ok(())
    }

    /// `None` if nothing was appended.
    fn read_once(&mut self, path: &Path, blocks: &mut u64) -> io::Result<Option<Outcome>> {
        let mut file = File::open(path)?;
        let seen = seen(&file)?;
        if self.seen == Some(seen) {
            return Ok(None);
        }
        let mut sorted_from = self.parts.len().saturating_sub(1);
        let salt = self.salt_of_last(&file, seen);
        let (mut bytes, mut last) = (Vec::new(), None);
        let outcome = match salt {
            Some(salt) => {
                let start = self.whole;
                file.seek(SeekFrom::Start(start as u64))?;
                file.read_to_end(&mut bytes)?;
                let take = |at, batch| {
                    last = Some(at);
                    *blocks += 1;
                    add(&mut self.parts, batch);
                };
                log::decode_frames(salt, &bytes, Outcome::default(), take).behind(start)
            }
            None => {
                *self = Self::default();
                sorted_from = 0;
                file.read_to_end(&mut bytes)?;
                log::decode_with_places(&bytes, |at, batch| {
                    last = Some(at);
                    *blocks += 1;
                    add(&mut self.parts, batch);
                })
            }
        };
        self.parts.iter_mut().skip(sorted_from).for_each(sort);
        let start = if salt.is_some() { self.whole } else { 0 };
        if let Some(at) = last {
            let header = bytes[at..].first_chunk().copied();
            self.last = header.map(|header| ((start + at) as u64, header));
        }
        self.whole = outcome.whole.max(self.whole);
        let is_settled = |part: &Range<usize>| part.end <= self.whole;
        let (settled, open) = outcome.damaged.iter().cloned().partition(is_settled);
        self.damage.extend(damage_of_log(path, &Outcome { damaged: settled, ..Outcome::default() }));
        self.behind = damage_of_log(path, &Outcome { damaged: open, ..outcome.clone() });
        self.seen = Some(seen);
        Ok(Some(outcome))
    }

    /// The salt of the log, if the file still contains the last decoded block.
    fn salt_of_last(&self, file: &File, (identity, length, _): Seen) -> Option<Salt> {
        let (at, header) = self.last?;
        let is_same = self.seen.is_some_and(|(seen, ..)| seen == identity) && length >= self.whole as u64;
        let mut there = [0; FRAME_HEADER_BYTES];
        // A log that was truncated and rewritten contains other blocks.
        let is_there = is_same && file.read_exact_at(&mut there, at).is_ok() && there == header;
        is_there.then(|| log::salt_of_frame(&header)).flatten()
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.memory.len()).sum()
    }

    fn bytes(&self) -> usize {
        self.rolling.bytes() + self.parts.iter().map(|part| part.memory.bytes()).sum::<usize>()
    }
}

/// Adds a batch to the last part, or to a new one if that is full.
fn add(parts: &mut Vec<Arc<LogPart>>, batch: Batch) {
    if parts.last().is_none_or(|last| last.memory.len() >= ROW_GROUP_ROWS) {
        parts.push(Arc::default());
    }
    if let Some(last) = parts.last_mut() {
        Arc::make_mut(last).add(batch);
    }
}

/// Sorts the rows other than hops as in segments.
fn sort(part: &mut Arc<LogPart>) {
    if !part.memory.is_sorted() {
        Arc::make_mut(part).memory.sort();
    }
}

/// The damaged parts of a log.
pub(crate) fn damage_of_log(path: &Path, outcome: &log::Outcome) -> Vec<Damage> {
    let damage = |part: &Range<usize>| {
        let place = format!("bytes {} to {}", part.start, part.end);
        Damage::new(path, place, "a block is damaged", None)
    };
    let torn = (outcome.torn > 0).then(|| {
        let place = format!("last {} bytes", outcome.torn);
        Damage::new(path, place, "the end is torn: written last before a crash, or cut off", None)
    });
    outcome.damaged.iter().map(damage).chain(torn).collect()
}

fn seen(file: &File) -> io::Result<Seen> {
    let about = file.metadata()?;
    Ok(([about.dev(), about.ino()], about.len(), [about.mtime(), about.mtime_nsec()]))
}

/// How often a log with a torn end is reread, and after how long.
const TORN_ATTEMPTS: usize = 5;
const TORN_PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
