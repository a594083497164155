//! The reorder window of a stream.

/// A bitmap of the sequence numbers just behind the next expected one.
///
/// A number is stored at its value modulo the size of the window, so sliding moves no bits.
#[derive(Debug)]
pub(super) struct ReorderWindow {
    words: Box<[u64]>,
}

impl ReorderWindow {
    /// Creates a window for `size` sequence numbers: a power of two, at least one word.
    pub(super) fn new(size: u32) -> ReorderWindow {
        debug_assert!(size.is_power_of_two() && size >= u64::BITS);
        ReorderWindow { words: vec![0; (size / u64::BITS) as usize].into() }
    }

    /// Number of sequence numbers in the window.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.words.len()).unwrap_or(u32::MAX).saturating_mul(u64::BITS)
    }

    /// Marks a number as arrived; returns whether it was already marked.
    pub(super) fn mark(&mut self, sequence: u32) -> bool {
        let (word, bit) = self.place(sequence);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// Whether a number is marked as arrived.
    pub(super) fn contains(&self, sequence: u32) -> bool {
        let position = sequence & (self.size() - 1);
        self.words[(position / u64::BITS) as usize] & 1 << (position % u64::BITS) != 0
    }

    /// Grows to `size` sequence numbers, if that is more; the window ends before `end`.
    pub(super) fn grow(&mut self, size: u32, end: u32) {
        if size <= self.size() {
            return;
        }
        let mut grown = ReorderWindow::new(size);
        for number in (1..=self.size()).map(|back| end.wrapping_sub(back)) {
            if self.contains(number) {
                grown.mark(number);
            }
        }
        *self = grown;
    }

    /// Slides forward over `count` numbers from `first` on, none of which has arrived.
    pub(super) fn slide(&mut self, first: u32, count: u32) {
        if count >= self.size() {
            return self.clear();
        }
        let mut next = first;
        let mut left = count;
        while left > 0 {
            let offset = next % u64::BITS;
            let bits = left.min(u64::BITS - offset);
            let ones = u64::MAX >> (u64::BITS - bits);
            *self.place(next).0 &= !(ones << offset);
            next = next.wrapping_add(bits);
            left -= bits;
        }
    }

    /// Clears all marks.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    fn place(&mut self, sequence: u32) -> (&mut u64, u64) {
        let position = sequence & (self.size() - 1);
        let word = &mut self.words[(position / u64::BITS) as usize];
        (word, 1 << (position % u64::BITS))
    }
}
