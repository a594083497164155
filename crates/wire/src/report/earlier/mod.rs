//! Telemetry reports of the versions before 2.0: 1.0, 0.5, and Host-INT's kinds of 0.5.
//!
//! A datagram is one report. [`header_0_5`] and [`header_1_0`] draw its header, [`drop_header`] and
//! [`local_header`] what follows in 0.5, [`host_int`] what follows in Host-INT. [`read`] reads all of them
//! into [`report`], [`draft`] writes them.

pub mod draft;
pub mod drop_header;
pub mod header_0_5;
pub mod header_1_0;
pub mod host_int;
pub mod host_int_draft;
mod host_int_packet;
pub mod local_header;
pub mod read;
mod read_0_5;
mod read_1_0;
mod read_host_int;
pub mod report;

pub use draft::{DraftVersion, EarlierDraft};
pub use drop_header::DropHeader;
pub use header_0_5::{FixedHeader, NextProto};
pub use header_1_0::{HeaderV1_0, RepMdBits};
pub use host_int::{DropSummary, SinkNodeId};
pub use host_int_draft::{DropSummaryDraft, LatencyDraft};
pub use local_header::LocalHeader;
pub use read::read;
pub use report::{EarlierReport, ReportKind};
