//! The observations for other tools: an SQL view over the segments with the columns of `inband query`.

use std::fmt::Write;
use std::path::Path;

use inband_model::table::{Kind, OBSERVATIONS, Shape};

/// A tool that reads segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// `DuckDB`.
    DuckDb,
    /// `ClickHouse` and its Python package.
    ClickHouse,
}

impl Reader {
    /// The statement that creates the view `observations` for the store in a directory.
    ///
    /// Segments store node timestamps as offsets, and segments of version 1 store them directly; the view
    /// reads both.
    #[must_use]
    pub fn view(self, root: &Path) -> String {
        let shape = OBSERVATIONS.shape();
        let columns = shape.columns.iter().map(|(name, ..)| self.column(name));
        let columns = columns.collect::<Vec<_>>().join(",\n  ");
        let root = root.display().to_string().replace('\'', "''");
        let files = self.files(&root, &shape);
        format!("CREATE OR REPLACE VIEW observations AS\nSELECT\n  {columns}\nFROM {files}")
    }

    fn column(self, name: &str) -> String {
        let time = match self {
            Self::DuckDb => "epoch_ns(o.time)",
            Self::ClickHouse => "toUnixTimestamp64Nano(o.time)",
        };
        let anchor = format!("{time} - o.report_delay");
        let egress = format!("coalesce(o.egress_timestamp, {anchor} - o.egress_offset)");
        match name {
            "egress_timestamp" => format!("{egress} AS {name}"),
            "ingress_timestamp" => format!(
                "coalesce(o.ingress_timestamp,\n    greatest(coalesce({egress}, {anchor}, 0) \
                 - coalesce(o.hop_latency, 0), 0) - o.ingress_offset) AS {name}"
            ),
            _ => format!("o.{name} AS {name}"),
        }
    }

    fn files(self, root: &str, shape: &Shape) -> String {
        match self {
            Self::DuckDb => {
                // An empty table names the columns that no segment may have.
                let missing = OFFSETS.map(|name| format!("NULL::BIGINT AS {name}")).join(", ");
                format!(
                    "(SELECT * FROM read_parquet('{root}/observations/**/*.parquet', union_by_name = true)\n  \
                     UNION ALL BY NAME SELECT {missing} WHERE false) o"
                )
            }
            Self::ClickHouse => {
                let mut columns = String::new();
                for (name, kind, is_optional, _) in &shape.columns {
                    let kind = match kind {
                        Kind::Time => "DateTime64(9, \\'UTC\\')",
                        Kind::Integer => "Int64",
                        Kind::Flag => "Bool",
                        Kind::Text => "String",
                    };
                    let _ = match is_optional {
                        true => write!(columns, "{name} Nullable({kind}), "),
                        false => write!(columns, "{name} {kind}, "),
                    };
                }
                let offsets = OFFSETS[2..].iter().map(|name| format!("{name} Nullable(Int64)"));
                columns += &offsets.collect::<Vec<_>>().join(", ");
                format!("file('{root}/observations/*/*/*.parquet', Parquet,\n  '{columns}') AS o")
            }
        }
    }
}

/// Columns of which a segment has either the first two or the rest.
const OFFSETS: [&str; 5] =
    ["ingress_timestamp", "egress_timestamp", "ingress_offset", "egress_offset", "report_delay"];
