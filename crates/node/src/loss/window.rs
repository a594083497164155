//! The recently received numbers of a flow.

/// One bit for each of the [`NUMBERS`] numbers below the next expected one.
#[derive(Clone, Debug)]
pub(super) struct Window([u64; WORDS]);

const WORDS: usize = 4;
/// Size of the window.
pub(super) const NUMBERS: u32 = 256;

impl Window {
    /// An empty window.
    pub(super) const fn new() -> Self {
        Self([0; WORDS])
    }

    /// Makes room for `count` missing numbers, and drops as many old ones.
    pub(super) fn advance(&mut self, count: u32) {
        let words = usize::try_from(count / 64).unwrap_or(usize::MAX);
        let bits = count % 64;
        let old = self.0;
        let word = |at: Option<usize>| at.and_then(|at| old.get(at)).copied().unwrap_or(0);
        for (at, new) in self.0.iter_mut().enumerate() {
            let from = at.checked_sub(words);
            let carried =
                if bits == 0 { 0 } else { word(from.and_then(|at| at.checked_sub(1))) >> (64 - bits) };
            *new = word(from) << bits | carried;
        }
    }

    /// Marks the number `back` below the newest one; `false` if it is already marked or outside the window.
    pub(super) fn mark(&mut self, back: u32) -> bool {
        let at = usize::try_from(back / 64).unwrap_or(usize::MAX);
        let Some(word) = self.0.get_mut(at) else { return false };
        let bit = 1 << (back % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}
