//! The collector's server: reports in, answers out.
//!
//! [`Monitor`] is the complete system, with one start and one stop.
//!
//! Reading order: `settings`, `monitor`, then `receive` (datagrams read from the socket, stamped and counted)
//! and `pipeline` (how they are processed: `keep` stores the results, `live` streams them; `recent` holds the
//! newest datagrams, in which `evidence` finds the reports that events are based on). `api` answers, with
//! names beside numbers (`named`), and queries history through `archive`. `sys` holds the system calls.

mod api;
mod archive;
mod capture_clock;
mod clock;
mod evidence;
mod keep;
mod live;
mod metrics;
mod monitor;
mod named;
mod pipeline;
mod processor_time;
mod read_model;
mod receive;
mod recent;
mod settings;
mod sys;
mod windows;

pub use api::{Api, ApiError, Listening, TlsError};
pub use archive::{Archive, Snapshot};
pub use clock::{Clock, ClockStep};
pub use evidence::EvidenceCounts;
pub use keep::Keep;
pub use live::Live;
pub use metrics::CollectorMetrics;
pub use monitor::{Monitor, MonitorError, MonitorParts, Stopped};
pub use pipeline::{Asker, ClockView, Outcome, Pipeline, ProcessorTime, Sight, Unanswered};
pub use receive::{Batch, Feed, Reception, ReceptionCounts, ReceptionError, Replay};
pub use settings::{ApiSettings, HistorySettings, NameSettings, ProcessSettings, ReceiveSettings, Settings};
pub use windows::Windows;
