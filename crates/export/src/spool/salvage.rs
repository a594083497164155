//! The whole messages behind a damaged place of a file.
//!
//! They are moved to a file of their own, whose numbers lie between those of its neighbours: a number stands
//! for one message only, and how many are lost may be unknown.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;

use inband_store::{FRAME_HEADER_BYTES, split_frame};

use super::segment::{self, MAGIC, Segment};

/// What was found behind the last whole message of a file.
#[derive(Debug)]
pub(super) struct Salvaged {
    /// The number of the first message of the new file.
    pub(super) moved_to: Option<u64>,
    /// Bytes of the messages in it.
    pub(super) bytes: u64,
    /// Places that belong to no whole message, each of which was at least one.
    pub(super) lost: u64,
}

/// Moves the whole messages behind the last one of `damaged` to a new file below number `following`, and cuts
/// the rest off.
pub(super) fn salvage(damaged: &Segment, following: Option<u64>) -> io::Result<Salvaged> {
    let bytes = fs::read(&damaged.path)?;
    let whole = usize::try_from(damaged.bytes).unwrap_or(usize::MAX).min(bytes.len());
    let rest = &bytes[whole..];
    let frames = frames(rest);
    let number = number(damaged.end(), rest, &frames, following).filter(|_| !frames.is_empty());
    let saved = number.map_or(&[][..], |_| &frames[..]);
    if let Some(number) = number {
        let directory = damaged.path.parent().unwrap_or(Path::new(""));
        let mut content = MAGIC.to_vec();
        saved.iter().for_each(|frame| content.extend_from_slice(&rest[frame.clone()]));
        let path = segment::path(directory, number);
        let unfinished = path.with_extension("new");
        fs::write(&unfinished, content)?;
        File::open(&unfinished)?.sync_all()?;
        fs::rename(&unfinished, &path)?;
    }
    OpenOptions::new().write(true).open(&damaged.path)?.set_len(whole as u64)?;
    let kept: usize = saved.iter().map(Range::len).sum();
    let starts = [0].into_iter().chain(saved.iter().map(|frame| frame.end));
    let ends = saved.iter().map(|frame| frame.start).chain([rest.len()]);
    let lost = starts.zip(ends).filter(|(start, end)| start < end).count() as u64;
    Ok(Salvaged { moved_to: number, bytes: kept as u64, lost })
}

/// The number of the first of these frames; `None` if they do not fit below `following`.
fn number(end: u64, rest: &[u8], frames: &[Range<usize>], following: Option<u64>) -> Option<u64> {
    if let Some(following) = following {
        // Exact, as the following file begins where this one ended.
        return following.checked_sub(frames.len() as u64).filter(|number| *number > end);
    }
    let length = rest.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let is_adjacent = |pair: &[Range<usize>]| pair[0].end == pair[1].start;
    let is_one = frames.first().is_some_and(|first| first.start == FRAME_HEADER_BYTES + length)
        && frames.windows(2).all(is_adjacent);
    Some(if is_one { end + 1 } else { above(end) })
}

/// A number above all that may have been given to messages after this one.
pub(super) fn above(number: u64) -> u64 {
    (number | 0xffff_ffff) + 1
}

/// The whole frames in `bytes`, whatever is between them.
fn frames(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut frames, mut at, mut left) = (Vec::new(), 0, MAX_CHECKED_BYTES);
    while at + FRAME_HEADER_BYTES < bytes.len() {
        match frame(&bytes[at..], &mut left) {
            Some(length) => {
                frames.push(at..at + length);
                at += length;
            }
            None if left == 0 => break,
            None => at += 1,
        }
    }
    frames
}

/// The length of the frame at the beginning of `bytes`; `None` if there is none. Takes what is checked in
/// vain from `left`.
fn frame(bytes: &[u8], left: &mut usize) -> Option<usize> {
    let length = FRAME_HEADER_BYTES.checked_add(u32::from_le_bytes(*bytes.first_chunk()?) as usize)?;
    let frame = bytes.get(..length).filter(|frame| frame.len() > FRAME_HEADER_BYTES)?;
    let is_whole = split_frame(frame).is_some_and(|(_, behind)| behind.is_empty());
    if !is_whole {
        *left = left.saturating_sub(length);
    }
    is_whole.then_some(length)
}

/// Maximum bytes whose checksum is computed in vain: those of a file that looks like headers everywhere would
/// take hours.
const MAX_CHECKED_BYTES: usize = 1 << 30;
