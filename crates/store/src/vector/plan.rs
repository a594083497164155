//! A question bound to its table's columns: what is read, tested, grouped, aggregated and ordered.

use std::time::{SystemTime, UNIX_EPOCH};

use inband_model::table::{Kind, Shape};

use super::parse::{Direction, Expression, Filter, From, Item, Select};
use super::scalar::{Operator, Scalar};
use crate::span::parse_span;

/// The plan of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) input: Input,
    pub(super) tests: Vec<Test>,
    /// The keys of groups, or the values of ungrouped rows.
    pub(super) keys: Vec<Scalar>,
    /// The aggregates of each group; `None` if rows are not grouped.
    pub(super) aggregates: Option<Vec<Aggregate>>,
    /// Name and slot of each output column. The slots are the keys, then the aggregates.
    pub(super) outputs: Vec<(String, usize)>,
    /// The slots by which rows are ordered.
    pub(super) order: Vec<(usize, Direction)>,
    pub(super) limit: Option<u64>,
    pub(super) offset: u64,
}

/// The source of rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Table(Shape),
    Plan(Box<Plan>),
}

/// A condition on a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// From one number to another, both included.
    Range(usize, i64, i64),
    Not(usize, i64),
    OneOf(usize, Vec<i64>),
    IsNull(usize, bool),
    TextOneOf(usize, Vec<String>),
    TextNot(usize, String),
    /// A substring of the text, in lowercase.
    TextHolds(usize, String),
}

/// An aggregate function.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Aggregate {
    Rows,
    Count(Scalar),
    Distinct(Scalar),
    Sum(Scalar),
    Average(Scalar),
    Least(Scalar),
    Greatest(Scalar),
    Quantile(Scalar, f64),
}

impl Test {
    pub(super) fn column(&self) -> usize {
        match self {
            Self::Range(column, ..)
            | Self::Not(column, _)
            | Self::OneOf(column, _)
            | Self::IsNull(column, _)
            | Self::TextOneOf(column, _)
            | Self::TextNot(column, _)
            | Self::TextHolds(column, _) => *column,
        }
    }
}

impl Aggregate {
    /// Its argument; `None` for counting rows.
    pub(super) fn argument(&self) -> Option<&Scalar> {
        match self {
            Self::Rows => None,
            Self::Count(of) | Self::Distinct(of) | Self::Sum(of) | Self::Average(of) => Some(of),
            Self::Least(of) | Self::Greatest(of) | Self::Quantile(of, _) => Some(of),
        }
    }
}

impl Plan {
    /// Binds a question; `None` if SQLite has to answer it.
    pub(super) fn of(select: &Select<'_>, shapes: &[Shape]) -> Option<Self> {
        let input = match &select.from {
            From::Table(name) => {
                Input::Table(shapes.iter().find(|shape| shape.name.eq_ignore_ascii_case(name))?.clone())
            }
            From::Select(inner) => Input::Plan(Box::new(Self::of(inner, shapes)?)),
        };
        let columns = input.columns()?;
        let tests = select.filters.iter().map(|filter| test(filter, &columns)).collect::<Option<Vec<_>>>()?;
        let is_grouped =
            !select.group.is_empty() || select.items.iter().any(|item| is_aggregate(&item.expression));
        if !is_grouped && tests.is_empty() && matches!(input, Input::Table(_)) {
            // All rows, unchanged: nothing would be gained.
            return None;
        }
        let mut binder = Binder { columns: &columns, keys: Vec::new(), aggregates: Vec::new(), is_grouped };
        for expression in &select.group {
            let key = binder.key(expression, &select.items)?;
            binder.keys.push(key);
        }
        let fixed = binder.keys.len();
        let mut slots = Vec::new();
        for item in &select.items {
            slots.push(binder.slot(&item.expression)?);
        }
        let order = select
            .order
            .iter()
            .map(|(term, direction)| Some((binder.ordered(term, &select.items, &slots)?, *direction)));
        let order: Vec<_> = order.collect::<Option<_>>()?;
        let Binder { keys, aggregates, .. } = binder;
        // The slots of aggregates are known once all keys are.
        debug_assert!(!is_grouped || keys.len() == fixed);
        let place = |slot: Slot| match slot {
            Slot::Key(key) => key,
            Slot::Aggregate(aggregate) => keys.len() + aggregate,
        };
        let name = |item: &Item<'_>| match (item.alias, &item.expression) {
            (Some(alias), _) => alias.to_owned(),
            (None, Expression::Name(name)) => columns
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map_or_else(String::new, |(known, _)| known.clone()),
            (None, _) => item.text.to_owned(),
        };
        let outputs =
            select.items.iter().zip(&slots).map(|(item, slot)| (name(item), place(*slot))).collect();
        let order = order.into_iter().map(|(slot, direction)| (place(slot), direction)).collect();
        let (limit, offset) = (select.limit, select.offset);
        let aggregates = is_grouped.then_some(aggregates);
        (keys.len() <= MAX_KEYS).then_some(Self {
            input,
            tests,
            keys,
            aggregates,
            outputs,
            order,
            limit,
            offset,
        })
    }

    /// The kind of a slot; `None` for floating-point numbers.
    pub(super) fn kind(&self, slot: usize) -> Option<Kind> {
        let Some(key) = self.keys.get(slot) else {
            let aggregate = self.aggregates.as_ref()?.get(slot - self.keys.len())?;
            return (!matches!(aggregate, Aggregate::Average(_))).then_some(Kind::Integer);
        };
        match key {
            Scalar::Column(column) => self.input.columns()?.get(*column).map(|(_, kind)| *kind),
            _ => Some(Kind::Integer),
        }
    }
}

impl Input {
    /// Name and kind of each column; `None` if one has floating-point numbers.
    fn columns(&self) -> Option<Vec<(String, Kind)>> {
        match self {
            Self::Table(shape) => {
                Some(shape.columns.iter().map(|(name, kind, ..)| ((*name).to_owned(), *kind)).collect())
            }
            Self::Plan(plan) => {
                plan.outputs.iter().map(|(name, slot)| Some((name.clone(), plan.kind(*slot)?))).collect()
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Key(usize),
    Aggregate(usize),
}

struct Binder<'a> {
    columns: &'a [(String, Kind)],
    keys: Vec<Scalar>,
    aggregates: Vec<Aggregate>,
    is_grouped: bool,
}

impl Binder<'_> {
    /// The key of a GROUP BY term: the position of an output column, a column, or the alias of one.
    fn key(&self, expression: &Expression<'_>, items: &[Item<'_>]) -> Option<Scalar> {
        match expression {
            Expression::Integer(number) => {
                let item = items.get(usize::try_from(*number).ok()?.checked_sub(1)?)?;
                scalar(&item.expression, self.columns)
            }
            Expression::Name(name) if column(self.columns, name).is_none() => {
                let item = items
                    .iter()
                    .find(|item| item.alias.is_some_and(|alias| alias.eq_ignore_ascii_case(name)))?;
                scalar(&item.expression, self.columns)
            }
            _ => scalar(expression, self.columns),
        }
    }

    /// The slot of an expression, added if allowed.
    fn slot(&mut self, expression: &Expression<'_>) -> Option<Slot> {
        if self.is_grouped && is_aggregate(expression) {
            let aggregate = aggregate(expression, self.columns)?;
            let known = self.aggregates.iter().position(|known| *known == aggregate);
            return Some(Slot::Aggregate(known.unwrap_or_else(|| {
                self.aggregates.push(aggregate);
                self.aggregates.len() - 1
            })));
        }
        let scalar = scalar(expression, self.columns)?;
        let known = self.keys.iter().position(|known| *known == scalar);
        match known {
            Some(key) => Some(Slot::Key(key)),
            None if self.is_grouped => None,
            None => {
                self.keys.push(scalar);
                Some(Slot::Key(self.keys.len() - 1))
            }
        }
    }

    /// The slot of an ORDER BY term: the position or alias of an output column, or an expression.
    fn ordered(&mut self, term: &Expression<'_>, items: &[Item<'_>], slots: &[Slot]) -> Option<Slot> {
        match term {
            Expression::Integer(number) => slots.get(usize::try_from(*number).ok()?.checked_sub(1)?).copied(),
            Expression::Text(_) | Expression::Real(_) => None,
            Expression::Name(name) => {
                let is_named =
                    |item: &Item<'_>| item.alias.is_some_and(|alias| alias.eq_ignore_ascii_case(name));
                match items.iter().position(is_named) {
                    Some(item) => Some(slots[item]),
                    None => self.slot(term),
                }
            }
            _ => self.slot(term),
        }
    }
}

fn is_aggregate(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::Call(name, ..) if AGGREGATES.contains(&name.as_str()))
}

fn aggregate(expression: &Expression<'_>, columns: &[(String, Kind)]) -> Option<Aggregate> {
    let Expression::Call(name, is_distinct, arguments) = expression else { return None };
    let Some(arguments) = arguments else { return (name == "count").then_some(Aggregate::Rows) };
    let of = scalar(arguments.first()?, columns)?;
    let is_text = matches!(of, Scalar::Column(column) if columns[column].1 == Kind::Text);
    match (name.as_str(), is_distinct, arguments.len(), is_text) {
        ("count", false, 1, _) => Some(Aggregate::Count(of)),
        ("count", true, 1, _) => Some(Aggregate::Distinct(of)),
        ("sum", false, 1, false) => Some(Aggregate::Sum(of)),
        ("avg", false, 1, false) => Some(Aggregate::Average(of)),
        ("min", _, 1, false) => Some(Aggregate::Least(of)),
        ("max", _, 1, false) => Some(Aggregate::Greatest(of)),
        ("quantile", false, 2, false) => {
            let share: f64 = match &arguments[1] {
                Expression::Real(share) => share.parse().ok()?,
                Expression::Integer(0) => 0.0,
                Expression::Integer(1) => 1.0,
                _ => return None,
            };
            (0.0..=1.0).contains(&share).then_some(Aggregate::Quantile(of, share))
        }
        _ => None,
    }
}

/// An expression over numeric columns, or a column.
fn scalar(expression: &Expression<'_>, columns: &[(String, Kind)]) -> Option<Scalar> {
    match expression {
        Expression::Name(name) => column(columns, name).map(Scalar::Column),
        Expression::Call(name, false, Some(arguments)) if name == "bucket" && arguments.len() == 2 => {
            let span = match constant(&arguments[1])? {
                Constant::Integer(span) => span,
                Constant::Text(text) => parse_span(&text)?,
            };
            (span > 0).then_some(())?;
            Some(Scalar::Bucket(Box::new(number(&arguments[0], columns)?), span))
        }
        Expression::Binary(sign, left, right) => {
            let operator = Operator::of(sign)?;
            let (left, right) = (number(left, columns)?, number(right, columns)?);
            let is_constant = |scalar: &Scalar| matches!(scalar, Scalar::Constant(_));
            (!(is_constant(&left) && is_constant(&right))).then_some(())?;
            Some(Scalar::Binary(operator, Box::new(left), Box::new(right)))
        }
        _ => None,
    }
}

fn number(expression: &Expression<'_>, columns: &[(String, Kind)]) -> Option<Scalar> {
    if let Some(Constant::Integer(number)) = constant(expression) {
        return Some(Scalar::Constant(number));
    }
    let scalar = scalar(expression, columns)?;
    let is_text = matches!(scalar, Scalar::Column(column) if columns[column].1 == Kind::Text);
    (!is_text).then_some(scalar)
}

/// A value known before the first row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Constant {
    Integer(i64),
    Text(String),
}

fn constant(expression: &Expression<'_>) -> Option<Constant> {
    match expression {
        Expression::Integer(number) => Some(Constant::Integer(*number)),
        Expression::Text(text) => Some(Constant::Text(text.clone())),
        Expression::Call(name, false, Some(arguments)) if name == "unixepoch" && arguments.is_empty() => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            i64::try_from(now.as_secs()).ok().map(Constant::Integer)
        }
        Expression::Binary(sign, left, right) => match (constant(left)?, constant(right)?) {
            (Constant::Integer(left), Constant::Integer(right)) => {
                Operator::of(sign)?.apply(left, right).ok()?.map(Constant::Integer)
            }
            _ => None,
        },
        _ => None,
    }
}

fn column(columns: &[(String, Kind)], name: &str) -> Option<usize> {
    columns.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// A comparison of a column with a constant.
fn test(filter: &Filter<'_>, columns: &[(String, Kind)]) -> Option<Test> {
    let named = |expression: &Expression<'_>| match expression {
        Expression::Name(name) => column(columns, name),
        _ => None,
    };
    let is_text = |place: usize| columns[place].1 == Kind::Text;
    let integer = |expression: &Expression<'_>| match constant(expression)? {
        Constant::Integer(number) => Some(number),
        Constant::Text(_) => None,
    };
    let text = |expression: &Expression<'_>| match constant(expression)? {
        Constant::Text(text) => Some(text),
        Constant::Integer(_) => None,
    };
    match filter {
        Filter::Compare(left, sign, right) => {
            let (place, sign, value) = match named(left) {
                Some(place) => (place, *sign, right),
                None => (named(right)?, turned(sign), left),
            };
            if is_text(place) {
                let value = text(value)?;
                return match sign {
                    "=" | "==" => Some(Test::TextOneOf(place, vec![value])),
                    "<>" | "!=" => Some(Test::TextNot(place, value)),
                    _ => None,
                };
            }
            let number = integer(value)?;
            Some(match sign {
                "=" | "==" => Test::Range(place, number, number),
                "<>" | "!=" => Test::Not(place, number),
                "<" => Test::Range(place, i64::MIN, number.checked_sub(1)?),
                "<=" => Test::Range(place, i64::MIN, number),
                ">" => Test::Range(place, number.checked_add(1)?, i64::MAX),
                _ => Test::Range(place, number, i64::MAX),
            })
        }
        Filter::Between(of, least, greatest) => {
            let place = named(of).filter(|place| !is_text(*place))?;
            Some(Test::Range(place, integer(least)?, integer(greatest)?))
        }
        Filter::In(of, values) => {
            let place = named(of)?;
            if is_text(place) {
                return Some(Test::TextOneOf(place, values.iter().map(text).collect::<Option<_>>()?));
            }
            Some(Test::OneOf(place, values.iter().map(integer).collect::<Option<_>>()?))
        }
        Filter::Like(of, pattern) => {
            let place = named(of).filter(|place| is_text(*place))?;
            let pattern = text(pattern)?;
            let part = pattern.strip_prefix('%')?.strip_suffix('%')?;
            // SQLite ignores case for ASCII letters only.
            let is_plain = part.is_ascii() && !part.contains(['%', '_']);
            is_plain.then(|| Test::TextHolds(place, part.to_ascii_lowercase()))
        }
        Filter::IsNull(of, is_null) => Some(Test::IsNull(named(of)?, *is_null)),
    }
}

/// The comparison operator with its sides exchanged.
fn turned(sign: &str) -> &str {
    match sign {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
}

const AGGREGATES: [&str; 6] = ["count", "sum", "avg", "min", "max", "quantile"];
/// Maximum keys of a group, or values of an ungrouped row.
pub(super) const MAX_KEYS: usize = 33;
