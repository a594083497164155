//! Lengths of domain-specific metadata.

use crate::words::Words;

/// The domain-specific instructions of one Domain Specific ID.
///
/// Bit 0 of every mask is the most significant bit, as in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The Domain Specific ID, 0x0001 to 0xffff.
    pub id: u16,
    /// Length of the metadata of each DS Instruction bit; 0 words for undefined bits.
    pub words: [Words; 16],
    /// DS Instruction bits of INT-MD that only the source inserts.
    pub source_only: u16,
    /// DS Instruction bits of INT-MX that the source inserts into the packet.
    pub source_inserted: u16,
}

impl Domain {
    // int-2.1/md-18, int-2.1/mx-16: whole words, as the bits of DS Instruction determine.
    /// Length of the metadata each hop adds to an INT-MD stack for `ds_instruction`; `None` past 255 words.
    #[must_use]
    pub fn hop_words(&self, ds_instruction: u16) -> Option<Words> {
        self.sum(ds_instruction & !self.source_only)
    }

    /// Length of the metadata only the source adds to an INT-MD stack; `None` past 255 words.
    #[must_use]
    pub fn source_only_words(&self, ds_instruction: u16) -> Option<Words> {
        self.sum(ds_instruction & self.source_only)
    }

    /// Length of the metadata the source inserts into an INT-MX packet; `None` past 255 words.
    #[must_use]
    pub fn source_inserted_words(&self, ds_instruction: u16) -> Option<Words> {
        self.sum(ds_instruction & self.source_inserted)
    }

    /// Length of the metadata of bit `bit`, 0 to 15 from the most significant.
    #[must_use]
    pub fn bit_words(&self, bit: usize) -> Words {
        self.words.get(bit).copied().unwrap_or_default()
    }

    fn sum(&self, mask: u16) -> Option<Words> {
        set_bits(mask).try_fold(Words::default(), |sum, bit| sum.checked_add(self.bit_words(bit)))
    }
}

/// Iterates over the set bits of a 16-bit field; bit 0 is the most significant.
#[inline]
pub fn set_bits(mask: u16) -> impl Iterator<Item = usize> {
    let mut left = mask;
    core::iter::from_fn(move || {
        let bit = left.leading_zeros();
        if bit >= 16 {
            return None;
        }
        left &= !(0x8000 >> bit);
        Some(bit as usize)
    })
}

/// Finds a domain by its Domain Specific ID; 0x0000 is the default domain and defines nothing.
#[must_use]
pub fn find(domains: &[Domain], id: u16) -> Option<&Domain> {
    domains.iter().find(|domain| domain.id == id)
}

/// The domains described in INT 2.1 itself: Transparent Security, a source-only device id of 8 bytes.
pub const WELL_KNOWN: &[Domain] = &[Domain {
    id: 0x5453,
    words: {
        let mut words = [Words::new(0); 16];
        words[0] = Words::new(2);
        words
    },
    source_only: 0x8000,
    source_inserted: 0,
}];

#[cfg(test)]
mod tests;
