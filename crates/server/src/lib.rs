//! How do reports come in and answers go out?
//!
//! Reading order: `settings`, then `receive` (datagrams off the socket, stamped and counted) and `pipeline` (what is
//! done with them: `keep` stores it, `live` shows it as it comes, `export` sends it elsewhere; `recent` has the newest
//! datagrams, out of which `evidence` takes what events rest on). `api` answers, with the
//! `names` people use; `archive` is history as it asks it. `trust` says which servers are trusted, `sys` holds the system calls.

mod api;
mod archive;
mod clock;
mod evidence;
mod export;
mod keep;
mod live;
mod metrics;
mod names;
mod pipeline;
mod quantity;
mod read_model;
mod receive;
mod recent;
mod settings;
mod sys;
mod trust;

pub use api::{Api, ApiError, Listening, TlsError};
pub use archive::{Archive, Snapshot};
pub use clock::{Clock, ClockStep};
pub use evidence::EvidenceCounts;
pub use export::{
    ExportError, ExportSettings, Exports, JsonlSettings, KafkaProperty, KafkaSettings, NatsSettings,
    OtlpSettings, Topic, WebhookKind, WebhookSettings,
};
pub use keep::Keep;
pub use live::Live;
pub use names::{HostName, InterfaceName, Labels, NameList, Names, NodeName, SubnetName};
pub use pipeline::{Asker, ClockView, Outcome, Pipeline, Sight, Stage, Unanswered};
pub use receive::{Batch, Feed, Prefix, PrefixError, Reception, ReceptionCounts, ReceptionError, Replay};
pub use settings::{ApiSettings, HistorySettings, NameSettings, ProcessSettings, ReceiveSettings, Settings};
pub use trust::{Authorities, agent};
