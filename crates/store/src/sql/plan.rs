//! SQLite's plan for reading a table: which columns, which rows, and whether groups are contiguous.

use inband_model::table::{Kind, Shape};

/// A comparison of a column with a value known before the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is decided before the values are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Compared columns, in the order of the values.
    pub(crate) comparisons: Vec<(usize, Comparison)>,
    /// Columns whose equal values must be adjacent.
    pub(crate) group: Vec<usize>,
    /// Columns that are read, one bit each; the last bit covers all further ones.
    pub(crate) used: u64,
}

/// A comparison with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The column is in this range, both ends included.
    Integers(usize, i64, i64),
    /// The column is this text.
    Text(usize, String),
}

impl Plan {
    /// Formats the plan as text, the form in which SQLite keeps it.
    pub(crate) fn to_text(&self) -> String {
        let comparison =
            |(column, comparison): &(usize, Comparison)| format!("{column}{}", comparison.letter());
        let comparisons: Vec<_> = self.comparisons.iter().map(comparison).collect();
        let group: Vec<_> = self.group.iter().map(usize::to_string).collect();
        format!("{};{};{}", comparisons.join(","), group.join(","), self.used)
    }

    /// Parses what `to_text` returns.
    pub(crate) fn parse(text: &str) -> Option<Plan> {
        let mut parts = text.split(';');
        let (comparisons, group, used) = (parts.next()?, parts.next()?, parts.next()?);
        let comparison = |text: &str| {
            let (column, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
            Some((column.parse().ok()?, Comparison::of_letter(letter)?))
        };
        Some(Plan {
            comparisons: comparisons.split_terminator(',').map(comparison).collect::<Option<_>>()?,
            group: group.split_terminator(',').map(|column| column.parse().ok()).collect::<Option<_>>()?,
            used: used.parse().ok()?,
        })
    }

    /// The columns of a table that are read.
    pub(crate) fn columns(&self, shape: &Shape) -> Vec<usize> {
        let is_used = |column: &usize| self.used >> (*column).min(63) & 1 == 1;
        (0..shape.columns.len()).filter(is_used).collect()
    }
}

impl Comparison {
    /// The condition for this number; `None` if it cannot be expressed.
    pub(crate) fn with_integer(self, column: usize, number: i64) -> Option<Wanted> {
        let (least, greatest) = match self {
            Comparison::Equal => (number, number),
            Comparison::Less => (i64::MIN, number.checked_sub(1)?),
            Comparison::LessOrEqual => (i64::MIN, number),
            Comparison::Greater => (number.checked_add(1)?, i64::MAX),
            Comparison::GreaterOrEqual => (number, i64::MAX),
        };
        Some(Wanted::Integers(column, least, greatest))
    }

    /// Whether a column of this kind can be compared without reading every row.
    pub(crate) fn suits(self, kind: Kind) -> bool {
        kind != Kind::Text || self == Comparison::Equal
    }

    fn letter(self) -> char {
        match self {
            Comparison::Equal => 'e',
            Comparison::Less => 'l',
            Comparison::LessOrEqual => 'm',
            Comparison::Greater => 'g',
            Comparison::GreaterOrEqual => 'h',
        }
    }

    fn of_letter(letter: &str) -> Option<Comparison> {
        Some(match letter {
            "e" => Comparison::Equal,
            "l" => Comparison::Less,
            "m" => Comparison::LessOrEqual,
            "g" => Comparison::Greater,
            "h" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }
}
