//! Which different numbers are among many, and which of them stands where?

use super::hybrid::Run;

/// Gives numbers codes by the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    words: Vec<u64>,
    runs: Vec<Run>,
    /// Where a number was last found: its code plus one, 0 for none.
    slots: Vec<u32>,
}

impl Dictionary {
    /// The numbers, each once.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Which of them stand where.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Takes numbers, each so many times; `false` when too many of them differ.
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

/// The slot in which a number is looked for first.
#[inline]
fn hash(number: u64) -> usize {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(spread >> (u64::BITS - SLOTS.ilog2())).unwrap_or(0)
}

/// Twice as many as words, so that a free one is near.
const SLOTS: usize = 8_192;
/// Beyond this, numbers take less room by themselves than as codes and words.
const MAX_WORDS: usize = SLOTS / 2;
