//! The drop reason codes of a device.

use inband_wire::drop_reason::Table;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// `[drop_reasons]`: the meaning of drop reason codes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropReasonsConfig {
    /// The numbering the device follows; default `sd-fabric-1.1`.
    #[serde(deserialize_with = "table")]
    pub table: Table,
    /// The device's own reasons; they override those of the table.
    #[serde(rename = "reason")]
    pub reasons: Vec<ReasonConfig>,
}

/// `[[drop_reasons.reason]]`: one reason of the device's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasonConfig {
    /// The code in reports.
    pub code: u8,
    /// A short name.
    pub name: String,
    /// What happened to the packet.
    #[serde(default)]
    pub meaning: String,
    /// A hint for troubleshooting.
    #[serde(default)]
    pub check: String,
    /// Whether the drop was caused by a full queue; default false.
    #[serde(default)]
    pub tail_drop: bool,
}

fn table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
    let name = String::deserialize(deserializer)?;
    Table::by_name(&name).ok_or_else(|| {
        let names: Vec<_> = Table::ALL.iter().map(|table| format!("`{}`", table.name())).collect();
        D::Error::custom(format_args!("unknown table `{name}`, expected one of {}", names.join(", ")))
    })
}
