//! All values of a group, of 32 bits each where that is enough.

use crate::quantile::place;

/// The values of one group, in no particular order.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Those from 0 to `u32::MAX`.
    narrow: Vec<u32>,
    /// All others.
    wide: Vec<i64>,
}

impl Values {
    /// Adds values. Returns the bytes that they take.
    pub(super) fn extend(&mut self, values: impl Iterator<Item = i64>) -> usize {
        let before = (self.narrow.len(), self.wide.len());
        self.narrow.reserve(values.size_hint().0);
        for value in values {
            match u32::try_from(value) {
                Ok(value) => self.narrow.push(value),
                Err(_) => self.wide.push(value),
            }
        }
        (self.narrow.len() - before.0) * size_of::<u32>() + (self.wide.len() - before.1) * size_of::<i64>()
    }

    /// Adds the values of another group.
    pub(super) fn append(&mut self, mut other: Self) {
        match self.narrow.is_empty() {
            true => self.narrow = other.narrow,
            false => self.narrow.append(&mut other.narrow),
        }
        self.wide.append(&mut other.wide);
    }

    /// The smallest value that at least a share of the values does not exceed; `None` without values.
    /// Reorders the values.
    pub(super) fn quantile(&mut self, share: f64) -> Option<i64> {
        let place = place(share, self.narrow.len() + self.wide.len())?;
        let negative = self.wide.iter().filter(|value| **value < 0).count();
        let wide = match place.checked_sub(negative) {
            None => place,
            Some(place) if place < self.narrow.len() => {
                return Some(i64::from(*self.narrow.select_nth_unstable(place).1));
            }
            Some(_) => place - self.narrow.len(),
        };
        Some(*self.wide.select_nth_unstable(wide).1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Values;
    use crate::quantile::quantile;

    const EDGE: i64 = 0xffff_ffff;

    proptest! {
        #[test]
        fn quantiles_are_those_of_all_values(
            values in prop::collection::vec(prop_oneof![-3..3_i64, EDGE - 2..EDGE + 3, any::<i64>()], 0..40),
            split in 0..40_usize,
            shares in prop::collection::vec(0.0..=1.0, 3),
        ) {
            let (mut one, mut other) = (Values::default(), Values::default());
            let split = split.min(values.len());
            let (first, last) = values.split_at(split);
            let bytes = one.extend(first.iter().copied()) + other.extend(last.iter().copied());
            one.append(other);
            prop_assert_eq!(bytes, one.narrow.len() * 4 + one.wide.len() * 8);
            for share in shares {
                prop_assert_eq!(one.quantile(share), quantile(&mut values.clone(), share));
            }
        }
    }
}
