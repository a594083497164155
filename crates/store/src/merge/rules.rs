//! How the columns of rows with the same key are combined.

use inband_model::table::{Kind, Shape};

use super::source::Source;
use crate::history::Value;
use crate::sketch::Sketch;

/// The rules of a table.
pub(super) struct Rules {
    pub(super) kinds: Vec<(Kind, Rule)>,
    /// The columns of the key, in sort order.
    pub(super) keys: Vec<usize>,
}

/// How values of a column are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Key,
    Sum,
    Max,
    Sketch,
    /// Thousandths, and the column of the sketch.
    Quantile(u64, usize),
}

impl Rules {
    pub(super) fn of(shape: &Shape) -> Self {
        let sketch = shape.column("latency_sketch").unwrap_or_default();
        let rule = |name: &str| match name {
            "latency_p50" => Rule::Quantile(500, sketch),
            "latency_p90" => Rule::Quantile(900, sketch),
            "latency_p99" => Rule::Quantile(990, sketch),
            name if name.ends_with("_max") => Rule::Max,
            name if name.ends_with("_sketch") => Rule::Sketch,
            name if KEYS.contains(&name) => Rule::Key,
            _ => Rule::Sum,
        };
        let kinds = shape.columns.iter().map(|(name, kind, ..)| (*kind, rule(name))).collect();
        Self { kinds, keys: KEYS.iter().filter_map(|name| shape.column(name)).collect() }
    }

    /// Whether the source's current row has the open key.
    pub(super) fn is_of(&self, open: &[Part], source: &Source) -> bool {
        let is_same = |key: &usize| match (&open[*key], source.value(*key)) {
            (Part::Number(Some(number)), Value::Integer(other)) => *number == other,
            (Part::Number(None), Value::Missing) => true,
            _ => false,
        };
        self.keys.iter().all(is_same)
    }

    pub(super) fn begin(&self, source: &Source) -> Vec<Part> {
        let part = |column: usize| match source.value(column) {
            Value::Integer(number) => Part::Number(Some(number)),
            Value::Missing => Part::Number(None),
            Value::Text(text) => Part::Text(text.to_owned(), None),
        };
        (0..self.kinds.len()).map(part).collect()
    }

    /// Merges the source's current row into the open one.
    pub(super) fn absorb(&self, open: &mut [Part], source: &Source) {
        for (column, (_, rule)) in self.kinds.iter().enumerate() {
            match (rule, &mut open[column], source.value(column)) {
                (Rule::Sum, Part::Number(sum), Value::Integer(more)) => {
                    *sum = Some(sum.unwrap_or(0).saturating_add(more));
                }
                (Rule::Max, Part::Number(most), Value::Integer(more)) => *most = (*most).max(Some(more)),
                (Rule::Sketch, Part::Text(text, sketch), Value::Text(more)) => {
                    let sketch = sketch.get_or_insert_with(|| Sketch::parse(text).unwrap_or_default());
                    sketch.merge(&Sketch::parse(more).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

/// A value of the row that is being built.
pub(super) enum Part {
    Number(Option<i64>),
    /// A text, and its sketch once others were merged into it.
    Text(String, Option<Sketch>),
}

/// The columns that identify and order rows, as far as a table has them.
const KEYS: [&str; 4] = ["node_id", "egress_interface", "queue_id", "time"];
