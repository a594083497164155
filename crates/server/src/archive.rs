//! The interface through which the API queries history.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use inband_model::Nanos;
use inband_store::{
    Answer, Findings, History, Interfaces, InterfacesQuestion, Limits, LinkQuestion, Naming, NoNames,
    QueryError, Sizes, SizesQuestion, Spread, SpreadQuestion, Store, StoreError, Tally,
};

/// A place where history is kept, such as a local [`Store`].
pub trait Archive: Debug + Send + Sync {
    /// History at this moment, unaffected by later writes.
    ///
    /// # Errors
    /// History cannot be read.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Why history is not being written, in words; `None` while it is.
    fn trouble(&self) -> Option<String>;

    /// Counts of the reports to store, by outcome.
    fn tally(&self) -> Tally;

    /// How long rows of a table are kept.
    fn retains(&self, table: &str) -> Duration;

    /// Maximum number of bytes kept.
    fn max_bytes(&self) -> u64;

    /// The directory for silences and acknowledgements; `None`: they last until the end of the run.
    fn directory(&self) -> Option<&Path>;
}

/// History at one moment.
pub trait Snapshot: Sync {
    /// Ends queries soon after `stop` is set; an archive may ignore it.
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        drop(stop);
    }

    /// Answers one SQL query, whose name functions use `names`.
    ///
    /// # Errors
    /// The query is invalid or costs too much, or history cannot be read.
    fn query_named(&self, sql: &str, limits: Limits, names: &Arc<dyn Naming>) -> Result<Answer, QueryError>;

    /// Answers one SQL query without names.
    ///
    /// # Errors
    /// The query is invalid or costs too much, or history cannot be read.
    fn query(&self, sql: &str, limits: Limits) -> Result<Answer, QueryError> {
        let nobody: Arc<dyn Naming> = Arc::new(NoNames);
        self.query_named(sql, limits, &nobody)
    }

    /// The distribution of a value of hops.
    ///
    /// # Errors
    /// It takes longer than the limits allow, or history cannot be read.
    fn spread(&self, question: &SpreadQuestion, limits: Limits) -> Result<Spread, QueryError>;

    /// Counts by size from the sketches of a roll-up.
    ///
    /// # Errors
    /// It takes longer than the limits allow, or history cannot be read.
    fn sizes(&self, question: &SizesQuestion, limits: Limits) -> Result<Sizes, QueryError>;

    /// The distribution of link latencies.
    ///
    /// # Errors
    /// It takes longer than the limits allow, or history cannot be read.
    fn link_spread(&self, question: &LinkQuestion, limits: Limits) -> Result<Spread, QueryError>;

    /// Values of egress interfaces.
    ///
    /// # Errors
    /// It costs more than the limits allow, or history cannot be read.
    fn interfaces(&self, question: &InterfacesQuestion, limits: Limits) -> Result<Interfaces, QueryError>;

    /// Damaged parts, left out of every answer.
    fn findings(&self) -> Findings;

    /// Start of the oldest data; `None` if there is none.
    fn oldest(&self) -> Option<Nanos>;

    /// Start of the oldest data of a table, to the hour; `None` if there is none.
    fn oldest_of(&self, table: &str) -> Option<Nanos>;

    /// Size of the data, bytes.
    fn bytes(&self) -> u64;
}

impl Archive for Store {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(self.history()?))
    }

    fn trouble(&self) -> Option<String> {
        self.trouble()
    }

    fn tally(&self) -> Tally {
        self.tally()
    }

    fn retains(&self, table: &str) -> Duration {
        self.retains(table)
    }

    fn max_bytes(&self) -> u64 {
        self.max_bytes()
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.path())
    }
}

impl Snapshot for History {
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop_when(stop);
    }

    fn query_named(&self, sql: &str, limits: Limits, names: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
        self.query_named(sql, limits, names)
    }

    fn spread(&self, question: &SpreadQuestion, limits: Limits) -> Result<Spread, QueryError> {
        self.spread(question, limits)
    }

    fn sizes(&self, question: &SizesQuestion, limits: Limits) -> Result<Sizes, QueryError> {
        self.sizes(question, limits)
    }

    fn link_spread(&self, question: &LinkQuestion, limits: Limits) -> Result<Spread, QueryError> {
        self.link_spread(question, limits)
    }

    fn interfaces(&self, question: &InterfacesQuestion, limits: Limits) -> Result<Interfaces, QueryError> {
        self.interfaces(question, limits)
    }

    fn findings(&self) -> Findings {
        self.findings()
    }

    fn oldest(&self) -> Option<Nanos> {
        self.oldest()
    }

    fn oldest_of(&self, table: &str) -> Option<Nanos> {
        self.oldest_of(table)
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}
