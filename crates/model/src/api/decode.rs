//! Bytes of a report beside their fields: `POST /api/v1/decode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

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

/// Which reports of a capture that is sent instead of digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CaptureQuestion {
    /// The UDP port that reports are sent to; 32766 where it is left out.
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// The `next` of the page before: the packet to begin with, the first is 1.
    #[schemars(range(min = 1))]
    pub packet: Option<u64>,
    /// Maximum number of datagrams; 20 where it is left out.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

/// The reports of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodedCapture {
    /// Packets that could be read.
    pub packets: u64,
    /// Those of them that hold a datagram to the port of reports.
    pub datagrams: u64,
    /// Datagrams with their fields, in the order of the capture.
    pub reports: Vec<CapturedReport>,
    /// What `packet` is for the next page; null at the end.
    pub next: Option<u64>,
    /// Why the rest of the capture could not be read; null where all was.
    pub error: Option<String>,
}

/// A datagram of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedReport {
    /// Place of its packet in the capture, the first is 1.
    pub packet: u64,
    /// When it was captured, nanoseconds since 1970; 0 where the capture does not say.
    pub time: Exact,
    /// Who sent it.
    pub source: String,
    /// To whom.
    pub destination: String,
    /// The reporting node; null where the datagram does not tell it, or is no report.
    pub node_id: Option<u32>,
    /// The part of it that numbers reports; null where it is no report.
    pub hw_id: Option<u8>,
    /// Sequence number of the datagram; null where it is no report.
    pub sequence: Option<u32>,
    /// The packet from its Ethernet or IP header on, and its fields.
    pub decoded: Decoded,
}
