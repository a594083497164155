//! The contents of a `case.toml`: title, section, and steps.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::at;

/// One golden directory's description.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The subject of the directory, for readers.
    #[serde(rename = "title")]
    _title: String,
    /// The section and document it follows, for readers.
    #[serde(rename = "section")]
    _section: String,
    /// Inputs outside the directory, relative to it.
    #[serde(default)]
    inputs: Vec<PathBuf>,
    /// The steps, in order.
    #[serde(rename = "step")]
    pub(crate) steps: Vec<Step>,
}

/// One run of the program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The program's arguments.
    pub(crate) run: Vec<String>,
    /// The expected exit code; default 0.
    #[serde(default)]
    pub(crate) exit: i32,
    /// The file with the expected output; without it the output must be empty.
    pub(crate) stdout: Option<String>,
    /// A required substring of stderr; must be given if the exit code is not 0.
    pub(crate) message: Option<String>,
    /// Captures the step writes, `NAME.pcap`; expected in `NAME.hex`.
    #[serde(default)]
    pub(crate) writes: Vec<String>,
}

impl Case {
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let path = directory.join("case.toml");
        let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        toml::from_str(&text).map_err(|error| at(&path, &error))
    }

    /// Every file the steps may read: all that are not produced by a step.
    pub(crate) fn inputs(&self, directory: &Path) -> Result<Vec<PathBuf>, String> {
        let expectations: Vec<PathBuf> = self
            .steps
            .iter()
            .flat_map(|step| {
                let captures = step.writes.iter().map(|name| Path::new(name).with_extension("hex"));
                captures.chain(step.stdout.iter().map(PathBuf::from))
            })
            .chain([PathBuf::from("case.toml")])
            .map(|name| directory.join(name))
            .collect();
        let mut inputs: Vec<_> = self.inputs.iter().map(|input| directory.join(input)).collect();
        for entry in fs::read_dir(directory).map_err(|error| at(directory, &error))? {
            let path = entry.map_err(|error| at(directory, &error))?.path();
            if !expectations.contains(&path) {
                inputs.push(path);
            }
        }
        Ok(inputs)
    }
}
