//! The INT node engine: packet processing of sources, transit hops and sinks.
//!
//! [`Node`] is source, transit hop and sink in one. It does no I/O: the caller passes it a [`Frame`] with
//! headroom and a [`Passage`] that gives the ingress and egress interfaces and the device's measurements,
//! then drains [`Node::poll_output`]. Reading order: [`node`] and its `roles` decide, `source` and `transit`
//! act, `encapsulation` inserts and removes INT, `carrier` keeps lengths and checksums correct, `earlier`
//! implements the versions before 2.0, `watchlist` selects packets, `smart` suppresses reports, [`loss`]
//! detects lost packets, `sessions` selects the collectors of a report, `reporter` writes it and
//! `report_queue` puts reports into datagrams.
#![forbid(unsafe_code)]

mod carrier;
mod clones;
pub mod config;
mod congestion;
pub mod copies;
mod core;
pub mod counters;
pub mod device_counters;
mod dialect;
mod domain_fields;
mod domains;
mod drop_reasons;
mod earlier;
mod encapsulation;
pub mod error;
mod flow_sequences;
pub mod frame;
mod indication;
mod inner;
mod inside;
mod interfaces;
mod latency;
pub mod loss;
mod losses;
pub mod node;
pub mod output;
pub mod passage;
mod path_mtu;
mod probes;
mod profile;
mod report_queue;
mod report_version;
mod reported;
mod reporter;
mod sessions;
mod smart;
mod source;
mod support;
mod token_bucket;
mod transit;
mod waiting;
pub mod watchlist;

pub use config::NodeConfig;
pub use copies::{Branch, BranchLevel};
pub use core::Core;
pub use counters::{Counters, Outcome};
pub use device_counters::{DeviceCounter, DeviceCounters, InterfaceCounters};
pub use drop_reasons::{DropReason, DropReasons};
pub use error::ConfigError;
pub use frame::Frame;
pub use node::{FlowDrops, Node, Verdict};
pub use output::{Output, OwnPacket};
pub use passage::{DeviceMetadata, Passage};
pub use profile::Profile;
pub use sessions::ReportDatagram;
pub use watchlist::Watchlist;
