//! The memory of the frames of a batch.

use std::ops::Range;

/// Frames side by side in memory, each with headroom, that can be restored.
pub(crate) struct Pool {
    pristine: Vec<u8>,
    buffer: Vec<u8>,
    stride: usize,
    frame: Range<usize>,
}

impl Pool {
    /// [`FRAMES`] copies of `frame`.
    pub(crate) fn new(frame: &[u8]) -> Self {
        let range = HEADROOM..HEADROOM + frame.len();
        // An odd number of cache lines, so that the headers spread over all sets of the cache.
        let stride = (range.end.div_ceil(CACHE_LINE) | 1) * CACHE_LINE;
        let mut pristine = vec![0xa5; stride * FRAMES];
        for buffer in pristine.chunks_exact_mut(stride) {
            buffer[range.clone()].copy_from_slice(frame);
        }
        Self { buffer: pristine.clone(), pristine, stride, frame: range }
    }

    /// Restores every buffer.
    pub(crate) fn restore(&mut self) {
        self.buffer.copy_from_slice(&self.pristine);
    }

    /// The buffers, each with the frame at [`Pool::range`].
    pub(crate) fn buffers(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.buffer.chunks_exact_mut(self.stride)
    }

    /// The first buffer in its original state.
    pub(crate) fn pristine(&self) -> &[u8] {
        &self.pristine[..self.stride]
    }

    /// The range of each frame in its buffer.
    pub(crate) fn range(&self) -> Range<usize> {
        self.frame.clone()
    }
}

/// Frames of a batch. Their headers, three to four cache lines each, fill an L1 cache and stay in L2.
pub(crate) const FRAMES: usize = 256;
/// Room in front of each frame, bytes.
const HEADROOM: usize = 128;
const CACHE_LINE: usize = 64;
