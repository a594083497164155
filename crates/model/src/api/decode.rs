//! The bytes of a report and their fields: `POST /api/v1/decode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exact::Exact;

/// Bytes to decode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecodeQuestion {
    /// Hexadecimal digits of at most 65,535 bytes, with or without blanks, colons, `0x` and the offsets of a
    /// hex dump.
    pub hex: String,
    /// The first header of the bytes.
    #[serde(default)]
    pub start: DecodeStart,
}

/// The first header of the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecodeStart {
    /// The report's own header: the bytes are the payload of a UDP datagram.
    #[default]
    Report,
    /// An Ethernet header.
    Ethernet,
    /// An IPv4 or IPv6 header.
    Ip,
}

/// Decoded bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decoded {
    /// The bytes, two hexadecimal digits each.
    pub hex: String,
    /// The fields in byte order; the parts of a field follow it, one level deeper.
    pub fields: DecodedFields,
    /// The fault; null if everything could be read. Fields in front of the fault are listed.
    pub error: Option<DecodeFault>,
    /// Number of fields omitted because there are more than 4,096.
    pub left_out: u32,
}

/// Fields of a report, in columns of one length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodedFields {
    /// Depth in the tree of fields: 0 is a header, 1 a field of a header.
    pub depth: Vec<u8>,
    /// Name of the field in the specification.
    pub name: Vec<String>,
    /// Value as text; null for headers and for fields wider than 64 bits.
    pub value: Vec<Option<String>>,
    /// Meaning of the value; null if it has none beyond the number.
    pub meaning: Vec<Option<String>>,
    /// Offset of its first byte.
    pub at: Vec<u32>,
    /// Offset of its first bit in that byte; 0 is the most significant bit.
    pub bit: Vec<u8>,
    /// Width, bits.
    pub bits: Vec<u32>,
    /// Requirement that defines the field, by its id in `spec/requirements`.
    pub requirement: Vec<Option<String>>,
}

/// A fault in the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodeFault {
    /// Offset of the faulty header; the number of bytes if it would begin behind the last one.
    pub at: u32,
    /// The fault, in words.
    pub error: String,
}

/// Parameters of a request whose body is a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CaptureQuestion {
    /// UDP port that reports are sent to; default: 32766.
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// First packet to decode: the `next` of the previous page. The first packet is 1.
    #[schemars(range(min = 1))]
    pub packet: Option<u64>,
    /// Maximum number of datagrams; default: 20.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

/// The reports of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecodedCapture {
    /// Number of packets of the capture, up to where it can be read.
    pub packets: u64,
    /// Number of these packets that hold a datagram to the report port.
    pub datagrams: u64,
    /// Datagrams with their fields, in the order of the capture.
    pub reports: Vec<CapturedReport>,
    /// Value of `packet` for the next page; null at the end.
    pub next: Option<u64>,
    /// Why packets of the capture could not be read: it ends too early, or has a link type that is not known;
    /// null if all of them were.
    pub error: Option<String>,
}

/// A datagram of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedReport {
    /// Number of its packet in the capture; the first is 1.
    pub packet: u64,
    /// Capture time, nanoseconds since 1970; 0 if the capture does not contain it.
    pub time: Exact,
    /// Source address and port.
    pub source: String,
    /// Destination address and port.
    pub destination: String,
    /// The reporting node; null if the datagram does not name it, or is no report.
    pub node_id: Option<u32>,
    /// HW ID: the part of the node that numbers reports; null if the datagram is no report.
    pub hw_id: Option<u8>,
    /// Sequence number of the datagram; null if it is no report.
    pub sequence: Option<u32>,
    /// The packet from its Ethernet or IP header on, and its fields.
    pub decoded: Decoded,
}
