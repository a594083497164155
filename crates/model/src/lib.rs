//! The nouns of INT after decoding: node, flow, hop, path, observation, event, ledger.
//!
//! Everything here is owned and serialisable, and depends on no other crate of the project: collector,
//! store and server meet in these types.

pub mod api;
mod balance;
mod event;
mod event_id;
mod event_kinds;
mod flow;
mod hop;
mod hop_columns;
mod ledger;
mod nanos;
mod node_id;
mod observation;
mod path;
mod record;
mod report_bytes;
mod report_record;
mod silence;
pub mod table;
mod units;

pub use balance::{highest_to_mean_permille, jain_permille};
pub use event::{Acknowledgement, Confidence, EndReason, Event, EventView, Phase, ReportReference, Severity};
pub use event_id::EventId;
// The list of kinds names what there is.
pub use event_kinds::*;
pub use flow::{Flow, FlowId};
pub use hop::Hop;
pub use hop_columns::{HopColumns, HopField, HopFields, Values};
pub use ledger::{ExportLedger, FaultCount, Ledger, LedgerView, RefusedSource, SocketLedger, StreamLedger};
pub use nanos::Nanos;
pub use node_id::NodeId;
pub use observation::{HopLatencyObservation, Observation, Origin, PathObservation, QueueDepthObservation};
pub use path::{Path, PathId};
pub use record::{HopRecord, ReportVersion};
pub use report_bytes::{ReportBytes, from_hex, to_hex};
pub use report_record::ReportRecord;
pub use silence::Silence;
pub use units::{NodeUnits, Occupancy, QueueUnit, Tick, TickError, Units};
