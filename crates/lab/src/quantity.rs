//! Rates, times, sizes and addresses in the notation of topologies.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rate in bits per second, such as `100Mbit`; 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

impl Rate {
    /// Bytes per second.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0 / 8
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a rate such as `100Mbit`");
        let digits = text.find(|character: char| !character.is_ascii_digit() && character != '.');
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let factor = match unit.trim().to_ascii_lowercase().trim_end_matches("/s").trim_end_matches("ps") {
            "" if number == "0" => 1.0,
            "bit" => 1.0,
            "kbit" => 1e3,
            "mbit" => 1e6,
            "gbit" => 1e9,
            _ => return Err(wrong()),
        };
        let number = number.parse::<f64>().map_err(|_| wrong())?;
        let rate = number * factor;
        if !(0.0..=MAX_RATE).contains(&rate) || (rate > 0.0 && rate < MIN_RATE) {
            return Err(format!("`{text}` is out of range: 8kbit to 100Gbit, or 0 for no limit"));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
        Ok(Self(rate.round() as u64))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            bits if bits % 1_000_000_000 == 0 => write!(f, "{}Gbit", bits / 1_000_000_000),
            bits if bits % 1_000_000 == 0 => write!(f, "{}Mbit", bits / 1_000_000),
            bits if bits % 1_000 == 0 => write!(f, "{}kbit", bits / 1_000),
            bits => write!(f, "{bits}bit"),
        }
    }
}

/// A time such as `50us` or `2s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "0" {
            return Ok(Self::default());
        }
        let time = match text.strip_suffix('s').and_then(|number| number.parse::<f64>().ok()) {
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            None => humantime::parse_duration(text).ok(),
        };
        match time {
            Some(time) if time <= MAX_TIME => Ok(Self(time)),
            Some(_) => Err(format!("`{text}` is more than a day")),
            None => Err(format!("`{text}` is not a time such as `50us` or `2s`")),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

/// An address with the length of its network, such as `10.0.1.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    /// The address itself; for a network its first.
    pub address: IpAddr,
    /// Bits of the network.
    pub length: u8,
}

impl Network {
    /// The address alone, as a network with one address.
    #[must_use]
    pub const fn host(address: IpAddr) -> Self {
        Self { address, length: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// The network of this address.
    #[must_use]
    pub fn network(self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                Ipv4Addr::from(u32::from(address) & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                Ipv6Addr::from(u128::from(address) & mask).into()
            }
        };
        Self { address, length: self.length }
    }

    /// Whether `address` is in this network.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && Self { address, length: self.length }.network() == self.network()
    }

    /// The last address of this network; of IPv4 the broadcast address, unless there are only one or two.
    #[must_use]
    pub fn broadcast(self) -> IpAddr {
        match self.network().address {
            IpAddr::V4(first) => {
                let hosts = u32::MAX.checked_shr(u32::from(self.length)).unwrap_or(0);
                Ipv4Addr::from(u32::from(first) | hosts).into()
            }
            IpAddr::V6(first) => {
                let hosts = u128::MAX.checked_shr(u32::from(self.length)).unwrap_or(0);
                Ipv6Addr::from(u128::from(first) | hosts).into()
            }
        }
    }

    /// The last address that a router may have, right before the broadcast address.
    #[must_use]
    pub fn last(self) -> IpAddr {
        let has_broadcast = self.length + 1 < Self::host(self.address).length;
        match self.broadcast() {
            IpAddr::V4(end) => Ipv4Addr::from(u32::from(end) - u32::from(has_broadcast)).into(),
            IpAddr::V6(end) => Ipv6Addr::from(u128::from(end) - u128::from(has_broadcast)).into(),
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an address with its network, such as `10.0.1.1/24`");
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length: u8 = length.parse().map_err(|_| wrong())?;
        if length > Self::host(address).length {
            return Err(wrong());
        }
        Ok(Self { address, length })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

macro_rules! as_text {
    ($($kind:ty),*) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

as_text!(Rate, Span, Network);

/// 100 Gbit/s.
const MAX_RATE: f64 = 1e11;
/// 8 kbit/s, a kilobyte a second.
const MIN_RATE: f64 = 8e3;
const MAX_TIME: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests;
