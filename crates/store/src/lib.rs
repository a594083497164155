//! History: its storage on disk, and questions to it.
//!
//! A [`Store`] accepts batches of what the collector concludes, without blocking the caller. A batch is
//! durable once it is in the log; from time to time a log becomes segments: Parquet files in hourly
//! directories, readable by any Parquet tool. [`History`] reads segments and logs, even while a store writes.
//!
//! The tables are those of `inband_model::table`; this crate has no others.

mod ahead;
mod answer_file;
mod batch;
mod both_ends;
mod budget;
mod bursts;
mod civil;
mod damage;
mod decoded;
mod direct;
mod disk;
mod error;
mod flusher;
mod footers;
mod frame;
mod history;
mod interfaces;
mod layout;
mod link_spread;
mod listing;
mod log;
mod memory;
mod merge;
mod mixer;
mod order;
mod place;
mod quantile;
mod question;
mod range;
mod retention;
mod roll_ups;
#[cfg(test)]
mod sample;
mod seconds;
mod segment;
mod settings;
mod shortage;
mod sizes;
mod sketch;
mod source;
mod span;
mod spread;
mod sql;
mod store;
mod sys;
mod tally;
mod today;
mod trouble;
mod vector;
mod view;
mod writer;

pub use batch::Batch;
pub use damage::{Damage, Findings};
pub use direct::{FlowHop, NodeLatency, StoredPath};
pub use disk::{Disk, LogFile, RealDisk};
pub use error::StoreError;
pub use frame::{HEADER_BYTES as FRAME_HEADER_BYTES, TooLarge, put_frame, split_frame};
pub use history::{Chunk, ColumnData, History, Texts, Value};
pub use interfaces::{Interface, InterfaceSums, Interfaces, InterfacesOf, InterfacesQuestion};
pub use link_spread::LinkQuestion;
pub use question::{Answer, Cell, Limits, QueryError};
pub use range::TimeRange;
pub use settings::StoreSettings;
pub use shortage::is_shortage;
pub use sizes::{Sizes, SizesOf, SizesQuestion};
pub use sketch::Sketch;
pub use spread::{Spread, SpreadQuestion};
pub use sql::names::{Naming, NoNames};
pub use store::{Offered, Store};
pub use tally::Tally;
pub use view::Reader;
