//! Entries of the flow watchlist, and the packets they match.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use super::Actions;
use crate::error::ConfigError;

/// `[[watch]]`: one entry of the flow watchlist; all keys that are present must match.
///
/// For a packet in a tunnel (GTP-U, VXLAN, Geneve, GRE, IP in IP, MPLS) keys refer to the innermost packet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WatchEntry {
    /// Prefix of the source address.
    pub source: Option<Prefix>,
    /// Prefix of the destination address.
    pub destination: Option<Prefix>,
    /// Prefix of the source or the destination address.
    pub either: Option<Prefix>,
    /// IP protocol.
    pub protocol: Option<Protocol>,
    /// Source port of TCP or UDP.
    pub source_port: Option<PortRange>,
    /// Destination port of TCP or UDP.
    pub destination_port: Option<PortRange>,
    /// DSCP, 0 to 63.
    #[serde(deserialize_with = "dscp")]
    pub dscp: Option<u8>,
    /// Network identifier of VXLAN or Geneve, 24 bits.
    #[serde(deserialize_with = "vni")]
    pub vni: Option<u32>,
    /// Identifier of the ingress interface.
    pub ingress: Option<u16>,
    /// The actions on the packet; default `all`.
    pub action: Actions,
    /// One in this many packets starts INT or is reported as a flow; default 1: every packet. Drops are not
    /// sampled.
    pub sample: NonZeroU32,
    /// The matching entry with the highest priority applies, among equals the first; default 0.
    pub priority: u32,
}

impl Default for WatchEntry {
    fn default() -> Self {
        Self {
            source: None,
            destination: None,
            either: None,
            protocol: None,
            source_port: None,
            destination_port: None,
            dscp: None,
            vni: None,
            ingress: None,
            action: Actions::ALL,
            sample: NonZeroU32::MIN,
            priority: 0,
        }
    }
}

impl WatchEntry {
    /// # Errors
    /// Prefixes of both IP versions, which no packet matches.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (source, destination, either) = (self.source, self.destination, self.either);
        let prefixes =
            [("watch.source", source), ("watch.destination", destination), ("watch.either", either)];
        let mut given = prefixes.into_iter().filter_map(|(key, prefix)| Some((key, prefix?.address())));
        let Some((first, address)) = given.next() else { return Ok(()) };
        match given.find(|(_, other)| other.is_ipv4() != address.is_ipv4()) {
            Some((key, other)) => {
                let expected = format!("the IP version of {first}: no packet matches both");
                Err(ConfigError::out_of_range(key, format!("a prefix of {}", version(other)), expected))
            }
            None => Ok(()),
        }
    }
}

const fn version(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}

fn dscp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let dscp = u8::deserialize(deserializer)?;
    let is_dscp = dscp <= 0x3f;
    is_dscp
        .then_some(Some(dscp))
        .ok_or_else(|| D::Error::custom(format_args!("{dscp} is not a DSCP, 0 to 63")))
}

fn vni<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let vni = u32::deserialize(deserializer)?;
    let is_vni = vni < 1 << 24;
    is_vni.then_some(Some(vni)).ok_or_else(|| D::Error::custom(format_args!("{vni} is not a VNI, 24 bits")))
}

/// An address prefix such as `10.0.0.0/8`; a bare address is a full-length prefix. Host bits are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The prefix of the first `length` bits of `address`; a length beyond the address's is its full length.
    #[must_use]
    pub fn new(address: IpAddr, length: u8) -> Self {
        let (address, length) = match address {
            IpAddr::V4(address) => {
                let length = length.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                (IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask)), length)
            }
            IpAddr::V6(address) => {
                let length = length.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                (IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask)), length)
            }
        };
        Self { address, length }
    }

    /// The first address of the prefix.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// The prefix length, bits.
    #[must_use]
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// Whether `address` is inside the prefix; never for an address of the other IP version.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(prefix), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.length);
                (prefix.to_bits() ^ address.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V6(prefix), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.length);
                (prefix.to_bits() ^ address.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| {
            format!("`{text}` is not an address prefix such as `10.0.0.0/8` or `2001:db8::/32`")
        })?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length =
            match length {
                None => most,
                Some(length) => length.parse().ok().filter(|length| *length <= most).ok_or_else(|| {
                    format!("the length of prefix `{text}` is not a number from 0 to {most}")
                })?,
            };
        Ok(Self::new(address, length))
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// An IP protocol by name or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Protocol(pub u8);

const PROTOCOLS: [(&str, u8); 10] = [
    ("tcp", 6),
    ("udp", 17),
    ("icmp", 1),
    ("icmpv6", 58),
    ("sctp", 132),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("ipip", 4),
    ("ipv6", 41),
];

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = PROTOCOLS.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
        named.or_else(|| text.parse().ok()).map(Self).ok_or_else(|| {
            let names: Vec<_> = PROTOCOLS.iter().map(|(name, _)| format!("`{name}`")).collect();
            format!(
                "unknown protocol `{text}`, expected a number from 0 to 255 or one of {}",
                names.join(", ")
            )
        })
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrText {
            expecting: "the name or number of an IP protocol",
            number: |number| u8::try_from(number).ok().map(Self),
        })
    }
}

/// A port or a range of ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRange(pub RangeInclusive<u16>);

impl FromStr for PortRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse::<u16>(), last.trim().parse::<u16>()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self(first..=last)),
            _ => Err(format!("`{text}` is not a port or a range such as `1024-65535`")),
        }
    }
}

impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrText {
            expecting: "a port or a range of ports",
            number: |number| u16::try_from(number).ok().map(|port| Self(port..=port)),
        })
    }
}

/// Reads a value that may be a TOML integer or a string.
struct NumberOrText<T> {
    expecting: &'static str,
    number: fn(i64) -> Option<T>,
}

impl<T: FromStr<Err = String>> Visitor<'_> for NumberOrText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        (self.number)(number).ok_or_else(|| E::custom(format_args!("{number} is not {}", self.expecting)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
