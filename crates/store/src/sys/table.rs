//! The tables of history as SQLite virtual tables.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::Arc;

use inband_model::table::{Kind, Shape};
use rusqlite::types::ValueRef;
use rusqlite::vtab::{
    Context, DistinctMode, Filters, IndexConstraintOp, IndexInfo, OrderBy, VTab, VTabConfig, VTabConnection,
    VTabCursor, eponymous_only_module,
};
use rusqlite::{Connection, Error, Result, ffi};

use crate::budget::Budget;
use crate::history::{History, Value};
use crate::sql::plan::{Comparison, Plan, Wanted};
use crate::sql::scan::{MAX_GROUPED, Scan};

/// Adds a table of history to a connection.
pub(crate) fn add_table(
    connection: &Connection,
    history: Arc<History>,
    shape: Shape,
    budget: Arc<Budget>,
) -> Result<()> {
    let name = shape.name;
    let source = Source { history, shape: Arc::new(shape), budget };
    connection.create_module(name, eponymous_only_module::<HistoryTable>(), Some(source))
}

/// What the table reads from.
#[derive(Clone)]
struct Source {
    history: Arc<History>,
    shape: Arc<Shape>,
    budget: Arc<Budget>,
}

#[repr(C)]
struct HistoryTable {
    /// SQLite's part; it must come first.
    base: ffi::sqlite3_vtab,
    source: Source,
}

// SAFETY: the type is `repr(C)` and begins with `sqlite3_vtab`, which only SQLite touches.
unsafe impl<'vtab> VTab<'vtab> for HistoryTable {
    type Aux = Source;
    type Cursor = HistoryCursor<'vtab>;

    fn connect(db: &mut VTabConnection, aux: Option<&Source>, _: &[&[u8]]) -> Result<(String, HistoryTable)> {
        let source = aux.cloned().ok_or_else(|| Error::ModuleError("a table without history".into()))?;
        db.config(VTabConfig::Innocuous)?;
        Ok((declaration(&source.shape), HistoryTable { base: ffi::sqlite3_vtab::default(), source }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<()> {
        let mut plan = Plan { used: info.col_used(), ..Plan::default() };
        let mut cost = COST;
        let mut used = Vec::new();
        for (index, constraint) in info.constraints().enumerate() {
            let (Ok(column), Some(comparison)) =
                (usize::try_from(constraint.column()), comparison(constraint.operator()))
            else {
                continue;
            };
            let kind = self.source.shape.columns[column].1;
            let is_binary = kind != Kind::Text || info.collation(index)? == "BINARY";
            if constraint.is_usable() && comparison.suits(kind) && is_binary {
                plan.comparisons.push((column, comparison));
                used.push(index);
                cost /= if comparison == Comparison::Equal { 16.0 } else { 4.0 };
            }
        }
        for (value, index) in (1..).zip(used) {
            // SQLite compares again, so a superset of the rows is enough.
            info.constraint_usage(index).set_argv_index(value);
        }
        if info.distinct() == DistinctMode::Grouped {
            plan.group = self.grouped(info);
        }
        info.set_order_by_consumed(!plan.group.is_empty());
        info.set_estimated_cost(cost);
        info.set_idx_str(&plan.to_text());
        Ok(())
    }

    fn open(&'vtab mut self) -> Result<HistoryCursor<'vtab>> {
        let Source { history, shape, budget } = self.source.clone();
        let kinds = shape.columns.iter().map(|(_, kind, ..)| *kind).collect();
        let scan = Scan::new(history, shape, budget);
        Ok(HistoryCursor { base: ffi::sqlite3_vtab_cursor::default(), scan, kinds, table: PhantomData })
    }
}

impl HistoryTable {
    /// The columns of a GROUP BY, if equal values can be made adjacent here.
    fn grouped(&self, info: &IndexInfo) -> Vec<usize> {
        // Groups are returned in ascending order, which SQLite may require too; a descending order is left to
        // SQLite.
        let column = |order: OrderBy<'_>| {
            if order.is_order_by_desc() { None } else { usize::try_from(order.column()).ok() }
        };
        let columns: Option<Vec<usize>> = info.order_bys().map(column).collect();
        let Some(columns) = columns else { return Vec::new() };
        let shape = &self.source.shape;
        let are_numbers = columns.iter().all(|column| shape.columns[*column].1 != Kind::Text);
        let rows = self.source.history.rows(shape);
        let read = info.col_used().count_ones() as usize + columns.len();
        let fits = self.source.budget.has(rows.saturating_mul(BYTES_OF_A_VALUE * read + BYTES_OF_AN_ORDER));
        if columns.len() <= MAX_GROUPED && are_numbers && fits { columns } else { Vec::new() }
    }
}

#[repr(C)]
struct HistoryCursor<'vtab> {
    /// SQLite's part; it must come first.
    base: ffi::sqlite3_vtab_cursor,
    scan: Scan,
    kinds: Vec<Kind>,
    table: PhantomData<&'vtab HistoryTable>,
}

// SAFETY: the type is `repr(C)` and begins with `sqlite3_vtab_cursor`, which only SQLite touches.
unsafe impl VTabCursor for HistoryCursor<'_> {
    fn filter(&mut self, _: c_int, plan: Option<&str>, values: &Filters<'_>) -> Result<()> {
        let plan = plan
            .and_then(Plan::parse)
            .ok_or_else(|| Error::ModuleError("a plan that this table did not make".into()))?;
        let mut wanted = Vec::new();
        for ((column, comparison), value) in plan.comparisons.iter().zip(values.iter()) {
            let is_text = self.kinds[*column] == Kind::Text;
            match value {
                ValueRef::Integer(number) if !is_text => {
                    wanted.extend(comparison.with_integer(*column, number));
                }
                ValueRef::Text(text) if is_text => {
                    wanted.push(Wanted::Text(*column, String::from_utf8_lossy(text).into_owned()));
                }
                // SQLite knows how other values compare.
                _ => {}
            }
        }
        self.scan.begin(&plan, wanted)
    }

    fn next(&mut self) -> Result<()> {
        self.scan.advance()
    }

    fn eof(&self) -> bool {
        self.scan.is_at_end()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        match usize::try_from(column).map_or(Value::Missing, |column| self.scan.value(column)) {
            Value::Missing => context.set_result(&rusqlite::types::Null),
            Value::Integer(number) => context.set_result(&number),
            Value::Text(text) => context.set_result(&text),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.scan.row_number())
    }
}

fn comparison(operator: IndexConstraintOp) -> Option<Comparison> {
    Some(match operator {
        IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Comparison::Equal,
        IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT => Comparison::Less,
        IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => Comparison::LessOrEqual,
        IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT => Comparison::Greater,
        IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn declaration(shape: &Shape) -> String {
    let column = |(name, kind, ..): &(&str, Kind, bool, &str)| match kind {
        Kind::Text => format!("{name} TEXT"),
        Kind::Time | Kind::Integer | Kind::Flag => format!("{name} INTEGER"),
    };
    let columns: Vec<_> = shape.columns.iter().map(column).collect();
    format!("CREATE TABLE {}({})", shape.name, columns.join(", "))
}

/// Cost of reading a whole table, in SQLite's unit.
const COST: f64 = 1e6;
/// Memory for a number and whether it is present.
const BYTES_OF_A_VALUE: usize = 9;
/// Memory for the group, the position and the number of a row during grouping.
const BYTES_OF_AN_ORDER: usize = 16;
