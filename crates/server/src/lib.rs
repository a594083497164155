//! How do reports come in and answers go out?
//!
//! [`Monitor`] is the whole of it at work, with one start and one stop.
//!
//! Reading order: `settings`, `monitor`, then `receive` (datagrams off the socket, stamped and counted) and `pipeline` (what is
//! done with them: `keep` stores it, `live` shows it as it comes; `recent` has the newest
//! datagrams, out of which `evidence` takes what events rest on). `api` answers, with the
//! names people use beside numbers (`named`); `archive` is history as it asks it. `sys` holds the system calls.

mod api;
mod archive;
mod clock;
mod evidence;
mod keep;
mod live;
mod metrics;
mod monitor;
mod named;
mod pipeline;
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
pub use pipeline::{Asker, ClockView, Outcome, Pipeline, Sight, Unanswered};
pub use receive::{Batch, Feed, Reception, ReceptionCounts, ReceptionError, Replay};
pub use settings::{ApiSettings, HistorySettings, NameSettings, ProcessSettings, ReceiveSettings, Settings};
pub use windows::Windows;
