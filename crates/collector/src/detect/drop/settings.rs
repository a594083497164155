//! Settings of drop reasons and blackholes.

use inband_model::Nanos;
use inband_wire::drop_reason::Table;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::paths::EPOCHS;

/// The meaning of drops: `[events.drop]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DropSettings {
    /// The numbering of drop reasons: `sd-fabric-1.1`, `sd-fabric-1.0`, `switch-p4-16` or `p4lang-switch`.
    /// Default `sd-fabric-1.1`.
    #[serde(serialize_with = "write_table", deserialize_with = "read_table")]
    pub table: Table,
    /// Reasons that override those of the table: `[[events.drop.reason]]`. Default: none.
    #[serde(rename = "reason")]
    pub reasons: Vec<DropReasonSettings>,
    /// Milliseconds over which drops at one place for one reason are announced together. Default 1000.
    pub window_ms: u64,
    /// Nanoseconds without a report from beyond the node after which packets that it could not forward count
    /// as blackholed. Default 2,147,483,648: twice 2^30.
    pub blackhole_after_ns: u64,
    /// Places and reasons at the same time; reports beyond that are only counted. Default 4096: about 25 MB.
    pub max_groups: usize,
}

/// A device-specific drop reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropReasonSettings {
    /// The code in reports.
    pub code: u8,
    /// A short name. The endings `-miss`, `-deny` and `ttl-zero` determine the consequence.
    pub name: String,
    /// What to check when it happens.
    #[serde(default)]
    pub check: String,
}

impl Default for DropSettings {
    fn default() -> DropSettings {
        DropSettings {
            table: Table::default(),
            reasons: Vec::new(),
            window_ms: 1_000,
            blackhole_after_ns: 1 << 31,
            max_groups: 4_096,
        }
    }
}

impl DropSettings {
    pub(super) fn window(&self) -> Nanos {
        Nanos::from_millis(self.window_ms)
    }

    pub(super) fn blackhole_after(&self) -> Nanos {
        Nanos(self.blackhole_after_ns)
    }

    /// Time without a report of a drop after which the event of a place ends: reports of one cause may be an
    /// epoch apart, and are announced when their window is over.
    pub(super) fn quiet(&self) -> Nanos {
        self.window() + EPOCHS
    }

    /// Time without a blackholed flow after which the event of a place ends.
    pub(super) fn blackhole_quiet(&self) -> Nanos {
        let judged = self.blackhole_after() + self.window() + self.window();
        judged.max(self.quiet())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn write_table<S: Serializer>(table: &Table, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(table.name())
}

fn read_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
    let name = String::deserialize(deserializer)?;
    Table::by_name(&name).ok_or_else(|| {
        let names: Vec<_> = Table::ALL.iter().map(|table| format!("`{}`", table.name())).collect();
        D::Error::custom(format_args!("unknown table `{name}`, expected one of {}", names.join(", ")))
    })
}
