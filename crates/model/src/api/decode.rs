//! Bytes of a report beside their fields: `POST /api/v1/decode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes to be decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecodeQuestion {
    /// Hexadecimal digits, at most 65,535 bytes of them, with or without blanks, colons, `0x` and the offsets of a hex dump.
    pub hex: String,
    /// What the bytes begin with.
    #[serde(default)]
    pub start: DecodeStart,
}

/// What bytes begin with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecodeStart {
    /// With the report: the payload of a UDP datagram.
    #[default]
    Report,
    /// With an Ethernet header.
    Ethernet,
    /// With an IPv4 or IPv6 header.
    Ip,
}

/// Bytes, and what they mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decoded {
    /// The bytes, two digits each.
    pub hex: String,
    /// The fields in the order of the bytes; those that a field consists of follow it, one level deeper.
    pub fields: DecodedFields,
    /// What is wrong; null where everything could be read. Fields in front of it are listed.
    pub error: Option<DecodeFault>,
    /// Fields beyond the 4,096 that are listed.
    pub left_out: u32,
}

/// Fields of a report. Columns of one length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodedFields {
    /// How deep it stands: 0 is a header, 1 a field of it.
    pub depth: Vec<u8>,
    /// The name that the specification gives it.
    pub name: Vec<String>,
    /// The number, as text; null for headers and where it is wider than 64 bits.
    pub value: Vec<Option<String>>,
    /// What the value means; null where it means itself.
    pub meaning: Vec<Option<String>>,
    /// The byte in which it begins.
    pub at: Vec<u32>,
    /// The bit of that byte, 0 is the highest.
    pub bit: Vec<u8>,
    /// How many bits it has.
    pub bits: Vec<u32>,
    /// The requirement that says what it is for, as `spec/requirements` names it.
    pub requirement: Vec<Option<String>>,
}

/// What is wrong with bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodeFault {
    /// The byte at which the faulty header begins; the end, where it would begin behind it.
    pub at: u32,
    /// The fault.
    pub error: String,
}
