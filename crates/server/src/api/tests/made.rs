//! An archive whose history is what a test says.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use inband_model::Nanos;
use inband_store::{
    Answer, Cell, Findings, Interfaces, InterfacesQuestion, Limits, LinkQuestion, Naming, QueryError, Sizes,
    SizesQuestion, Spread, SpreadQuestion, StoreError, Tally,
};

use super::System;
use crate::archive::{Archive, Snapshot};
use crate::settings::ApiSettings;

/// What an archive answers; nothing by default.
pub(super) trait Answers: Debug + Send + Sync + 'static {
    /// The rows for a query; `stop` is set when the caller has gone.
    fn rows(&self, _sql: &str, _stop: &AtomicBool) -> Vec<Vec<Cell>> {
        Vec::new()
    }

    fn interfaces(&self) -> Interfaces {
        Interfaces::default()
    }

    fn sizes(&self) -> Sizes {
        Sizes::new()
    }

    fn oldest_of(&self, _table: &str) -> Option<Nanos> {
        None
    }

    fn trouble(&self) -> Option<String> {
        None
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Starts a system with an archive that has these answers.
pub(super) fn start(answers: Arc<impl Answers>) -> System {
    let archive = Arc::new(Made { answers, stop: Arc::default() });
    System::start_of(PathBuf::new(), ApiSettings::default(), archive, Vec::new())
}

/// The archive, and its history at any moment.
#[derive(Debug)]
struct Made<T> {
    answers: Arc<T>,
    stop: Arc<AtomicBool>,
}

impl<T: Answers> Archive for Made<T> {
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(Made { answers: Arc::clone(&self.answers), stop: Arc::default() }))
    }

    fn trouble(&self) -> Option<String> {
        self.answers.trouble()
    }

    fn tally(&self) -> Tally {
        self.answers.tally()
    }

    fn retains(&self, _: &str) -> Duration {
        Duration::from_secs(60)
    }

    fn max_bytes(&self) -> u64 {
        1_000
    }

    fn directory(&self) -> Option<&Path> {
        None
    }
}

impl<T: Answers> Snapshot for Made<T> {
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }

    fn query_named(&self, sql: &str, _: Limits, _: &Arc<dyn Naming>) -> Result<Answer, QueryError> {
        Ok(Answer { rows: self.answers.rows(sql, &self.stop), ..Answer::default() })
    }

    fn spread(&self, _: &SpreadQuestion, _: Limits) -> Result<Spread, QueryError> {
        Ok(Spread::default())
    }

    fn sizes(&self, _: &SizesQuestion, _: Limits) -> Result<Sizes, QueryError> {
        Ok(self.answers.sizes())
    }

    fn link_spread(&self, _: &LinkQuestion, _: Limits) -> Result<Spread, QueryError> {
        Ok(Spread::default())
    }

    fn interfaces(&self, _: &InterfacesQuestion, _: Limits) -> Result<Interfaces, QueryError> {
        Ok(self.answers.interfaces())
    }

    fn findings(&self) -> Findings {
        Findings::default()
    }

    fn oldest(&self) -> Option<Nanos> {
        None
    }

    fn oldest_of(&self, table: &str) -> Option<Nanos> {
        self.answers.oldest_of(table)
    }

    fn bytes(&self) -> u64 {
        self.answers.bytes()
    }
}
