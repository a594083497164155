//! The frames of a log, which can be located after a damaged one.
//!
//! ```text
//! salt of the log                          8 bytes
//! length of the payload                    4 bytes, little endian
//! CRC-32 of the payload                    4 bytes
//! CRC-32 of the 16 bytes before            4 bytes
//! payload
//! ```
//!
//! The salt is random for each log, so that no payload can look like a frame.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::frame::TooLarge;

/// Marks the frames of one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salt([u8; SALT_BYTES]);

/// What is at one position in a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// A whole frame with this payload.
    Frame(&'a [u8]),
    /// A frame with a damaged payload, and its length including the header.
    Damaged(usize),
    /// The beginning of a frame whose rest is missing.
    Torn,
    /// No frame.
    Nothing,
}

impl Salt {
    /// A random salt that senders of reports cannot know.
    pub(crate) fn draw() -> Self {
        // The operating system seeds the keys of hash maps.
        Self(RandomState::new().build_hasher().finish().to_le_bytes())
    }

    pub(super) fn bytes(self) -> [u8; SALT_BYTES] {
        self.0
    }

    /// The salt at the beginning of `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }

    /// Appends a frame with the payload that `put` writes; if `put` returns `false`, nothing is appended.
    pub(super) fn put_frame(
        self,
        frames: &mut Vec<u8>,
        put: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Result<(), TooLarge> {
        let start = frames.len();
        frames.extend_from_slice(&[0; HEADER_BYTES]);
        let fits = put(frames);
        let payload = &frames[start + HEADER_BYTES..];
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= MAX_PAYLOAD_BYTES);
        let (Some(length), true) = (length, fits) else {
            frames.truncate(start);
            return Err(TooLarge);
        };
        let header = self.header(length, crc32fast::hash(payload));
        frames[start..start + HEADER_BYTES].copy_from_slice(&header);
        Ok(())
    }

    /// What is at the beginning of `bytes`.
    pub(super) fn look<'a>(self, bytes: &'a [u8]) -> Place<'a> {
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            let begun = self.0.iter().zip(bytes).all(|(salt, byte)| salt == byte);
            return if begun { Place::Torn } else { Place::Nothing };
        };
        let Some((salt, length, checksum)) = read_header(header) else { return Place::Nothing };
        if salt != self {
            return Place::Nothing;
        }
        let end = HEADER_BYTES.saturating_add(length as usize);
        match bytes.get(HEADER_BYTES..end) {
            None => Place::Torn,
            Some(payload) if crc32fast::hash(payload) == checksum => Place::Frame(payload),
            Some(_) => Place::Damaged(end),
        }
    }

    /// The offset of the next header in `bytes`, which may belong to a damaged frame.
    pub(super) fn find(self, bytes: &[u8]) -> Option<usize> {
        let is_here =
            |at: &usize| bytes[*at] == self.0[0] && !matches!(self.look(&bytes[*at..]), Place::Nothing);
        (0..bytes.len().saturating_sub(HEADER_BYTES - 1)).find(is_here)
    }

    fn header(self, length: u32, checksum: u32) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&self.0);
        header[8..12].copy_from_slice(&length.to_le_bytes());
        header[12..16].copy_from_slice(&checksum.to_le_bytes());
        let own = crc32fast::hash(&header[..16]);
        header[16..].copy_from_slice(&own.to_le_bytes());
        header
    }
}

/// Salt, and length and checksum of the payload, if the header is valid.
pub(super) fn read_header(header: &[u8; HEADER_BYTES]) -> Option<(Salt, u32, u32)> {
    let word = |at: usize| header[at..].first_chunk().map(|word| u32::from_le_bytes(*word));
    let (length, checksum, own) = (word(8)?, word(12)?, word(16)?);
    let is_sound = crc32fast::hash(&header[..16]) == own && length <= MAX_PAYLOAD_BYTES;
    is_sound.then_some((Salt::read(header)?, length, checksum))
}

/// The salt in a frame header; `None` if the header is invalid.
pub(crate) fn salt_of_frame(header: &[u8; HEADER_BYTES]) -> Option<Salt> {
    read_header(header).map(|(salt, ..)| salt)
}

pub(super) const SALT_BYTES: usize = 8;
/// Bytes before a payload.
pub(crate) const HEADER_BYTES: usize = 20;
/// Largest payload, bytes.
const MAX_PAYLOAD_BYTES: u32 = 256 << 20;
