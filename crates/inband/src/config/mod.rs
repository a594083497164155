//! Reads TOML configuration files; errors name the line and the nearest valid key.

mod names;
mod place;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use thiserror::Error;

use place::Place;

/// Reads the configuration file at `path`.
///
/// # Errors
/// The file cannot be read, is not TOML, or does not fit `T`; one message that names the place.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    ConfigFile::read(path)?.parse()
}

/// A configuration file that has been read, kept to locate errors in it.
#[derive(Debug)]
pub struct ConfigFile {
    path: PathBuf,
    text: String,
}

impl ConfigFile {
    /// Reads the file.
    ///
    /// # Errors
    /// The file cannot be read, is too large, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |what: String| ConfigError::Unreadable { path: path.to_owned(), what };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > LIMIT_BYTES {
            return Err(unreadable(format!("more than {LIMIT_BYTES} bytes")));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path: path.to_owned(), text }),
            Err(error) => Err(unreadable(format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))),
        }
    }

    /// Reads the file's contents as `T`.
    ///
    /// # Errors
    /// The contents are not TOML, or do not fit `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        toml::from_str(&self.text).map_err(|error| self.mistake(error.span(), error.message()))
    }

    /// Describes an error found after parsing, at the value of `key` (`"source.instructions"`) if the file
    /// has it.
    pub fn mistake_at(&self, key: &str, message: &str) -> ConfigError {
        self.mistake(place::find_key(&self.text, key), message)
    }

    /// Describes an error found after parsing, at a byte range of the file; `None`: at no particular place.
    pub fn mistake_in(&self, span: Option<Range<usize>>, message: &str) -> ConfigError {
        self.mistake(span, message)
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A configuration file with the path `path` and the contents `text`.
    #[must_use]
    pub fn of_text(path: &Path, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    fn mistake(&self, span: Option<Range<usize>>, message: &str) -> ConfigError {
        let place = span.as_ref().map(|span| Place::of(&self.text, span));
        // A key that the file itself lacks has an empty place at its start, whatever table begins there.
        let is_of_file = span == Some(0..0);
        let table = place.as_ref().and_then(|place| place.table.as_deref()).filter(|_| !is_of_file);
        let message = names::explain(message, table);
        ConfigError::Mistake(Box::new(Mistake { path: self.path.clone(), place, message }))
    }
}

/// Why a configuration was rejected. The program exits with 2.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read {}: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's message, or what the file is not.
        what: String,
    },
    /// Something in the file is wrong.
    #[error("{0}")]
    Mistake(Box<Mistake>),
}

/// One error: its place, and what would be valid.
#[derive(Debug)]
pub struct Mistake {
    path: PathBuf,
    place: Option<Place>,
    message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.place {
            None => write!(f, "{path}: {}", self.message),
            Some(place) => {
                writeln!(f, "{path}:{}:{}: {}", place.line, place.column, self.message)?;
                place.fmt_quote(f)
            }
        }
    }
}

/// Size limit of a configuration, bytes.
const LIMIT_BYTES: u64 = 16 * 1024 * 1024;

#[cfg(test)]
mod tests;
