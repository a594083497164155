//! What telemetry reports say: sequence ledger, correlation, paths.
//!
//! [`Collector`] is the whole of it: datagrams and time go in, observations and events come out.
//! [`Sequence`] is the part that judges the sequence numbers of one stream.

mod collector;
mod deadlines;
mod ledger;
mod outbox;
mod report;
mod settings;

pub use collector::{Collector, Overflows};
pub use ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};
pub use outbox::Output;
pub use report::Fault;
pub use settings::CollectorSettings;
