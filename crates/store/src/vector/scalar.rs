//! Expressions over a row's numbers, evaluated for many rows at once.

use super::column::Column;
use super::stop::Stop;

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    Column(usize),
    Constant(i64),
    /// The start of the interval that contains a time.
    Bucket(Box<Scalar>, i64),
    Binary(Operator, Box<Scalar>, Box<Scalar>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub(super) fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "%" => Self::Remainder,
            _ => return None,
        })
    }

    /// Applies the operator as SQLite does; `None` for NULL.
    ///
    /// # Errors
    /// SQLite would continue with a floating-point number.
    pub(super) fn apply(self, left: i64, right: i64) -> Result<Option<i64>, Stop> {
        let number = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide | Self::Remainder if right == 0 => return Ok(None),
            Self::Divide => left.checked_div(right),
            Self::Remainder => Some(left.checked_rem(right).unwrap_or(0)),
        };
        number.map(Some).ok_or(Stop::GiveUp)
    }
}

impl Scalar {
    /// Adds the columns that it refers to.
    pub(super) fn add_columns(&self, columns: &mut Vec<usize>) {
        match self {
            Self::Column(column) => columns.push(*column),
            Self::Constant(_) => {}
            Self::Bucket(of, _) => of.add_columns(columns),
            Self::Binary(_, left, right) => {
                left.add_columns(columns);
                right.add_columns(columns);
            }
        }
    }

    /// Its values in `rows` rows, of which these are the columns.
    pub(super) fn column(&self, columns: &[Option<Column>], rows: usize) -> Result<Column, Stop> {
        match self {
            Self::Column(column) => columns.get(*column).cloned().flatten().ok_or(Stop::GiveUp),
            Self::Constant(number) => Ok(Column::numbers(vec![*number; rows], None)),
            Self::Bucket(of, span) => {
                let of = of.column(columns, rows)?;
                let begin = |value: &i64| value.div_euclid(*span).checked_mul(*span).ok_or(Stop::GiveUp);
                let values = of.values.iter().map(begin).collect::<Result<Vec<_>, _>>()?;
                Ok(Column { values: values.into(), valid: of.valid })
            }
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.column(columns, rows)?, right.column(columns, rows)?);
                let (mut values, mut valid) = (left.values.to_vec(), Vec::with_capacity(rows));
                for (row, value) in values.iter_mut().enumerate() {
                    let result = match left.is_there(row) && right.is_there(row) {
                        true => operator.apply(*value, right.values[row])?,
                        false => None,
                    };
                    *value = result.unwrap_or(0);
                    valid.push(result.is_some());
                }
                let valid = valid.contains(&false).then_some(valid);
                Ok(Column::numbers(values, valid))
            }
        }
    }
}
