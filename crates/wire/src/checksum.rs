//! Internet checksums: computed, and corrected without reading the payload.
//!
//! The arithmetic follows RFC 1071; corrections follow RFC 1624, equation 3. Correcting a checksum keeps a
//! wrong one wrong by the same difference, so corruption stays visible at the receiver.

use core::net::IpAddr;

/// A ones' complement sum of big-endian 16-bit words, not yet folded to 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// The empty sum.
    pub const ZERO: Self = Self(0);

    /// Sums `bytes`; an odd last byte counts as the high half of a word.
    #[inline]
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let (quads, tail) = bytes.as_chunks::<4>();
        let mut sum: u64 = quads.iter().map(|quad| u64::from(u32::from_be_bytes(*quad))).sum();
        if !tail.is_empty() {
            let mut last = [0; 4];
            for (to, from) in last.iter_mut().zip(tail) {
                *to = *from;
            }
            sum += u64::from(u32::from_be_bytes(last));
        }
        Self(sum)
    }

    /// The sum of the single word `word`.
    #[inline]
    #[must_use]
    pub const fn word(word: u16) -> Self {
        Self(word as u64)
    }

    /// Adds another sum.
    #[inline]
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// Folds the carries; the result is 0 only when every word was 0.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "two folds of a u64 leave 32 bits, a half of them 16")]
    pub const fn fold(self) -> u16 {
        let sum = (self.0 >> 32) + (self.0 & 0xffff_ffff);
        let sum = ((sum >> 32) + (sum & 0xffff_ffff)) as u32;
        // Both halves hold the sum of the two; the upper one includes the carry of the lower.
        (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
    }

    /// The checksum field that makes the covered bytes sum to all ones.
    #[inline]
    #[must_use]
    pub const fn checksum(self) -> u16 {
        !self.fold()
    }
}

/// Corrects a checksum field for the words `removed` and `added`, RFC 1624 equation 3.
///
/// The result is never 0xffff, the other representation of zero.
// int-2.1/checksum-03, int-2.1/checksum-08: an incremental update keeps corruption detectable.
#[inline]
#[must_use]
pub const fn corrected(checksum: u16, removed: Sum, added: Sum) -> u16 {
    // In this arithmetic the complement is the negative, even before folding: 2^16 - 1 divides 2^64 - 1.
    let negative = !removed.0;
    Sum((negative >> 32) + (negative & 0xffff_ffff) + added.0 + !checksum as u64).checksum()
}

/// Corrects a UDP checksum field: 0 means "none" and stays 0, a computed 0 is written as all ones.
#[inline]
#[must_use]
pub const fn corrected_udp(checksum: u16, removed: Sum, added: Sum) -> u16 {
    if checksum == 0 {
        return 0;
    }
    match corrected(checksum, removed, added) {
        0 => 0xffff,
        other => other,
    }
}

/// Sums the pseudo-header of TCP or UDP over IPv4 or IPv6; `length` is header plus payload, in bytes.
#[must_use]
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: usize) -> Sum {
    let addresses = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            Sum::of(&source.octets()).plus(Sum::of(&destination.octets()))
        }
        (source, destination) => address_words(source).plus(address_words(destination)),
    };
    Sum(addresses.0 + length as u64 + u64::from(protocol))
}

fn address_words(address: IpAddr) -> Sum {
    match address {
        IpAddr::V4(address) => Sum::of(&address.octets()),
        IpAddr::V6(address) => Sum::of(&address.octets()),
    }
}

#[cfg(test)]
mod tests;
