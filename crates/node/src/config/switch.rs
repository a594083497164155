//! Settings of a node on live interfaces.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::watch::Prefix;

/// `[switch]`: a node on live interfaces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchConfig {
    /// What forwards packets; default `kernel`.
    pub datapath: Datapath,
    /// How the engine chooses the egress interface; default `learn`.
    pub forwarding: Forwarding,
    /// How the engine sends and receives frames; default `auto`.
    pub io: FrameIo,
    /// Attach point of the kernel's programs; default `auto`.
    pub xdp: Xdp,
    /// The address and port metrics are served at; default, and empty: no metrics endpoint.
    pub metrics: String,
}

/// What forwards packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Datapath {
    /// Linux; INT is processed on its forwarding path.
    #[default]
    Kernel,
    /// This program.
    Engine,
}

/// How the engine chooses the egress interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// As a bridge that learns Ethernet addresses.
    #[default]
    Learn,
    /// As a router, by the kernel's routing table and neighbors.
    Routes,
    /// By `[[static]]`, leaving frames unmodified.
    Static,
}

/// How the engine sends and receives frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameIo {
    /// The fastest available.
    #[default]
    Auto,
    /// AF_XDP sockets.
    AfXdp,
    /// AF_PACKET sockets.
    AfPacket,
}

/// Where the kernel's programs are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Xdp {
    /// In the driver, ahead of the stack, if supported and nothing in the stack needs to see the packets.
    #[default]
    Auto,
    /// Only in the stack.
    Off,
    /// In the driver, ahead of the stack.
    Native,
    /// Ahead of the stack, after the driver.
    Generic,
}

/// `[[static]]`: the egress interfaces for a destination.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticConfig {
    /// The destination's address prefix.
    pub destination: Prefix,
    /// Interface identifiers; of several, one is chosen per flow.
    pub interfaces: Vec<u16>,
}

/// Bits a second; 0: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub u64);

const UNITS: [(&str, u64); 5] =
    [("Tbit", 1_000_000_000_000), ("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mistake = || format!("`{text}` is no rate such as `1Gbit`, `100Mbit`, or `0` for no limit");
        let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
        let (number, factor) = match unit {
            Some((unit, factor)) => (text.strip_suffix(unit).unwrap_or(text), *factor),
            None if text == "0" => (text, 1),
            None => return Err(mistake()),
        };
        let (whole, part) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let whole: u64 = whole.parse().map_err(|_| mistake())?;
        let digits = part.len();
        if digits > MAX_DECIMALS || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(mistake());
        }
        let part: u64 = format!("{part:0<MAX_DECIMALS$}").parse().map_err(|_| mistake())?;
        let bits = u128::from(whole) * u128::from(factor) + u128::from(part) * u128::from(factor) / 1_000_000;
        u64::try_from(bits).map(Self).map_err(|_| mistake())
    }
}

const MAX_DECIMALS: usize = 6;

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor));
        match unit {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => f.write_str("0"),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn rates_have_a_unit_and_zero_is_none() {
        for (text, bits) in [
            ("1Gbit", 1_000_000_000),
            ("2.5Gbit", 2_500_000_000),
            ("100Mbit", 100_000_000),
            ("64kbit", 64_000),
            ("9600bit", 9_600),
            ("0", 0),
            ("0Mbit", 0),
        ] {
            assert_eq!(text.parse::<Rate>(), Ok(Rate(bits)), "{text}");
        }
        for text in ["", "1", "Gbit", "-1Mbit", "1.2.3Mbit", "1GByte", "1.1234567Gbit", "99999999999999Tbit"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!(Rate(2_500_000_000).to_string(), "2500Mbit");
        assert_eq!(Rate(0).to_string(), "0");
    }
}
