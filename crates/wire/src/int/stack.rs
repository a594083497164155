//! The INT-MD metadata stack.

use crate::int::hops::read_hops;
use crate::int::instruction::Instructions;
use crate::int::metadata::{HopMetadata, NOT_AVAILABLE, reserved};
use crate::words::Words;

/// The metadata stack after an INT-MD header: whole hops, the last hop first, then the source-only metadata.
#[derive(Clone, Copy, Debug)]
pub struct MetadataStack<'a> {
    hops: &'a [u8],
    source_only: &'a [u8],
    instructions: Instructions,
    hop_ml: Words,
    hop_count: usize,
}

impl<'a> MetadataStack<'a> {
    /// Splits `visible`, the bytes after the header, into hops and source-only metadata.
    ///
    /// `stack` and `source_only` are lengths by the packet's own fields; `visible` may be shorter or longer.
    #[inline]
    pub(crate) fn new(
        visible: &'a [u8],
        stack: Words,
        source_only: Words,
        instructions: Instructions,
        hop_ml: Words,
    ) -> Self {
        let hop_words = stack.checked_sub(source_only).unwrap_or_default();
        let visible = visible.get(..stack.bytes()).unwrap_or(visible);
        let (hops, source_only) = visible.split_at(hop_words.bytes().min(visible.len()));
        Self {
            hops,
            source_only,
            instructions,
            hop_ml,
            hop_count: usize::from(hop_words.count().checked_div(hop_ml.count()).unwrap_or(0)),
        }
    }

    /// Number of hops the packet carries, visible or not.
    #[must_use]
    pub const fn hop_count(&self) -> usize {
        self.hop_count
    }

    /// Number of hops that are completely visible.
    #[inline]
    #[must_use]
    pub fn visible_hop_count(&self) -> usize {
        if self.is_cut() { self.hops().len() } else { self.hop_count }
    }

    /// Whether the bytes end before the stack does.
    #[inline]
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.hops.len() < self.hop_count * self.hop_ml.bytes()
    }

    /// The source-only metadata at the bottom of the stack; empty when there is none.
    #[must_use]
    pub const fn source_only(&self) -> &'a [u8] {
        self.source_only
    }

    /// Iterates over the hops that are completely visible, the last hop of the path first.
    #[inline]
    pub fn hops(&self) -> impl DoubleEndedIterator<Item = Hop<'a>> + ExactSizeIterator + use<'a> {
        let instructions = self.instructions;
        // The chunk size must not be 0; without Hop ML there are no bytes to split.
        self.hops.chunks_exact(self.hop_ml.bytes().max(1)).map(move |bytes| Hop { bytes, instructions })
    }

    /// Overwrites `places` with the metadata of the completely visible hops, the first hop of the path first.
    /// When `places` is too short, the first hops are left out.
    #[inline]
    pub fn fill<T: AsMut<HopMetadata>>(&self, places: &mut [T]) {
        let whole = self.visible_hop_count() * self.hop_ml.bytes();
        read_hops(self.instructions, self.hops.get(..whole).unwrap_or_default(), self.hop_ml.bytes(), places);
        if self.instructions.contains(Instructions::CHECKSUM_COMPLEMENT) {
            for (place, hop) in places.iter_mut().rev().zip(self.hops()) {
                place.as_mut().checksum_complement = hop.checksum_complement();
            }
        }
    }
}

/// The metadata of one hop, in place.
///
/// ```text
///  baseline metadata, in the order of the instruction bits | domain-specific metadata | checksum complement
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    bytes: &'a [u8],
    instructions: Instructions,
}

impl<'a> Hop<'a> {
    /// The instructions this hop answers.
    #[must_use]
    pub const fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// The hop's metadata; `None` where it was all ones or not asked for.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        let mut metadata = HopMetadata::default();
        metadata.fill(self.instructions, self.bytes);
        metadata.checksum_complement = self.checksum_complement();
        metadata
    }

    /// The domain-specific metadata, between the baseline metadata and the checksum complement.
    #[must_use]
    pub fn domain(&self) -> &'a [u8] {
        let start = self.instructions.without(Instructions::CHECKSUM_COMPLEMENT).words().bytes();
        let end = self.bytes.len() - self.complement_bytes().min(self.bytes.len());
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The reserved instruction bits that are set, 9 to 14, with their metadata; `None` where it was all ones.
    pub fn reserved(&self) -> impl Iterator<Item = (usize, Option<u32>)> + use<'a> {
        reserved(self.instructions, self.bytes)
    }

    fn complement_bytes(&self) -> usize {
        if self.instructions.contains(Instructions::CHECKSUM_COMPLEMENT) { 4 } else { 0 }
    }

    fn checksum_complement(&self) -> Option<u32> {
        if !self.instructions.contains(Instructions::CHECKSUM_COMPLEMENT) {
            return None;
        }
        let word = self.bytes.last_chunk::<4>()?;
        Some(u32::from_be_bytes(*word)).filter(|value| *value != NOT_AVAILABLE)
    }
}

#[cfg(test)]
mod tests;
