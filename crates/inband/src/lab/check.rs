//! Checks a topology's configuration files as the programs of the lab will read them.

use std::path::Path;

use anyhow::anyhow;
use inband::config::ConfigFile;
use inband_host::HostSettings;
use inband_lab::Lab;
use inband_lab::lab::{File, FileKind};
use inband_model::NameList;
use inband_node::{Node, NodeConfig};
use inband_server::Settings;

use crate::failure::Failure;

/// Reads every file of a lab.
pub(super) fn check(path: &Path, lab: &Lab) -> Result<(), Failure> {
    for file in lab.files(&[]) {
        read(&file).map_err(|message| {
            Failure::Usage(anyhow!("{}: the configuration of `{}`: {message}", path.display(), file.node))
        })?;
    }
    Ok(())
}

fn read(file: &File) -> Result<(), String> {
    let text = ConfigFile::of_text(Path::new(&format!("{}.toml", file.node)), &file.text);
    match file.kind {
        FileKind::Switch => {
            let config = text.parse::<NodeConfig>().map_err(|error| error.to_string())?;
            Node::new(&config).map_err(|error| error.to_string())?;
            inband_switch::check(&config).map_err(|error| error.to_string())
        }
        FileKind::Host => {
            let settings = text.parse::<HostSettings>().map_err(|error| error.to_string())?;
            settings.check().map_err(|error| error.to_string())
        }
        FileKind::Collector => text.parse::<Settings>().map(drop).map_err(|error| error.to_string()),
        FileKind::Names => text.parse::<NameList>().map(drop).map_err(|error| error.to_string()),
    }
}
