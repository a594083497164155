//! The lab's process outside of its nodes: links with delay and loss, and a proxy to the collector's API.

mod proxy;
mod relay;
mod settings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::error::LabError;
use crate::state::write_whole;

pub use relay::{Direction, LinkSettings};
pub use settings::Settings;

/// The measurements of each direction of the links, by `a>b`.
pub type Measured = BTreeMap<String, Direction>;

/// Runs until it is killed; `folder` is the lab's.
///
/// # Errors
/// The settings cannot be read; a device or an address cannot be used.
pub fn run(folder: &Path) -> Result<(), LabError> {
    let path = folder.join(SETTINGS);
    let text = std::fs::read(&path).map_err(LabError::files(&path))?;
    let settings: Settings =
        serde_json::from_slice(&text).map_err(|error| LabError::files(&path)(error.into()))?;
    let proxy =
        proxy::start(&settings).map_err(LabError::kernel(format!("cannot listen on {}", settings.api)))?;
    let mut relays = Vec::new();
    for link in &settings.links {
        let failed = LabError::kernel(format!("cannot relay {} to {}", link.names[0], link.names[1]));
        relays.push(Arc::new(relay::start(&settings.links_namespace, link).map_err(failed)?));
    }
    eprintln!("relaying {} links, the collector's API is on {}", relays.len(), settings.api);
    write_whole(&folder.join(READY), b"").map_err(LabError::files(folder))?;
    loop {
        std::thread::sleep(EVERY);
        let measured: Measured = relays.iter().flat_map(|relay| relay.measured()).collect();
        let text = serde_json::to_vec(&measured).map_err(|error| LabError::files(folder)(error.into()))?;
        // If the folder is gone, the lab is being removed.
        if write_whole(&folder.join(MEASURED), &text).is_err() || proxy.has_failed() {
            return Ok(());
        }
    }
}

/// The measurements of a lab's process; empty before the first ones.
#[must_use]
pub fn measured(folder: &Path) -> Measured {
    let text = std::fs::read(folder.join(MEASURED)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The settings, in the lab's folder.
pub const SETTINGS: &str = "links.json";
/// A file that is created once everything works.
pub const READY: &str = "links.ready";
const MEASURED: &str = "links-measured.json";
const EVERY: Duration = Duration::from_millis(500);
