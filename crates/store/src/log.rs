//! How do rows stand in a log?
//!
//! ```text
//! magic "INBLOG2\n"                                        8 bytes, once
//! length of the payload     CRC-32 of length and payload   4 + 4 bytes, little endian
//! payload                                                  one batch
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

/// Begins every log.
pub(crate) const MAGIC: &[u8; 8] = b"INBLOG2\n";

/// Appends the frame of a batch to `frames`. Nothing is appended for a batch that no frame can hold.
pub(crate) fn encode(batch: &Batch, frames: &mut Vec<u8>) -> Result<(), TooLarge> {
    let start = frames.len();
    frames.extend_from_slice(&[0; HEADER_BYTES]);
    let fits = codec::encode(batch, frames);
    let length =
        u32::try_from(frames.len() - start - HEADER_BYTES).ok().filter(|length| *length <= MOST_BYTES);
    let (Some(length), true) = (length, fits) else {
        frames.truncate(start);
        return Err(TooLarge);
    };
    let checksum = checksum(length, &frames[start + HEADER_BYTES..]);
    frames[start..start + 4].copy_from_slice(&length.to_le_bytes());
    frames[start + 4..start + HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// A batch that no frame can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

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
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (expected, bytes) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    let (payload, behind) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    if checksum(length, payload) != u32::from_le_bytes(*expected) {
        return None;
    }
    Some((decode(payload)?, behind))
}

fn checksum(length: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Begins a log of the version before.
const MAGIC_1: &[u8; 8] = b"INBLOG1\n";
/// Length and checksum, bytes.
const HEADER_BYTES: usize = 8;
/// Most bytes of a payload.
const MOST_BYTES: u32 = 256 << 20;

#[cfg(test)]
mod tests;
