//! A probe packet of a source.

use std::net::IpAddr;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// `[[probe]]`: UDP packets that the source generates, with INT as configured in `[source]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeConfig {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same IP version.
    pub destination: IpAddr,
    /// Source port; default 49152.
    #[serde(default = "first_dynamic_port")]
    pub source_port: u16,
    /// Destination port; default 9, discard.
    #[serde(default = "discard_port")]
    pub destination_port: u16,
    /// Identifier of the egress interface.
    pub egress: u16,
    /// Interval between probes, milliseconds, 1 to 86,400,000; default 1000.
    #[serde(default = "a_second")]
    pub interval_ms: u64,
    /// Whether the sink discards them (D); default true.
    #[serde(default = "yes")]
    pub discard: bool,
    /// Payload length, bytes of zeros, at most 9,000; default 0.
    #[serde(default)]
    pub payload: u16,
    /// Source MAC address; default 02:01 followed by the node id.
    #[serde(default)]
    pub source_mac: Option<Mac>,
    /// Destination MAC address, that of the next hop; default 02:00:00:00:00:00.
    #[serde(default)]
    pub destination_mac: Mac,
}

/// A MAC address such as `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

impl Default for Mac {
    fn default() -> Self {
        Self([0x02, 0, 0, 0, 0, 0])
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format_args!("`{text}` is not a MAC address such as `02:00:00:00:00:01`"))
        })
    }
}

fn parse(text: &str) -> Option<[u8; 6]> {
    let byte = |digits: &str| match digits.len() {
        1 | 2 if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => u8::from_str_radix(digits, 16).ok(),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.split([':', '-']).take(7).map(byte).collect();
    bytes?.try_into().ok()
}

const fn first_dynamic_port() -> u16 {
    49_152
}

const fn discard_port() -> u16 {
    9
}

const fn a_second() -> u64 {
    1000
}

const fn yes() -> bool {
    true
}
