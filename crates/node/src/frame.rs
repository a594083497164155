//! A frame that grows and shrinks without moving its payload.

use std::ops::Range;

/// A frame in a larger buffer, with headroom in front.
///
/// ```text
///  buffer:  | headroom | headers | payload | tailroom |
///                      ^ start             ^ end
/// ```
///
/// INT is added after the headers, which are short: a gap opens by moving them towards the front. Their
/// offsets from the start of the frame are unchanged, those after the gap grow.
///
/// `start <= end <= buffer.len()` holds from [`Frame::new`] on, so indexing cannot fail.
#[derive(Debug)]
pub struct Frame<'a> {
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
}

/// Headroom that any single node can need: new IPv6 and UDP headers and a full shim of 255 words.
pub const MAX_GROWTH: usize = 40 + 8 + 4 + 255 * 4;

/// A copy of `packet` behind [`MAX_GROWTH`] bytes of headroom, for [`Frame::behind_headroom`].
pub(crate) fn with_headroom(packet: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(MAX_GROWTH + packet.len());
    buffer.resize(MAX_GROWTH, 0);
    buffer.extend_from_slice(packet);
    buffer
}

impl<'a> Frame<'a> {
    /// Wraps the frame behind [`MAX_GROWTH`] bytes of headroom; `None` when `buffer` is shorter than that.
    #[must_use]
    pub fn behind_headroom(buffer: &'a mut [u8]) -> Option<Self> {
        let range = MAX_GROWTH..buffer.len();
        Self::new(buffer, range)
    }

    /// Wraps the frame at `range` of `buffer`; `None` when the range is not inside it.
    #[must_use]
    pub fn new(buffer: &'a mut [u8], range: Range<usize>) -> Option<Self> {
        buffer.get(range.clone())?;
        Some(Self { buffer, start: range.start, end: range.end })
    }

    /// The frame's bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The frame's bytes, for writing.
    #[inline]
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    /// The frame's range in the buffer.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Length of the frame, bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether the frame is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Room before the frame, bytes.
    #[inline]
    #[must_use]
    pub fn headroom(&self) -> usize {
        self.start
    }

    /// Opens a gap of `length` bytes at byte `at`; its contents are undefined.
    ///
    /// Returns the frame's bytes, or `None` (and leaves the frame unchanged) without enough headroom or with
    /// `at` past the frame's end.
    #[inline]
    pub(crate) fn open_gap(&mut self, at: usize, length: usize) -> Option<&mut [u8]> {
        if at > self.len() {
            return None;
        }
        let start = self.start.checked_sub(length)?;
        self.buffer.copy_within(self.start..self.start + at, start);
        self.start = start;
        Some(self.bytes_mut())
    }

    /// Removes the bytes in `gap`, moving those before them.
    ///
    /// The caller has found `gap` inside the frame; a gap outside it is ignored.
    #[inline]
    pub(crate) fn close_gap(&mut self, gap: Range<usize>) {
        if gap.start <= gap.end && gap.end <= self.len() {
            self.buffer.copy_within(self.start..self.start + gap.start, self.start + gap.len());
            self.start += gap.len();
        }
    }
}
