//! How are a time and a size written in a configuration?

/// A time such as `36h`, `7d` or `2d 12h`.
pub(crate) mod time {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*time))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text)
            .map_err(|error| D::Error::custom(format_args!("`{text}` is not a time such as `7d`: {error}")))
    }
}

/// A size such as `20GB`: decimal units, one letter or two, or bytes.
pub(crate) mod size {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    pub(crate) fn serialize<S: Serializer>(size: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        let exact =
            |(unit, bytes): &&(&str, u64)| *bytes > 1 && size.is_multiple_of(*bytes) && !unit.is_empty();
        match UNITS.iter().find(exact) {
            Some((unit, bytes)) if *size > 0 => {
                serializer.collect_str(&format_args!("{}{unit}", size / bytes))
            }
            _ => serializer.collect_str(&format_args!("{size}B")),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).ok_or_else(|| D::Error::custom(format_args!("`{text}` is not a size such as `20GB`")))
    }

    pub(crate) fn parse(text: &str) -> Option<u64> {
        let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let unit = unit.trim().to_uppercase();
        let (_, bytes) =
            UNITS.iter().find(|(name, _)| *name == unit || (unit.len() == 1 && name.starts_with(&unit)))?;
        number.parse::<u64>().ok()?.checked_mul(*bytes)
    }

    /// The largest first.
    const UNITS: [(&str, u64); 6] = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("B", 1),
        ("", 1),
    ];
}
