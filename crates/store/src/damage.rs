//! Damage found in the files of a store: what is left out of answers, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// A part of a file that cannot be trusted. Its rows are left out of answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The part of it, such as `row group 2, column hop_latency`, `footer` or `bytes 1200 to 3400`.
    pub place: String,
    /// What is wrong with it.
    pub cause: String,
    /// Rows that are left out; `None` where the damage hides how many they are.
    pub rows: Option<u64>,
}

impl Damage {
    pub(crate) fn new(
        file: &Path,
        place: impl Into<String>,
        cause: impl fmt::Display,
        rows: Option<usize>,
    ) -> Self {
        let rows = rows.map(|rows| rows as u64);
        Self { file: file.to_owned(), place: place.into(), cause: cause.to_string(), rows }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.file.display(), self.place, self.cause)?;
        match self.rows {
            Some(rows) => write!(f, "; {rows} rows left out"),
            None => write!(f, "; an unknown number of rows left out"),
        }
    }
}

/// What reading files has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Damage, each place once, at most 1,000 of them.
    pub damage: BTreeSet<Damage>,
    /// Places beyond those listed, counted each time they are met.
    pub unlisted: u64,
    /// Segments of earlier versions, which have no checksums: damage in them may go unseen.
    pub unverified: BTreeSet<PathBuf>,
}

impl Findings {
    /// Whether something is left out.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        !self.damage.is_empty()
    }

    fn note(&mut self, damage: &Damage) {
        if self.damage.len() < MAX_LISTED {
            self.damage.insert(damage.clone());
        } else if !self.damage.contains(damage) {
            self.unlisted += 1;
        }
    }
}

/// Where findings are noted: for the question at hand, and for whoever keeps them longer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    own: Arc<Mutex<Findings>>,
    others: Vec<Arc<Mutex<Findings>>>,
}

impl Notes {
    /// Notes for one question, which begin with what is noted here. They are noted here as well.
    pub(crate) fn for_question(&self) -> Self {
        let own = Arc::new(Mutex::new(self.findings()));
        let others = [&self.own].into_iter().chain(&self.others).cloned().collect();
        Self { own, others }
    }

    /// Empty notes that are noted here as well.
    pub(crate) fn below(&self) -> Self {
        let others = [&self.own].into_iter().chain(&self.others).cloned().collect();
        Self { own: Arc::default(), others }
    }

    pub(crate) fn findings(&self) -> Findings {
        open(&self.own).clone()
    }

    pub(crate) fn note(&self, damage: &Damage) {
        for findings in [&self.own].into_iter().chain(&self.others) {
            open(findings).note(damage);
        }
    }

    pub(crate) fn note_unverified(&self, file: &Path) {
        for findings in [&self.own].into_iter().chain(&self.others) {
            let mut findings = open(findings);
            if findings.unverified.len() < MAX_LISTED {
                findings.unverified.insert(file.to_owned());
            }
        }
    }
}

fn open(findings: &Mutex<Findings>) -> MutexGuard<'_, Findings> {
    // Findings are whole at any time.
    findings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Places and files that are listed, at most.
const MAX_LISTED: usize = 1_000;
