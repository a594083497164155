//! Drop reason codes of a device.

use std::collections::BTreeMap;

use inband_wire::drop_reason::Table;

use crate::config::{DropReasonsConfig, ReasonConfig};
use crate::error::ConfigError;

/// A table of drop reasons, extended by the device's own.
#[derive(Clone, Debug, Default)]
pub struct DropReasons {
    table: Table,
    own: BTreeMap<u8, ReasonConfig>,
}

/// A drop reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropReason<'a> {
    /// A short name.
    pub name: &'a str,
    /// What happened to the packet; may be empty.
    pub meaning: &'a str,
    /// A hint for troubleshooting; may be empty.
    pub check: &'a str,
}

impl DropReasons {
    /// The unmodified table.
    #[must_use]
    pub const fn of_table(table: Table) -> Self {
        Self { table, own: BTreeMap::new() }
    }

    /// The configured table and reasons.
    ///
    /// # Errors
    /// A code that is given twice.
    pub fn new(config: &DropReasonsConfig) -> Result<Self, ConfigError> {
        let mut own = BTreeMap::new();
        for reason in &config.reasons {
            if own.insert(reason.code, reason.clone()).is_some() {
                let (key, value) = ("drop_reasons.reason".to_owned(), format!("code {}", reason.code));
                return Err(ConfigError::Twice { key, value });
            }
        }
        Ok(Self { table: config.table, own })
    }

    /// The reason with this code.
    #[must_use]
    pub fn get(&self, code: u8) -> Option<DropReason<'_>> {
        if let Some(reason) = self.own.get(&code) {
            let ReasonConfig { name, meaning, check, .. } = reason;
            return Some(DropReason { name, meaning, check });
        }
        let reason = self.table.get(code)?;
        Some(DropReason { name: reason.name, meaning: reason.meaning, check: reason.check })
    }

    /// Whether the code means that a queue was full.
    #[must_use]
    pub fn is_tail_drop(&self, code: u8) -> bool {
        self.own.get(&code).map_or(code == self.table.tail_drop(), |reason| reason.tail_drop)
    }
}
