//! Evaluation of telemetry reports: sequence ledger, correlation, paths, events.
//!
//! [`Collector`] is the complete engine: datagrams and time go in, observations and events come out. It has
//! two parts that can be partitioned, also across processes: [`StreamShard`] by the streams of nodes,
//! [`FlowShard`] by flows, with [`Handover`] between them. [`Sequence`] classifies the sequence numbers of
//! one stream.
//!
//! Reading order: `collector`, `intake`, then `ledger` (did every report arrive?), `report` (what does it
//! contain?) and `correlate` (what do reports show together?), which maintains the `network`, which is
//! `flows`, `paths` and `ports`, and passes it to the detectors in `detect`, one for each subject of events.
//! Every event passes the `book`, which tracks the active ones; `timeline` is the time of day. The types of
//! the views are in [`inband_model::api`].

mod book;
mod collector;
mod correlate;
mod deadlines;
mod detect;
mod due;
mod flow_shard;
mod flows;
mod handover;
mod intake;
mod ledger;
mod network;
mod outbox;
mod paths;
mod ports;
mod purge;
mod records;
mod report;
mod report_name;
mod settings;
mod share;
mod sighting;
mod sketch;
mod snapshot;
mod stream_shard;
mod timeline;

pub use collector::{Collector, Overflows};
// The detectors of the register name their settings.
pub use detect::*;
pub use flow_shard::FlowShard;
pub use handover::Handover;
pub use inband_model::api::{
    FlowPathView, FlowView, LatencySummary, LevelView, LinkView, NodeView, PortView, QueueView, TopologyView,
};
pub use inband_model::{GivenLink, Output};
pub use ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};
pub use paths::{EdgeInterface, PathSettings};
pub use ports::PortSettings;
pub use report::Fault;
pub use report_name::ReportName;
pub use settings::CollectorSettings;
pub use share::Share;
pub use snapshot::FlowSnapshot;
pub use stream_shard::StreamShard;
