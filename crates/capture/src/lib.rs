//! Capture files, pcap and pcapng, as a stream of records.
//!
//! A capture is hostile input: no length in it is trusted before the bytes have arrived, and memory stays
//! below [`BLOCK_LIMIT_BYTES`] whatever the file claims.

mod bytes;
mod error;
mod format;
mod input;
mod link;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod writer;

pub use bytes::ByteOrder;
pub use error::CaptureError;
pub use format::{BLOCK_LIMIT_BYTES, Format, INTERFACE_LIMIT, RECORD_LIMIT_BYTES, Resolution};
pub use inband_wire::Link;
pub use link::{LinkType, set_ip_version, start};
pub use reader::Reader;
pub use record::{Interface, Record};
pub use writer::Writer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
