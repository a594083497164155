//! Finished rows.

use inband_model::table::Kind;

use super::rules::{Part, Rule, Rules};
use crate::history::{ColumnData, Texts};
use crate::source::integer;

/// Finished rows.
pub(super) struct Rows {
    columns: Vec<Whole>,
    pub(super) count: usize,
}

/// A column.
enum Whole {
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<u32>>, Texts),
}

impl Rows {
    pub(super) fn new(rules: &Rules) -> Self {
        let column = |(kind, _): &(Kind, Rule)| match kind {
            Kind::Text => Whole::Texts(Vec::new(), Texts::default()),
            _ => Whole::Numbers(Vec::new()),
        };
        Self { columns: rules.kinds.iter().map(column).collect(), count: 0 }
    }

    pub(super) fn push(&mut self, mut row: Vec<Part>, rules: &Rules) {
        for (column, (_, rule)) in rules.kinds.iter().enumerate() {
            let Rule::Quantile(per_mille, of) = rule else { continue };
            if let Part::Text(_, Some(sketch)) = &row[*of] {
                row[column] = Part::Number(sketch.quantile(*per_mille).map(integer));
            }
        }
        for (column, part) in self.columns.iter_mut().zip(row) {
            match (column, part) {
                (Whole::Numbers(numbers), Part::Number(number)) => numbers.push(number),
                (Whole::Texts(codes, texts), Part::Text(text, sketch)) => {
                    codes.push(u32::try_from(texts.len()).ok());
                    texts.push(&sketch.map_or(text, |sketch| sketch.to_text()));
                }
                (Whole::Numbers(numbers), Part::Text(..)) => numbers.push(None),
                (Whole::Texts(codes, _), Part::Number(_)) => codes.push(None),
            }
        }
        self.count += 1;
    }

    pub(super) fn columns(self) -> Vec<ColumnData> {
        let column = |whole| match whole {
            Whole::Numbers(numbers) => ColumnData::of_optional_integers(numbers.into_iter()),
            Whole::Texts(codes, words) => ColumnData::Texts { codes, words },
        };
        self.columns.into_iter().map(column).collect()
    }
}
