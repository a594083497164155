//! The generations of the programs' counts of incoming packets with INT.

use crate::abi::MAX_WITNESSES;

/// The generation of the count in each place; it changes when the place goes to another flow.
pub(super) struct Generations(Vec<u32>);

impl Generations {
    /// Counts whose first generation is `first`.
    pub(super) fn new(first: u32) -> Self {
        Self(vec![first; usize::try_from(MAX_WITNESSES).unwrap_or_default()])
    }

    /// The generation of the count at a place; a new one where the place belonged to another flow before.
    pub(super) fn at(&mut self, place: u32, is_known: bool) -> u32 {
        let of_place = usize::try_from(place).ok().and_then(|place| self.0.get_mut(place));
        let Some(generation) = of_place else { return 0 };
        if !is_known {
            *generation = generation.wrapping_add(1).max(1);
        }
        *generation
    }
}
