//! A map of prefixes, searched for all that cover a key.

use std::collections::BTreeMap;
use std::fmt;

use prefix_trie::{Prefix, PrefixMap};

/// Values by prefix; one walk finds all that cover a key.
#[derive(Clone)]
pub(super) struct Prefixes<R, T>
where
    (R, u8): Prefix<R = R>,
{
    map: PrefixMap<(R, u8), usize>,
    slots: Vec<Slot<T>>,
}

/// One prefix's value and the next shorter prefix that covers it.
#[derive(Clone, Debug)]
struct Slot<T> {
    value: T,
    shorter: Option<usize>,
}

impl<R: Copy + Ord, T> Prefixes<R, T>
where
    (R, u8): Prefix<R = R>,
{
    /// Stores `values`; the bits after each prefix's length are zero.
    pub(super) fn new(values: BTreeMap<(R, u8), T>) -> Self {
        let mut map = PrefixMap::new();
        let keys: Vec<_> = values.keys().copied().collect();
        for (at, key) in keys.iter().enumerate() {
            map.insert(*key, at);
        }
        let slots = values.into_iter().map(|((key, length), value)| {
            let longest = length.checked_sub(1).and_then(|shorter| map.get_lpm(&(key, shorter)));
            Slot { value, shorter: longest.map(|(_, at)| *at) }
        });
        Self { slots: slots.collect(), map }
    }

    /// The values of all prefixes that cover `key`, a prefix of full `length`; the longest first.
    // The parents are kept here because the crate's iterator over covering prefixes allocates.
    #[inline]
    pub(super) fn covering(&self, key: R, length: u8) -> impl Iterator<Item = &T> {
        let longest = self.map.get_lpm(&(key, length)).and_then(|(_, at)| self.slots.get(*at));
        std::iter::successors(longest, |slot| self.slots.get(slot.shorter?)).map(|slot| &slot.value)
    }
}

impl<R, T: fmt::Debug> fmt::Debug for Prefixes<R, T>
where
    (R, u8): Prefix<R = R>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.slots.iter().map(|slot| &slot.value)).finish()
    }
}
