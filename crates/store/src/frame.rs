//! Frames, which reveal a torn end of a file.
//!
//! ```text
//! length of the payload     CRC-32 of length and payload   4 + 4 bytes, little endian
//! payload
//! ```

/// Appends a frame with the payload that `put` writes; if `put` returns `false`, nothing is appended.
///
/// # Errors
/// The payload is too large for a frame.
pub fn put_frame(frames: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> bool) -> Result<(), TooLarge> {
    let start = frames.len();
    frames.extend_from_slice(&[0; HEADER_BYTES]);
    let fits = put(frames);
    let length =
        u32::try_from(frames.len() - start - HEADER_BYTES).ok().filter(|length| *length <= MAX_BYTES);
    let (Some(length), true) = (length, fits) else {
        frames.truncate(start);
        return Err(TooLarge);
    };
    let checksum = checksum(length, &frames[start + HEADER_BYTES..]);
    frames[start..start + 4].copy_from_slice(&length.to_le_bytes());
    frames[start + 4..start + HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// The payload of the first frame, and the bytes after it; `None` if it is incomplete or corrupt.
#[must_use]
pub fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (expected, bytes) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length);
    let (payload, behind) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    (checksum(length, payload) == u32::from_le_bytes(*expected)).then_some((payload, behind))
}

/// A payload is too large for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

fn checksum(length: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Bytes before a payload.
pub const HEADER_BYTES: usize = 8;
/// Maximum bytes of a payload.
const MAX_BYTES: u32 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::{HEADER_BYTES, TooLarge, put_frame, split_frame};

    #[test]
    fn frames_are_read_as_they_were_written_and_a_torn_or_wrong_one_is_none() {
        let mut frames = Vec::new();
        put_frame(&mut frames, |bytes| {
            bytes.extend_from_slice(b"one");
            true
        })
        .unwrap();
        let first = frames.len();
        assert_eq!(put_frame(&mut frames, |_| false), Err(TooLarge));
        assert_eq!(frames.len(), first);
        put_frame(&mut frames, |_| true).unwrap();

        let (one, behind) = split_frame(&frames).unwrap();
        assert_eq!((one, behind.len()), (&b"one"[..], HEADER_BYTES));
        assert_eq!(split_frame(behind), Some((&b""[..], &b""[..])));
        assert_eq!(split_frame(&frames[..first - 1]), None);
        for bit in 0..first * 8 {
            let mut wrong = frames[..first].to_vec();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(split_frame(&wrong), None, "bit {bit}");
        }
    }
}
