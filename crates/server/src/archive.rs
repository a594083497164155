//! History as the API asks it, whatever keeps it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use inband_model::Nanos;
use inband_store::{
    Answer, Findings, History, Interface, InterfaceSums, InterfacesQuestion, Limits, LinkQuestion, Naming,
    NoNames, QueryError, Spread, SpreadQuestion, Store, StoreError, Tally,
};

/// A place where history is kept, such as a [`Store`] of this machine.
pub trait Archive: Debug + Send + Sync {
    /// History at this moment, which later writes do not change.
    ///
    /// # Errors
    /// It cannot be read.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// What keeps history from being written, in words; `None` while it is written.
    fn trouble(&self) -> Option<String>;

    /// What became of the reports that were to be kept.
    fn tally(&self) -> Tally;

    /// How long rows of a table are kept.
    fn retains(&self, table: &str) -> Duration;

    /// Most bytes that are kept.
    fn max_bytes(&self) -> u64;

    /// The directory for what people say of events; `None`: that holds until the end of the run.
    fn directory(&self) -> Option<&Path>;
}

/// History at one moment.
pub trait Snapshot {
    /// Answers one question in SQL, whose functions of names give `names`.
    ///
    /// # Errors
    /// The question is wrong or costs too much, or history cannot be read.
    fn query_named(&self, sql: &str, limits: Limits, names: &Arc<dyn Naming>) -> Result<Answer, QueryError>;

    /// Answers one question in SQL, in which nothing has a name.
    ///
    /// # Errors
    /// The question is wrong or costs too much, or history cannot be read.
    fn query(&self, sql: &str, limits: Limits) -> Result<Answer, QueryError> {
        let nobody: Arc<dyn Naming> = Arc::new(NoNames);
        self.query_named(sql, limits, &nobody)
    }

    /// How a value of hops is spread.
    ///
    /// # Errors
    /// It takes longer than the limits allow, or history cannot be read.
    fn spread(&self, question: &SpreadQuestion, limits: Limits) -> Result<Spread, QueryError>;

    /// How the times over a link are spread.
    ///
    /// # Errors
    /// It takes longer than the limits allow, or history cannot be read.
    fn link_spread(&self, question: &LinkQuestion, limits: Limits) -> Result<Spread, QueryError>;

    /// What egress interfaces were like.
    ///
    /// # Errors
    /// It costs more than the limits allow, or history cannot be read.
    fn interfaces(
        &self,
        question: &InterfacesQuestion,
        limits: Limits,
    ) -> Result<BTreeMap<Interface, InterfaceSums>, QueryError>;

    /// What is damaged, and so left out of every answer.
    fn findings(&self) -> Findings;

    /// When the oldest of it begins; `None`: nothing is old.
    fn oldest(&self) -> Option<Nanos>;

    /// When the oldest of a table begins, to the hour; `None`: nothing of it is old.
    fn oldest_of(&self, table: &str) -> Option<Nanos>;

    /// How much is kept, bytes.
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
    fn query_named(&self, sql: &str, limits: Limits, names: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
        self.query_named(sql, limits, names)
    }

    fn spread(&self, question: &SpreadQuestion, limits: Limits) -> Result<Spread, QueryError> {
        self.spread(question, limits)
    }

    fn link_spread(&self, question: &LinkQuestion, limits: Limits) -> Result<Spread, QueryError> {
        self.link_spread(question, limits)
    }

    fn interfaces(
        &self,
        question: &InterfacesQuestion,
        limits: Limits,
    ) -> Result<BTreeMap<Interface, InterfaceSums>, QueryError> {
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
