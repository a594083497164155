//! What telemetry reports say: sequence ledger, correlation, paths.
//!
//! [`Collector`] is the whole of it: datagrams and time go in, observations and events come out.
//! [`Sequence`] is the part that judges the sequence numbers of one stream.
//!
//! Reading order: `collector`, then `ledger` (did every report arrive?), `report` (what does it say?) and
//! `correlate` (what do they say together?), which keeps `flows`, `paths` and `ports`.

mod book;
mod collector;
mod correlate;
mod deadlines;
mod flows;
mod ledger;
mod outbox;
mod paths;
mod ports;
mod records;
mod report;
mod settings;
mod sketch;
mod views;

pub use collector::{Collector, Overflows};
pub use correlate::PathSettings;
pub use ledger::{Arrival, LedgerSettings, LossSettings, Sequence, SequenceSpace};
pub use outbox::Output;
pub use ports::{CongestionSettings, PortSettings, SpikeSettings};
pub use report::Fault;
pub use settings::{CollectorSettings, EventSettings};
pub use sketch::LatencySummary;
pub use views::{FlowPathView, FlowView, LevelView, LinkView, NodeView, PortView, QueueView, TopologyView};
