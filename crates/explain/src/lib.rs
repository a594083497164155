//! Owned descriptions of packets and telemetry reports that print and serialise.
//!
//! [`describe`] returns the INT headers, hops and reports of a captured frame, as printed by `inband decode`.
//!
//! ```
//! use inband_explain::{Description, Frame, Link, Options, describe};
//!
//! // IPv4 and UDP to port 32766; the telemetry report in them is empty.
//! let mut frame = vec![0; 28];
//! frame[0] = 0x45; // IPv4, 20 bytes
//! frame[3] = 28; // total length
//! frame[9] = 17; // UDP
//! frame[22..24].copy_from_slice(&32_766_u16.to_be_bytes());
//! frame[25] = 8; // UDP length
//!
//! let frame = Frame { bytes: &frame, start: 0, link: Link::Ip, is_cut: false };
//! let description = describe(frame, &Options::default()).expect("it claims to be a report");
//! assert!(matches!(description, Description::Malformed { .. }));
//! assert!(description.to_string().contains("at byte 28"));
//! ```
//!
//! [`explain`] names every field of a report with its bit position; [`datagram`] finds the UDP datagram in a
//! packet. The API's `/decode` and its views of reports return both.
//!
//! Reading order: `packet` (the description), `read` (makes it), `json` and `text` (write it), then `fields`.

mod datagram;
mod fields;
mod hex;
mod hop;
mod json;
mod names;
mod options;
mod packet;
mod read;
mod text;

pub use datagram::{Datagram, datagram};
pub use fields::explain;
pub use hop::{Field, Values};
pub use inband_wire::Link;
pub use options::{Options, reasons};
pub use packet::{
    Body, Description, DropReason, Earlier, HopByHopBody, HopValues, Individual, IntHeader, IntPacket,
    MdBody, MxBody, Report, ReportFlags, ReportForm, ReportPacket, ReportedPacket, Stack, TlvPart,
};
pub use read::{Frame, describe};
pub use text::date;

// The README's program is compiled as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
