//! How do rows stand in a log?
//!
//! ```text
//! magic "INBLOG2\n"          8 bytes, once
//! frames                     one for each batch
//! ```
//!
//! The log ends at the first frame that is not whole or whose checksum is wrong: what comes behind was never
//! acknowledged. Logs of the version before, "INBLOG1\n", are read as well.

mod codec;
mod columns;
mod cursor;
mod hops;
mod version1;

use crate::batch::Batch;
use crate::frame::{TooLarge, put_frame, split_frame};

/// Begins every log.
pub(crate) const MAGIC: &[u8; 8] = b"INBLOG2\n";

/// Appends the frame of a batch to `frames`. Nothing is appended for a batch that no frame can hold.
pub(crate) fn encode(batch: &Batch, frames: &mut Vec<u8>) -> Result<(), TooLarge> {
    put_frame(frames, |payload| codec::encode(batch, payload))
}

/// Hands the batches of a log to `take`, oldest first, and says how many bytes of the log are whole.
pub(crate) fn decode(log: &[u8], mut take: impl FnMut(Batch)) -> usize {
    let versions: [(&[u8; 8], Decode); 2] = [(MAGIC, codec::decode), (MAGIC_1, version1::decode)];
    for (magic, decode) in versions {
        let Some(mut rest) = log.strip_prefix(magic) else { continue };
        while let Some((batch, behind)) = decode_frame(rest, decode) {
            take(batch);
            rest = behind;
        }
        return log.len() - rest.len();
    }
    0
}

/// Reads a payload.
type Decode = fn(&[u8]) -> Option<Batch>;

fn decode_frame(bytes: &[u8], decode: Decode) -> Option<(Batch, &[u8])> {
    let (payload, behind) = split_frame(bytes)?;
    Some((decode(payload)?, behind))
}

/// Begins a log of the version before.
const MAGIC_1: &[u8; 8] = b"INBLOG1\n";

#[cfg(test)]
mod tests;
