//! The input and its position. Memory grows with the bytes read, never with the lengths claimed.

use std::io::{ErrorKind, Read};

use super::CaptureError;

/// A byte stream that counts its position.
#[derive(Debug)]
pub(crate) struct Input<R> {
    source: R,
    at: u64,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, at: 0 }
    }

    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    /// Bytes read so far.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Fills `header`, or returns how many bytes were left when the file ended first.
    pub(crate) fn read_header(&mut self, header: &mut [u8]) -> Result<usize, CaptureError> {
        let mut filled = 0;
        while let Some(space) = header.get_mut(filled..).filter(|space| !space.is_empty()) {
            match self.source.read(space) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(CaptureError::Read { at: self.at, source }),
            }
        }
        self.at += filled as u64;
        Ok(filled)
    }

    /// Reads `length` bytes into `buffer`, replacing its contents.
    ///
    /// # Errors
    /// When the file ends first; `part` and `start` name what is truncated.
    pub(crate) fn read_body(
        &mut self,
        buffer: &mut Vec<u8>,
        length: u32,
        part: &'static str,
        start: u64,
    ) -> Result<(), CaptureError> {
        buffer.clear();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let needed = usize::try_from(self.at - start).unwrap_or(usize::MAX).saturating_add(length);
        while buffer.len() < length {
            let filled = buffer.len();
            let step = (length - filled).min(STEP_BYTES);
            buffer.resize(filled + step, 0);
            let read = self.read_header(&mut buffer[filled..])?;
            if read < step {
                let left = needed - (length - filled - read);
                return Err(CaptureError::Truncated { part, at: start, needed, left });
            }
        }
        Ok(())
    }
}

/// Maximum memory allocated ahead of the bytes that fill it.
const STEP_BYTES: usize = 65_536;
