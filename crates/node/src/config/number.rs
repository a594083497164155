//! Numbers that TOML cannot represent: unsigned 64-bit integers, and bytes in hexadecimal.

use serde::de::{Deserialize, Deserializer, Error};

/// Reads a string such as `0xaaaaaaaabbbbbbbb` as an unsigned 64-bit number.
pub(super) fn hex_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = text.strip_prefix("0x").unwrap_or(&text).replace('_', "");
    u64::from_str_radix(&digits, 16).map_err(|_| {
        D::Error::custom(format_args!("`{text}` is not a hexadecimal number of up to 16 digits"))
    })
}

/// Reads pairs of hexadecimal digits, with or without a `0x` prefix.
pub(super) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() || pairs.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
