//! The log: rows in order of arrival.
//!
//! ```text
//! magic "INBLOGv3"           8 bytes, once
//! salt                       8 bytes, once
//! frames                     one for each batch
//! ```
//!
//! A damaged frame loses only its own batch: the next one is found by the salt. An incomplete frame at the
//! end was never acknowledged. Logs of earlier versions, "INBLOG1\n" and "INBLOG2\n", can be read.

mod codec;
mod columns;
mod cursor;
mod earlier;
mod frame;
mod hops;
mod outcome;
mod version1;

use self::codec::Decoded;
use self::frame::{HEADER_BYTES, Place, SALT_BYTES, read_header};
use crate::batch::Batch;
use crate::frame::TooLarge;

pub(crate) use self::frame::{HEADER_BYTES as FRAME_HEADER_BYTES, Salt, salt_of_frame};
pub(crate) use self::outcome::Outcome;

/// The header of a log.
pub(crate) fn header(salt: Salt) -> [u8; LOG_HEADER_BYTES] {
    let mut header = [0; LOG_HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[MAGIC.len()..].copy_from_slice(&salt.bytes());
    header
}

/// Appends the frame of a batch to `frames`; a batch that is too large for a frame is not appended.
pub(crate) fn encode(batch: &Batch, salt: Salt, frames: &mut Vec<u8>) -> Result<(), TooLarge> {
    salt.put_frame(frames, |payload| codec::encode(batch, payload))
}

/// Whether a log begins like those of this program, with a version that it does not know.
pub(crate) fn has_other_version(log: &[u8]) -> bool {
    log.len() >= MAGIC.len() && log.starts_with(ANY_MAGIC) && !log.starts_with(MAGIC) && !earlier::is_one(log)
}

/// Passes the batches of a log to `take`, oldest first.
pub(crate) fn decode(log: &[u8], mut take: impl FnMut(Batch)) -> Outcome {
    decode_with_places(log, |_, batch| take(batch))
}

/// Passes the batches of a log to `take`, oldest first, each with the offset of its frame.
pub(crate) fn decode_with_places(log: &[u8], mut take: impl FnMut(usize, Batch)) -> Outcome {
    // Logs of earlier versions do not grow.
    if let Some(outcome) = earlier::decode(log, &mut |batch| take(0, batch)) {
        return outcome;
    }
    let Some(salt) = salt_of(log) else {
        let has_begun =
            log.len() < LOG_HEADER_BYTES && MAGIC.iter().zip(log).all(|(one, other)| one == other);
        return match has_begun {
            true => Outcome { torn: log.len(), ..Outcome::default() },
            false => Outcome { damaged: std::iter::once(0..log.len()).collect(), ..Outcome::default() },
        };
    };
    let mut outcome = Outcome { whole: LOG_HEADER_BYTES, ..Outcome::default() };
    if log[..LOG_HEADER_BYTES] != header(salt) {
        outcome.damaged.push(0..LOG_HEADER_BYTES);
    }
    decode_frames(salt, log, outcome, take)
}

/// Passes the batches of the frames from `outcome.whole` on to `take`, each with the offset of its frame, and
/// extends the outcome.
pub(crate) fn decode_frames(
    salt: Salt,
    log: &[u8],
    mut outcome: Outcome,
    mut take: impl FnMut(usize, Batch),
) -> Outcome {
    let mut at = outcome.whole;
    while at < log.len() {
        let end = match salt.look(&log[at..]) {
            Place::Frame(payload) => {
                let end = at + HEADER_BYTES + payload.len();
                match codec::decode(payload) {
                    Some(Decoded { batch, is_whole }) => {
                        take(at, batch);
                        outcome.whole = end;
                        outcome.damaged.extend((!is_whole).then_some(at..end));
                    }
                    None => outcome.damaged.push(at..end),
                }
                end
            }
            other => match (salt.find(&log[at + 1..]), other) {
                (Some(further), _) => {
                    outcome.damaged.push(at..at + 1 + further);
                    at + 1 + further
                }
                (None, Place::Damaged(length)) => {
                    outcome.damaged.push(at..at + length);
                    at + length
                }
                (None, _) => break,
            },
        };
        at = end;
    }
    outcome.torn = log.len() - at;
    outcome
}

/// The salt of a log: that of its first frame if the frame's header is valid, otherwise that of the log's
/// header if the magic or any frame confirms it.
fn salt_of(log: &[u8]) -> Option<Salt> {
    let first = log.get(LOG_HEADER_BYTES..).and_then(|frames| read_header(frames.first_chunk()?));
    if let Some((salt, ..)) = first {
        return Some(salt);
    }
    let salt = Salt::read(log.get(MAGIC.len()..)?)?;
    let is_marked = log.starts_with(MAGIC) || salt.find(&log[LOG_HEADER_BYTES..]).is_some();
    is_marked.then_some(salt)
}

/// The first bytes of a log.
const MAGIC: &[u8; 8] = b"INBLOGv3";
/// The first bytes of a log of any version.
const ANY_MAGIC: &[u8] = b"INBLOG";
/// Magic and salt.
pub(crate) const LOG_HEADER_BYTES: usize = MAGIC.len() + SALT_BYTES;

#[cfg(test)]
mod tests;
