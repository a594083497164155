//! Silences and acknowledgements, kept across restarts.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use inband_model::{Acknowledgement, EventId, EventView, Nanos, Silence};
use serde::{Deserialize, Serialize};

/// Silences and acknowledgements, in memory and in a file.
#[derive(Debug)]
pub(super) struct SaidStore {
    /// `None` if nothing is kept.
    file: Option<PathBuf>,
    said: Mutex<Said>,
    /// Held while the file is written, so that an older state does not overwrite a newer one.
    writing: Mutex<()>,
}

/// Silences and acknowledgements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    /// Silences added through the API, with their numbers.
    pub(super) silences: Vec<(u64, Silence)>,
    /// The latest [`MAX_ACKNOWLEDGED`], newest last.
    acknowledged: Vec<(EventId, Acknowledgement)>,
}

impl SaidStore {
    /// Reads the file in a store's directory; empty if there is none.
    ///
    /// # Errors
    /// The file cannot be read, or has other content.
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, (PathBuf, io::Error)> {
        let file = directory.map(|directory| directory.join(FILE_NAME));
        let said = match &file {
            None => Said::default(),
            Some(path) => match fs::read(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Said::default(),
                read => read
                    .and_then(|bytes| serde_json::from_slice(&bytes).map_err(io::Error::from))
                    .map_err(|error| (path.clone(), error))?,
            },
        };
        Ok(Self { file, said: Mutex::new(said), writing: Mutex::default() })
    }

    /// The silences in force at `now`, with their numbers.
    pub(super) fn silences(&self, now: Nanos) -> Vec<(u64, Silence)> {
        let mut said = self.said();
        said.silences.retain(|(_, silence)| silence.until.is_none_or(|until| until > now));
        said.silences.clone()
    }

    /// Replaces the silences, with their new numbers.
    pub(super) fn renumber(&self, silences: Vec<(u64, Silence)>) {
        self.said().silences = silences;
    }

    pub(super) fn add_silence(&self, now: Nanos, number: u64, silence: Silence) {
        let mut said = self.said();
        // Expired silences make room, as in the collector.
        said.silences.retain(|(_, silence)| silence.until.is_none_or(|until| until > now));
        said.silences.push((number, silence));
    }

    pub(super) fn lift_silence(&self, number: u64) {
        self.said().silences.retain(|(known, _)| *known != number);
    }

    pub(super) fn acknowledge(&self, id: EventId, acknowledgement: Acknowledgement) {
        let mut said = self.said();
        said.acknowledged.retain(|(known, _)| *known != id);
        let surplus = (said.acknowledged.len() + 1).saturating_sub(MAX_ACKNOWLEDGED);
        said.acknowledged.drain(..surplus);
        said.acknowledged.push((id, acknowledgement));
    }

    /// Adds acknowledgements to events.
    pub(super) fn note(&self, views: &mut [EventView]) {
        let said = self.said();
        for view in views.iter_mut().filter(|view| view.acknowledged.is_none()) {
            let known = said.acknowledged.iter().rev().find(|(id, _)| *id == view.id);
            view.acknowledged = known.map(|(_, acknowledgement)| acknowledgement.clone());
        }
    }

    /// Writes the file durably: it always holds either the old or the new content.
    pub(super) fn save(&self) -> io::Result<()> {
        let Some(path) = &self.file else { return Ok(()) };
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = serde_json::to_vec(&*self.said())?;
        let unfinished = path.with_extension("tmp");
        let mut file = File::create(&unfinished)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        match path.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        // Each change is complete.
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the file in the store's directory.
const FILE_NAME: &str = "said.json";
/// Maximum number of acknowledgements kept.
const MAX_ACKNOWLEDGED: usize = 4_096;

#[cfg(test)]
mod tests {
    use inband_model::{Acknowledgement, EventId, Nanos, Silence};

    use super::{FILE_NAME, MAX_ACKNOWLEDGED, SaidStore};

    #[test]
    fn what_was_said_is_read_again_and_bounded() {
        let folder = std::env::temp_dir().join(format!("inband-said-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let said = SaidStore::open(Some(&folder)).unwrap();
        let until = |until| Silence { until: Some(Nanos(until)), ..Silence::default() };
        said.add_silence(Nanos(1), 4, until(10));
        said.add_silence(Nanos(1), 7, until(20));
        said.add_silence(Nanos(1), 9, Silence::default());
        said.lift_silence(9);
        for id in 0..MAX_ACKNOWLEDGED as u64 + 5 {
            let by = "me".to_owned();
            said.acknowledge(EventId(id), Acknowledgement { by, comment: String::new(), at: Nanos(id) });
        }
        said.save().unwrap();

        let again = SaidStore::open(Some(&folder)).unwrap();
        assert_eq!(again.silences(Nanos(15)), [(7, until(20))]);
        let acknowledged = again.said().acknowledged.clone();
        assert_eq!((acknowledged.len(), acknowledged[0].0), (MAX_ACKNOWLEDGED, EventId(5)));

        std::fs::write(folder.join(FILE_NAME), "{\"silences\":").unwrap();
        assert!(SaidStore::open(Some(&folder)).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
