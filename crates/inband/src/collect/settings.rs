//! Reads `collector.toml` and checks it as far as possible without collecting.

use std::ops::RangeInclusive;
use std::path::Path;

use inband::config::{ConfigError, ConfigFile};
use inband_model::{NameList, Names};
use inband_server::Settings;

use super::exports;
use crate::failure::Failure;

/// Reads the settings; without a file the defaults apply.
pub(super) fn read(path: Option<&Path>) -> Result<Settings, Failure> {
    let Some(path) = path else { return Ok(Settings::default()) };
    let file = ConfigFile::read(path)?;
    let settings = file.parse()?;
    check_ranges(&file, &settings)?;
    Ok(settings)
}

/// Reads the settings, and checks the outputs.
pub(crate) fn read_checked(path: &Path) -> Result<Settings, Failure> {
    let settings = read(Some(path))?;
    exports::check(&settings)?;
    Ok(settings)
}

/// Reads `names.toml`; without a file nothing has a name.
pub(crate) fn read_names(path: &Path) -> Result<Names, Failure> {
    if path.as_os_str().is_empty() {
        return Ok(Names::default());
    }
    Ok(Names::new(name_list(&ConfigFile::read(path)?)?))
}

/// The contents of a names file, in which nothing is named twice.
pub(crate) fn name_list(file: &ConfigFile) -> Result<NameList, ConfigError> {
    let list: NameList = file.parse()?;
    match list.repeated() {
        Some(repeated) => Err(file.mistake_at(repeated.table, &format!("{repeated} is given twice"))),
        None => Ok(list),
    }
}

/// Checks what the parts of the collector would limit by themselves.
fn check_ranges(file: &ConfigFile, settings: &Settings) -> Result<(), ConfigError> {
    let within = |key: &str, value: u64, range: RangeInclusive<u64>, expected: &str| {
        if range.contains(&value) {
            return Ok(());
        }
        Err(file.mistake_at(key, &format!("{key} is {value}, expected {expected}")))
    };
    within("ledger.reorder_window", settings.ledger.reorder_window.into(), WINDOW, "64 to 65536")?;
    let queue_bytes = u64::try_from(settings.receive.queue_bytes).unwrap_or(u64::MAX);
    within("receive.queue_bytes", queue_bytes, QUEUE, "at least 65536: less may not hold one datagram")
}

/// Sequence numbers.
const WINDOW: RangeInclusive<u64> = 64..=65_536;
/// Bytes.
const QUEUE: RangeInclusive<u64> = 65_536..=u64::MAX;

#[cfg(test)]
mod tests;
