//! Writes individual reports.

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::report::first_word::{FIRST_WORD_BYTES, FirstWord, InnerType, ReportType, TO_THE_END};
use crate::report::individual::{DROP_BIT, Drop, MAIN_BYTES, MainContents};
use crate::words::Words;

/// The contents of one individual report, before serialization.
///
/// It is written as an *INT* report when it has metadata or `own_hop` is set, otherwise as *Inner Only*.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The type of `inner`.
    pub inner_type: InnerType,
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: the packet met a congested queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// I: a transit hop reports the stack collected so far.
    pub intermediate: bool,
    /// Whether the node reports its own hop; the main contents are then present even without metadata.
    pub own_hop: bool,
    /// The available metadata.
    pub metadata: HopMetadata,
    /// The wanted metadata; values that are not available are left out, and the node id always is.
    pub instructions: Instructions,
    /// Queue and drop reason.
    pub drop: Option<Drop>,
    /// Domain Specific ID, DSMdBits and the metadata they announce, whole words.
    pub domain: Option<(u16, u16, &'a [u8])>,
    /// The inner contents; padded with zeros to a whole word.
    pub inner: &'a [u8],
}

impl Draft<'_> {
    /// Length of the report, bytes.
    #[inline]
    #[must_use]
    pub fn length(&self) -> usize {
        self.length_with(self.metadata_bytes())
    }

    /// Whether the metadata fits into a report, which counts at most 255 words of it.
    #[must_use]
    pub fn metadata_fits(&self) -> bool {
        self.metadata_bytes() <= Words::MAX.bytes()
    }

    #[inline]
    fn length_with(&self, metadata_bytes: usize) -> usize {
        let main = if self.has_main(metadata_bytes) { MAIN_BYTES + metadata_bytes } else { 0 };
        FIRST_WORD_BYTES + main + self.inner.len().next_multiple_of(4)
    }

    /// Writes the report to the start of `out` and returns its length in bytes; `None` when `out` is too
    /// small or the metadata longer than 255 words.
    ///
    /// A report of 255 words or more is written with Report Length 0xff, so it must be the last in its
    /// datagram.
    #[must_use]
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let metadata_bytes = self.metadata_bytes();
        let length = self.length_with(metadata_bytes);
        let has_main = self.has_main(metadata_bytes);
        let out = out.get_mut(..length)?;
        let (first, contents) = out.split_at_mut_checked(FIRST_WORD_BYTES)?;
        let words = contents.len() / 4;
        let report_length = u8::try_from(words).unwrap_or(TO_THE_END);
        let md_length = if has_main { u8::try_from(metadata_bytes / 4).ok()? } else { 0 };
        let report_type = if has_main { ReportType::Int } else { ReportType::InnerOnly };
        let mut first_word = FirstWord::new(report_type, self.inner_type, report_length, md_length);
        first_word.set_flags(self.dropped, self.congested_queue, self.tracked_flow, self.intermediate);
        first.copy_from_slice(first_word.as_bytes());
        let at = if has_main { self.write_main(contents)? } else { 0 };
        let (inner, padding) = contents.get_mut(at..)?.split_at_mut_checked(self.inner.len())?;
        inner.copy_from_slice(self.inner);
        padding.fill(0);
        Some(length)
    }

    fn write_main(&self, out: &mut [u8]) -> Option<usize> {
        let (id, bits, domain_metadata) = self.domain.unwrap_or_default();
        let baseline = self.baseline();
        // int-2.1/md-33: bit 15 announces a drop reason, whatever the packet's bitmap had there.
        let drop_bit = if self.drop.is_some() { DROP_BIT } else { Instructions::default() };
        let main = MainContents {
            rep_md_bits: U16::new((baseline | drop_bit).0),
            domain_specific_id: U16::new(id),
            ds_md_bits: U16::new(bits),
            ds_md_status: U16::ZERO,
        };
        let (fixed, metadata) = out.split_at_mut_checked(MAIN_BYTES)?;
        fixed.copy_from_slice(main.as_bytes());
        let mut at = self.metadata.write(baseline, metadata);
        if let Some(Drop { queue_id, reason }) = self.drop {
            metadata.get_mut(at..)?.first_chunk_mut::<4>()?.copy_from_slice(&[queue_id, reason, 0, 0]);
            at += 4;
        }
        metadata.get_mut(at..at + domain_metadata.len())?.copy_from_slice(domain_metadata);
        Some(MAIN_BYTES + at + domain_metadata.len())
    }

    /// The metadata that is both wanted and available; reports are not padded.
    // int-2.1/mx-20, int-2.1/mx-36, report-2.0/metadata-02, report-2.0/metadata-04, report-2.0/metadata-05
    #[inline]
    fn baseline(&self) -> Instructions {
        if self.instructions == Instructions::default() {
            return Instructions::default();
        }
        self.metadata.available(self.instructions).without(Instructions::NODE_ID)
    }

    #[inline]
    fn metadata_bytes(&self) -> usize {
        let drop = if self.drop.is_some() { 4 } else { 0 };
        let domain = self.domain.map_or(0, |(_, _, metadata)| metadata.len());
        self.baseline().words().bytes() + drop + domain
    }

    #[inline]
    const fn has_main(&self, metadata_bytes: usize) -> bool {
        self.own_hop || metadata_bytes > 0 || self.domain.is_some()
    }
}

#[cfg(test)]
mod tests;
