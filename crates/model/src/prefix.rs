//! Address prefixes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An address prefix such as `10.0.0.0/8` or `fd00::/8`; an address without a length contains only itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

/// The text is not a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is no prefix: an address, `/` and a length in bits, as in 10.0.0.0/8 or fd00::/8", .0.escape_debug())]
pub struct PrefixError(String);

impl Prefix {
    /// The addresses whose first `length` bits are those of `address`; `None` if `length` exceeds the
    /// address.
    #[must_use]
    pub fn new(address: IpAddr, length: u8) -> Option<Prefix> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (length <= most).then_some(Prefix { address, length })
    }

    /// Length in bits.
    #[must_use]
    pub fn length(self) -> u8 {
        self.length
    }

    /// The same prefix with all bits behind its length cleared.
    #[must_use]
    pub fn network(self) -> Prefix {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                Ipv4Addr::from_bits(address.to_bits() & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                Ipv6Addr::from_bits(address.to_bits() & mask).into()
            }
        };
        Prefix { address, ..self }
    }

    /// Whether the prefix contains an address. An IPv4-mapped IPv6 address counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let difference = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            _ => return false,
        };
        difference >= u32::from(self.length)
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let wrong = || PrefixError(text.chars().take(64).collect());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        Prefix::new(address, length).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Prefix {
    type Error = PrefixError;

    fn try_from(text: String) -> Result<Prefix, PrefixError> {
        text.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.to_string()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests;
