//! The dictionary of a column of texts of which few are read.

use super::unpack::Bytes;
use crate::history::Texts;

/// A dictionary of texts of which few are read.
pub(super) struct Unread {
    page: Vec<u8>,
    /// Where each word ends in the page; its length is in the bytes before it.
    ends: Vec<u32>,
    /// One plus the code of each word that was read, 0 for the others.
    codes: Vec<u32>,
}

impl Unread {
    /// The dictionary in a page; `None` if it has fewer words.
    pub(super) fn of(page: &[u8], words: usize) -> Option<Self> {
        let mut bytes = Bytes(page);
        let end = |_| {
            let length = bytes.length()?;
            bytes.take(length)?;
            u32::try_from(page.len() - bytes.0.len()).ok()
        };
        // A page has a length for each word.
        let words = (words <= page.len() / LENGTH_BYTES).then_some(words)?;
        let ends: Vec<u32> = (0..words).map(end).collect::<Option<_>>()?;
        Some(Self { page: page.to_vec(), codes: vec![0; ends.len()], ends })
    }

    /// Appends all words to `words`.
    pub(super) fn read_all(&self, words: &mut Texts) -> Option<()> {
        (0..self.ends.len()).try_for_each(|word| {
            words.push(&String::from_utf8_lossy(self.word(word)?));
            Some(())
        })
    }

    fn word(&self, word: usize) -> Option<&[u8]> {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]) as usize + LENGTH_BYTES;
        self.page.get(start..*self.ends.get(word)? as usize)
    }

    /// The code of a word among `words`, to which it is added if it is new.
    pub(super) fn code(&mut self, word: usize, words: &mut Texts) -> Option<u32> {
        if let Some(code) = self.codes.get(word)?.checked_sub(1) {
            return Some(code);
        }
        words.push(&String::from_utf8_lossy(self.word(word)?));
        let count = u32::try_from(words.len()).ok()?;
        self.codes[word] = count;
        Some(count - 1)
    }
}

/// Bytes of the length before a word.
const LENGTH_BYTES: usize = 4;
