//! The types that define tables and columns.

use std::net::IpAddr;

use crate::Nanos;

/// A table whose rows are made of values of type `R`.
#[derive(Debug, Clone, Copy)]
pub struct Table<R: 'static> {
    /// Its name, in SQL and as the name of its directory.
    pub name: &'static str,
    /// What one row holds.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column<R>],
}

/// A column, and how its value is read from a row.
#[derive(Debug, Clone, Copy)]
pub struct Column<R> {
    /// Its name.
    pub name: &'static str,
    /// What it holds, with its unit.
    pub about: &'static str,
    /// Its values.
    pub cells: Cells<R>,
}

/// How the value of a column is read from a row.
///
/// Integers in files and in SQL are signed, 64 bits; a larger value is stored as the largest of them.
#[derive(Debug, Clone, Copy)]
pub enum Cells<R> {
    /// A point in time.
    Time(fn(&R) -> Nanos),
    /// A required number.
    Integer(fn(&R) -> u64),
    /// An optional number.
    OptionalInteger(fn(&R) -> Option<u64>),
    /// True or false.
    Flag(fn(&R) -> bool),
    /// One of a few words.
    Word(fn(&R) -> &'static str),
    /// A required text.
    Text(fn(&R) -> String),
    /// An optional text.
    OptionalText(fn(&R) -> Option<String>),
    /// An optional address, written as text.
    OptionalAddress(fn(&R) -> Option<IpAddr>),
}

/// What a column holds in files and in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds since 1970.
    Time,
    /// A signed number of 64 bits.
    Integer,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

/// A table without the type of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What one row holds.
    pub about: &'static str,
    /// Name, kind, whether it may be missing, and content of each column.
    pub columns: Vec<(&'static str, Kind, bool, &'static str)>,
}

impl<R> Table<R> {
    /// The table without the type of its rows.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let column =
            |column: &Column<R>| (column.name, column.cells.kind(), column.cells.is_optional(), column.about);
        Shape { name: self.name, about: self.about, columns: self.columns.iter().map(column).collect() }
    }
}

impl<R> Cells<R> {
    /// The kind of value in files and in SQL.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Cells::Time(_) => Kind::Time,
            Cells::Integer(_) | Cells::OptionalInteger(_) => Kind::Integer,
            Cells::Flag(_) => Kind::Flag,
            Cells::Word(_) | Cells::Text(_) | Cells::OptionalText(_) | Cells::OptionalAddress(_) => {
                Kind::Text
            }
        }
    }

    /// Whether a value may be missing.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        matches!(self, Cells::OptionalInteger(_) | Cells::OptionalText(_) | Cells::OptionalAddress(_))
    }
}

impl Shape {
    /// The index of the column with this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(known, ..)| *known == name)
    }
}
