//! The requirements of the specifications, in our own words.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::problem::Problem;
use crate::source::files;

/// The folder of the requirements, with one folder for each document.
const FOLDER: &str = "spec/requirements";

/// How strongly a statement binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Must,
    Should,
    May,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        })
    }
}

/// The part of the work a requirement belongs to; only an encapsulation may be left unbuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    Encapsulation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Status {
    #[serde(rename = "not built")]
    NotBuilt,
}

/// One normative statement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirement {
    /// The name of its file and a number: `md-07`, cited as `int-2.1/md-07`.
    pub id: String,
    pub level: Level,
    /// The title of the section that states it.
    pub section: String,
    pub text: String,
    /// Why it is not followed, or whom it binds instead.
    pub exception: Option<String>,
    pub scope: Option<Scope>,
    pub status: Option<Status>,
    /// Why the status is what it is.
    pub reason: Option<String>,
}

impl Requirement {
    /// True when code and a test have to cite it.
    pub(super) fn needs_citation(&self) -> bool {
        self.level == Level::Must && self.exception.is_none() && self.status.is_none()
    }
}

/// The requirements of one section file.
#[derive(Debug)]
pub(super) struct Section {
    /// Relative to the workspace root.
    pub path: String,
    /// The file's name without its extension; each id starts with it.
    pub name: String,
    pub requirements: Vec<Requirement>,
}

/// The requirements of one specification, by section file.
#[derive(Debug)]
pub(super) struct Document {
    /// The folder's name: `int-2.1`.
    pub name: String,
    pub sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    requirement: Vec<Requirement>,
}

/// Reads every document; a file that cannot be parsed is a problem, and its requirements are missing.
///
/// # Errors
/// A folder or a file cannot be read.
pub(super) fn read_all(root: &Path) -> Result<(Vec<Document>, Vec<Problem>)> {
    let (mut documents, mut problems) = (Vec::<Document>::new(), Vec::new());
    for file in files(&root.join(FOLDER), &["toml"])? {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let Some((folder, name)) = names(&path) else {
            problems.push(Problem::new(
                path,
                "a requirement file is spec/requirements/<document>/<section>.toml",
            ));
            continue;
        };
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {path}"))?;
        let requirements = match toml::from_str::<File>(&text) {
            Ok(file) => file.requirement,
            Err(error) => {
                problems.push(Problem::new(path, error.to_string().trim_end()));
                continue;
            }
        };
        let section = Section { name: name.into(), requirements, path: path.clone() };
        match documents.last_mut().filter(|document| document.name == folder) {
            Some(document) => document.sections.push(section),
            None => documents.push(Document { name: folder.into(), sections: vec![section] }),
        }
    }
    Ok((documents, problems))
}

/// Document and section of `spec/requirements/<document>/<section>.toml`.
fn names(path: &str) -> Option<(&str, &str)> {
    let (document, file) = path.strip_prefix(FOLDER)?.strip_prefix('/')?.split_once('/')?;
    let section = file.strip_suffix(".toml")?;
    (!section.contains('/')).then_some((document, section))
}
