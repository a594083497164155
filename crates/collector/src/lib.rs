//! What telemetry reports say: sequence ledger, correlation, paths.
//!
//! [`Collector`] is the whole of it: datagrams and time go in, observations and events come out.
//! [`Sequence`] is the part that judges the sequence numbers of one stream.
//!
//! Reading order: `collector`, then `ledger` (did every report arrive?), `report` (what does it say?) and
//! `correlate` (what do they say together?), which keeps `flows`, `paths` and `ports`.

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

pub use collector::{Collector, Overflows};
pub use correlate::{FlowView, PathSettings};
pub use ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};
pub use outbox::Output;
pub use ports::{CongestionSettings, LatencySummary, PortSettings, PortView, QueueView, SpikeSettings};
pub use report::Fault;
pub use settings::CollectorSettings;
