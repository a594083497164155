//! A table by address prefix; the longest match decides.

use std::net::IpAddr;

use crate::hash::QuickMap;

/// A table by address prefix.
#[derive(Clone, Debug)]
pub(crate) struct Prefixes<T> {
    /// By prefix length, the longest first; keys are the leading bits.
    v4: Vec<(u8, QuickMap<u128, T>)>,
    v6: Vec<(u8, QuickMap<u128, T>)>,
}

impl<T> Default for Prefixes<T> {
    fn default() -> Self {
        Self { v4: Vec::new(), v6: Vec::new() }
    }
}

impl<T: Default> Prefixes<T> {
    /// The entry for this prefix, inserted if missing.
    pub(crate) fn entry(&mut self, address: IpAddr, length: u8) -> &mut T {
        let (bits, width) = bits(address);
        let lengths = if width == 32 { &mut self.v4 } else { &mut self.v6 };
        let at = match lengths.binary_search_by(|(known, _)| length.cmp(known)) {
            Ok(at) => at,
            Err(at) => {
                lengths.insert(at, (length, QuickMap::default()));
                at
            }
        };
        // The index was just found or inserted.
        lengths[at].1.entry(leading(bits, width, length)).or_default()
    }
}

impl<T> Prefixes<T> {
    /// The entry of the longest prefix that contains `address`.
    pub(crate) fn get(&self, address: IpAddr) -> Option<&T> {
        self.all(address).next()
    }

    /// The entries of every prefix that contains `address`, the longest first.
    pub(crate) fn all(&self, address: IpAddr) -> impl Iterator<Item = &T> {
        let (bits, width) = bits(address);
        let lengths = if width == 32 { &self.v4 } else { &self.v6 };
        lengths.iter().filter_map(move |(length, entries)| entries.get(&leading(bits, width, *length)))
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.v4.iter().chain(&self.v6).map(|(_, entries)| entries.len()).sum()
    }
}

fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

/// The first `length` of the `width` bits.
fn leading(bits: u128, width: u8, length: u8) -> u128 {
    bits.checked_shr(u32::from(width.saturating_sub(length))).unwrap_or(0)
}
