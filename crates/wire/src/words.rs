//! Lengths in 4-byte words, as INT counts them.

/// A length in 4-byte words, the unit of every INT length field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Words(u8);

impl Words {
    /// The maximum of an 8-bit length field: 255 words.
    pub const MAX: Self = Self(u8::MAX);

    /// Creates a length of `count` words.
    #[must_use]
    pub const fn new(count: u8) -> Self {
        Self(count)
    }

    /// Returns the length in words.
    #[must_use]
    pub const fn count(self) -> u8 {
        self.0
    }

    /// Returns the length in bytes, 0 to 1020.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize * 4
    }

    /// Adds two lengths; `None` when the sum exceeds 255 words.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// Subtracts; `None` when `other` is longer.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Self(difference)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests;
