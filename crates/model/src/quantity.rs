//! Times, sizes, addresses and thread counts in configuration files.

/// A time such as `36h`, `7d` or `2d 12h`.
pub mod time {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes a time as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*time))
    }

    /// Reads a time as users write it.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text)
            .map_err(|error| D::Error::custom(format_args!("`{text}` is not a time such as `7d`: {error}")))
    }
}

/// Times by the names of history tables.
pub mod times {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use crate::table::shapes;
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes the times as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        times: &BTreeMap<String, Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let pair = |(name, time): (&String, &Duration)| {
            (name.clone(), humantime::format_duration(*time).to_string())
        };
        serializer.collect_map(times.iter().map(pair))
    }

    /// Reads the times as users write them.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Duration>, D::Error> {
        let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
        let known: Vec<_> = shapes().iter().map(|shape| shape.name).collect();
        let pair = |(name, text): (String, String)| {
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(D::Error::custom(format_args!("no table `{name}`, expected one of: {known}")));
            }
            match humantime::parse_duration(&text) {
                Ok(time) => Ok((name, time)),
                Err(error) => Err(D::Error::custom(format!("`{text}` is not a time such as `7d`: {error}"))),
            }
        };
        texts.into_iter().map(pair).collect()
    }
}

/// An address with its port, such as `127.0.0.1:32766`.
pub mod address {
    use std::net::SocketAddr;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes an address as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(address: &SocketAddr, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(address)
    }

    /// Reads an address as users write it.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
        parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    /// Parses an address.
    pub(super) fn parse(text: &str) -> Result<SocketAddr, String> {
        text.parse().map_err(|_| {
            let port = text.rsplit_once(':').map(|(_, port)| port);
            let is_number =
                |port: &&str| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
            match port.filter(is_number) {
                Some(port) if port.parse::<u16>().is_err() => {
                    format!("`{text}`: a port is at most 65535")
                }
                Some(_) => format!("`{text}` does not begin with an IP address, such as 127.0.0.1 or [::1]"),
                None => {
                    format!("`{text}` is not an address with a port, such as 127.0.0.1:8080 or [::1]:8080")
                }
            }
        })
    }
}

/// Several addresses with their ports.
pub mod addresses {
    use std::net::SocketAddr;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes the addresses as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(all: &[SocketAddr], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all)
    }

    /// Reads the addresses as users write them.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
        let all = Vec::<String>::deserialize(deserializer)?;
        all.iter().map(|text| super::address::parse(text).map_err(D::Error::custom)).collect()
    }
}

/// A number of threads, 1 to 255.
pub mod threads {
    use std::num::NonZeroU8;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes a number of threads as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    pub fn serialize<S: Serializer>(threads: &NonZeroU8, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(threads.get())
    }

    /// Reads a number of threads as users write it.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroU8, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let threads = u8::try_from(number).ok().and_then(NonZeroU8::new);
        threads.ok_or_else(|| D::Error::custom(format_args!("{number} is not a number of threads, 1 to 255")))
    }
}

/// A size such as `20GB`: a number with a decimal unit of one or two letters, or in bytes.
pub mod size {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    /// Writes a size as users do.
    ///
    /// # Errors
    /// Those of the serializer.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    pub fn serialize<S: Serializer>(size: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        let exact =
            |(unit, bytes): &&(&str, u64)| *bytes > 1 && size.is_multiple_of(*bytes) && !unit.is_empty();
        match UNITS.iter().find(exact) {
            Some((unit, bytes)) if *size > 0 => {
                serializer.collect_str(&format_args!("{}{unit}", size / bytes))
            }
            _ => serializer.collect_str(&format_args!("{size}B")),
        }
    }

    /// Reads a size as users write it.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).ok_or_else(|| D::Error::custom(format_args!("`{text}` is not a size such as `20GB`")))
    }

    /// Parses a size; `None` if the text is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<u64> {
        let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let unit = unit.trim().to_uppercase();
        let (_, bytes) =
            UNITS.iter().find(|(name, _)| *name == unit || (unit.len() == 1 && name.starts_with(&unit)))?;
        number.parse::<u64>().ok()?.checked_mul(*bytes)
    }

    /// Largest first.
    const UNITS: [(&str, u64); 6] = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("B", 1),
        ("", 1),
    ];
}
