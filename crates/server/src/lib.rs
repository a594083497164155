//! How do reports come in and answers go out?
//!
//! Reading order: `settings`, then `receive` (datagrams off the socket, stamped and counted) and `pipeline` (what is
//! done with them). `sys` holds the system calls.

mod clock;
mod pipeline;
mod receive;
mod settings;
mod sys;

pub use clock::Clock;
pub use pipeline::{Asker, Outcome, Pipeline, Sight, Stage, Unanswered};
pub use receive::{Batch, Feed, Prefix, PrefixError, Reception, ReceptionCounts, ReceptionError, Replay};
pub use settings::ReceiveSettings;
