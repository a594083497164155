//! The nouns of INT after decoding: node, flow, hop, path, observation, event, ledger.
//!
//! Everything here is owned and serialisable, and depends on no other crate of the project: collector, store
//! and server share these types.

pub mod api;
mod balance;
mod event;
mod event_id;
mod event_kinds;
mod flow;
mod given_link;
mod hop;
mod hop_columns;
mod ledger;
mod names;
mod nanos;
mod node_id;
mod observation;
mod output;
mod path;
mod prefix;
pub mod quantity;
mod record;
mod repeated;
mod report_bytes;
mod report_record;
mod silence;
pub mod table;
mod units;

pub use balance::{highest_to_mean_permille, jain_permille};
pub use event::{Acknowledgement, Confidence, EndReason, Event, EventView, Phase, ReportReference, Severity};
pub use event_id::EventId;
// The list of kinds determines the names.
pub use event_kinds::*;
pub use flow::{Flow, FlowId};
pub use given_link::GivenLink;
pub use hop::Hop;
pub use hop_columns::{HopColumns, HopField, HopFields, Values};
pub use ledger::{ExportLedger, FaultCount, Ledger, LedgerView, RefusedSource, SocketLedger, StreamLedger};
pub use names::{HostName, InterfaceName, Labels, NameList, Names, NodeName, SubnetName};
pub use nanos::Nanos;
pub use node_id::NodeId;
pub use observation::{HopLatencyObservation, Observation, Origin, PathObservation, QueueDepthObservation};
pub use output::Output;
pub use path::{Path, PathId};
pub use prefix::{Prefix, PrefixError};
pub use record::{HopRecord, ReportVersion};
pub use repeated::Repeated;
pub use report_bytes::{ReportBytes, from_hex, to_hex};
pub use report_record::ReportRecord;
pub use silence::Silence;
pub use units::{NodeUnits, Occupancy, QueueUnit, Tick, TickError, Units};
