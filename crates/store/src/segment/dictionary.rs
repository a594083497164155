//! The dictionary of a column: distinct numbers and runs of their codes.

use super::hybrid::Run;

/// Assigns codes to numbers in order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    words: Vec<u64>,
    runs: Vec<Run>,
    /// One plus the code of the number last found there; 0 for none.
    slots: Vec<u32>,
}

impl Dictionary {
    /// The distinct numbers.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The codes, as runs.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Takes numbers with their repetitions; `false` if too many are distinct.
    pub(super) fn take(&mut self, numbers: impl Iterator<Item = (u64, u32)>) -> bool {
        self.words.clear();
        self.runs.clear();
        self.slots.clear();
        self.slots.resize(SLOTS, 0);
        let mut last = None;
        for (number, length) in numbers {
            if last == Some(number)
                && let Some(run) = self.runs.last_mut()
            {
                run.length += length;
                continue;
            }
            last = Some(number);
            let Some(code) = self.code(number) else { return false };
            self.runs.push(Run { code, length });
        }
        true
    }

    #[inline]
    fn code(&mut self, number: u64) -> Option<u32> {
        let mut slot = hash(number);
        while let Some(code) = self.slots[slot].checked_sub(1) {
            if self.words[code as usize] == number {
                return Some(code);
            }
            slot = (slot + 1) % SLOTS;
        }
        if self.words.len() >= MAX_WORDS {
            return None;
        }
        self.words.push(number);
        let codes = u32::try_from(self.words.len()).ok()?;
        self.slots[slot] = codes;
        Some(codes - 1)
    }
}

/// The first slot to look for a number in.
#[inline]
fn hash(number: u64) -> usize {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(spread >> (u64::BITS - SLOTS.ilog2())).unwrap_or(0)
}

/// Twice the number of words, so that a free slot is near.
const SLOTS: usize = 8_192;
/// With more, plain numbers take less space than codes and words.
const MAX_WORDS: usize = SLOTS / 2;
