//! Wire formats of In-band Network Telemetry: parsing and writing of headers.
//!
//! Ethernet to TCP, tunnels, INT headers and telemetry reports. Views borrow the bytes they describe,
//! emitters write into the caller's buffer; the crate does not allocate, panic on input or do I/O.
//!
//! Reading order: [`layers`] finds the headers of one IP packet, [`int`] the INT headers in it,
//! [`mod@dissect`] follows [`tunnel`]s, [`report`] reads the reports that nodes send to a collector.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod checksum;
pub mod datagram;
pub mod dissect;
pub mod drop_reason;
pub mod error;
pub mod ethernet;
pub mod flow;
pub mod geneve;
pub mod gre;
pub mod gtpu;
pub mod icmp;
pub mod int;
pub mod ipv4;
pub mod ipv6;
pub mod layers;
pub mod mpls;
pub mod report;
pub mod tcp;
pub mod tunnel;
pub mod udp;
pub mod verify;
pub mod view;
pub mod vxlan;
pub mod words;

pub use dissect::{Dissection, Level, dissect};
pub use error::{ErrorKind, Header, ParseError};
pub use flow::FiveTuple;
pub use layers::{Layers, Link, Strictness};
pub use verify::ChecksumState;
pub use words::Words;
