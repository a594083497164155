//! The bytes of a report that is evidence of an event.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{EventId, ReportReference, ReportVersion};

/// The datagram of a report that is evidence of an event, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBytes {
    /// The event.
    pub event: EventId,
    /// The report.
    pub report: ReportReference,
    /// Version of its format.
    pub version: ReportVersion,
    /// Sender of the datagram.
    pub from: SocketAddr,
    /// The socket it was sent to.
    pub to: SocketAddr,
    /// Length of the datagram, bytes.
    pub length: u32,
    /// Its first bytes, at most [`ReportBytes::MAX_KEPT`] of them.
    #[serde(with = "hex")]
    pub bytes: Vec<u8>,
}

impl ReportBytes {
    /// Maximum number of bytes kept of one datagram: an Ethernet frame, so a report that fits into one is
    /// kept whole.
    pub const MAX_KEPT: usize = 1_536;

    /// Approximate memory use, bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.len()
    }

    /// The bytes as hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        to_hex(&self.bytes)
    }
}

/// Bytes as hexadecimal digits, two each.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// The bytes of hexadecimal digits; `None` if the text is invalid.
#[must_use]
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Bytes as text in JSON.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::to_hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::from_hex(&text).ok_or_else(|| D::Error::custom("no hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::{from_hex, to_hex};

    #[test]
    fn bytes_are_read_as_they_are_written() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&bytes)), Some(bytes));
        assert_eq!(to_hex(&[0x0f, 0xa0]), "0fa0");
        assert_eq!([from_hex("0"), from_hex("0g"), from_hex("é")], [None, None, None]);
    }
}
