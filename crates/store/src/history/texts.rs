//! Texts in contiguous memory, by number.

/// Texts by number, without an allocation for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    letters: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Texts {
    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.letters.push_str(text);
        self.ends.push(self.letters.len());
    }

    /// The text with this number; empty if there is none.
    #[must_use]
    pub fn get(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(0));
        self.ends.get(number).and_then(|end| self.letters.get(start..*end)).unwrap_or_default()
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Bytes of memory, approximately.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.letters.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl<'a> Extend<&'a str> for Texts {
    fn extend<I: IntoIterator<Item = &'a str>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push(text));
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn texts_are_found_by_their_numbers_also_empty_ones() {
        let mut texts = Texts::default();
        texts.extend(["one", "", "zwei ü", ""]);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["one", "", "zwei ü", ""]);
        assert_eq!((texts.len(), texts.get(2), texts.get(4)), (4, "zwei ü", ""));
    }
}
