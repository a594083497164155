//! The numbers of the programs' counts of packets with INT that come in.

use crate::abi::MAX_WITNESSES;

/// Of each place where the programs count, the number of its count: another one for another flow.
pub(super) struct Generations(Vec<u32>);

impl Generations {
    /// Counts that begin with the number `first`.
    pub(super) fn new(first: u32) -> Self {
        Self(vec![first; usize::try_from(MAX_WITNESSES).unwrap_or_default()])
    }

    /// The number of the count at a place, another one where it was another flow's before.
    pub(super) fn at(&mut self, place: u32, is_known: bool) -> u32 {
        let of_place = usize::try_from(place).ok().and_then(|place| self.0.get_mut(place));
        let Some(generation) = of_place else { return 0 };
        if !is_known {
            *generation = generation.wrapping_add(1).max(1);
        }
        *generation
    }
}
