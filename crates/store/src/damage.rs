//! Damage found in the files of a store, and left out of answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use inband_model::api::Damage;

/// What reading files has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Damaged places, each once, at most 1,000.
    pub damage: BTreeSet<Damage>,
    /// Further damaged places, counted at each encounter.
    pub unlisted: u64,
    /// Segments of earlier versions, without checksums: damage in them may go unnoticed.
    pub unverified: BTreeSet<PathBuf>,
}

impl Findings {
    /// Whether anything is left out.
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

/// Where findings are recorded: for the current question, and for longer-lived holders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    own: Arc<Mutex<Findings>>,
    others: Vec<Arc<Mutex<Findings>>>,
}

impl Notes {
    /// Notes for one question, starting with the findings recorded here; new ones are recorded in both.
    pub(crate) fn for_question(&self) -> Self {
        let own = Arc::new(Mutex::new(self.findings()));
        let others = [&self.own].into_iter().chain(&self.others).cloned().collect();
        Self { own, others }
    }

    /// Empty notes whose findings are recorded here too.
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
    // Findings are valid at any time.
    findings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum places and files that are listed.
const MAX_LISTED: usize = 1_000;
