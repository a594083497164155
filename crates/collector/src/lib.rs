//! What telemetry reports say: sequence ledger, correlation, paths, events.
//!
//! [`Collector`] is the whole of it: datagrams and time go in, observations and events come out.
//! [`Sequence`] is the part that judges the sequence numbers of one stream.
//!
//! Reading order: `collector`, then `ledger` (did every report arrive?), `report` (what does it say?) and
//! `correlate` (what do they say together?), which keeps `flows`, `paths` and `ports`. What else can be wrong has a module
//! each: `drops`, `silent`, `numbers`, `policy`, and the detectors listed in `detect`. Every event passes the `book`, which knows of those
//! that go on; `views` is what can be asked, `timeline` the time of day.

mod book;
mod collector;
mod correlate;
mod deadlines;
mod detect;
mod drops;
mod flows;
mod history;
mod ledger;
mod numbers;
mod outbox;
mod paths;
mod policy;
mod ports;
mod records;
mod report;
mod settings;
mod silent;
mod sketch;
mod timeline;
mod views;

pub use collector::{Collector, Overflows};
pub use correlate::{EdgeInterface, LoopSettings, NewFlowSettings, PathSettings};
// The list of detectors names their settings.
pub use detect::*;
pub use drops::{DropReasonSettings, DropSettings};
pub use ledger::{Arrival, LedgerSettings, LossSettings, Sequence, SequenceSpace};
pub use numbers::NumberSettings;
pub use outbox::Output;
pub use paths::{ClockSettings, GivenLink};
pub use policy::{PathRule, Prefix, PrefixError, RuleView, Verdict};
pub use ports::{
    CongestionSettings, CulpritSettings, LatencyChangeSettings, LatencyObjectiveSettings, MicroburstSettings,
    PortSettings, SpikeSettings,
};
pub use report::Fault;
pub use settings::CollectorSettings;
pub use silent::SilentLossSettings;
pub use sketch::LatencySummary;
pub use views::{FlowPathView, FlowView, LevelView, LinkView, NodeView, PortView, QueueView, TopologyView};
