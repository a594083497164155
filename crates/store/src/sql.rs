//! History in SQL: read-only virtual tables in SQLite.

mod mistake;
pub(crate) mod names;
pub(crate) mod plan;
mod quantile;
mod scalars;
pub(crate) mod scan;

use std::sync::Arc;

use inband_model::table::shapes;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, ErrorCode, Statement};

use self::names::{Naming, NoNames};
use crate::budget::Budget;
use crate::history::History;
use crate::question::{Answer, Cell, Limits, QueryError};
use crate::vector;

impl History {
    /// Answers one question in SQLite's SQL, with `quantile(value, share)` in addition; without names.
    ///
    /// # Errors
    /// The question is invalid or exceeds its limits, or history cannot be read.
    pub fn query(&self, sql: &str, limits: Limits) -> Result<Answer, QueryError> {
        let nobody: Arc<dyn Naming> = Arc::new(NoNames);
        self.query_named(sql, limits, &nobody)
    }

    /// Answers one question like [`query`](History::query), with the names that `node_name(node)`,
    /// `interface_name(node, interface)` and `address_name(address)` return.
    ///
    /// # Errors
    /// The question is invalid or exceeds its limits, or history cannot be read.
    pub fn query_named(
        &self,
        sql: &str,
        limits: Limits,
        names: &Arc<dyn Naming>,
    ) -> Result<Answer, QueryError> {
        let budget = Arc::new(self.budget(limits));
        let history = Arc::new(self.for_question());
        if let Some(found) = vector::answer(&history, sql, &budget, limits) {
            history.check_shortage().map_err(QueryError::Store)?;
            return found.map(|answer| Answer { findings: history.findings(), ..answer });
        }
        self.query_by_row(sql, &budget, limits, names)
    }

    /// Answers a question with SQLite alone, row by row.
    pub(crate) fn query_by_row(
        &self,
        sql: &str,
        budget: &Arc<Budget>,
        limits: Limits,
        names: &Arc<dyn Naming>,
    ) -> Result<Answer, QueryError> {
        let history = Arc::new(self.for_question());
        let connection =
            connect(Arc::clone(&history), budget, limits, names).map_err(|error| explain(error, limits))?;
        let found = answer(&connection, sql, budget, limits);
        history.check_shortage().map_err(QueryError::Store)?;
        // The error of a table is more specific than SQLite's.
        match budget.take_failure() {
            Some(failure) => Err(failure),
            None => found.map(|answer| Answer { findings: history.findings(), ..answer }),
        }
    }
}

fn connect(
    history: Arc<History>,
    budget: &Arc<Budget>,
    limits: Limits,
    names: &Arc<dyn Naming>,
) -> rusqlite::Result<Connection> {
    crate::sys::limit_heap(limits.memory_bytes);
    let connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES)?;
    for shape in shapes() {
        crate::sys::add_table(&connection, Arc::clone(&history), shape, Arc::clone(budget))?;
    }
    quantile::add(&connection, budget)?;
    scalars::add(&connection, budget)?;
    names::add(&connection, names)?;
    let watched = Arc::clone(budget);
    connection.progress_handler(STEPS_BETWEEN_CHECKS, Some(move || watched.is_late()));
    connection.authorizer(Some(authorize));
    Ok(connection)
}

/// Allows only reading.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

fn answer(connection: &Connection, sql: &str, budget: &Budget, limits: Limits) -> Result<Answer, QueryError> {
    let explain = |error| explain(error, limits);
    let mut statements = Batch::new(connection, sql);
    let Some(mut statement) = statements.next().map_err(explain)? else {
        return Err(QueryError::Question("there is no question".into()));
    };
    if statements.next().map_err(explain)?.is_some() {
        return Err(QueryError::Question("one question at a time".into()));
    }
    if statement.parameter_count() > 0 {
        return Err(QueryError::Question("a question has no parameters".into()));
    }
    rows(&mut statement, budget, limits)
}

fn rows(statement: &mut Statement<'_>, budget: &Budget, limits: Limits) -> Result<Answer, QueryError> {
    let explain = |error| explain(error, limits);
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut answer = Answer { columns, ..Answer::default() };
    let mut rows = statement.query([]).map_err(explain)?;
    while let Some(row) = rows.next().map_err(explain)? {
        if answer.rows.len() >= limits.rows {
            return Err(QueryError::Rows(limits.rows));
        }
        let cells = (0..answer.columns.len()).map(|column| Ok(cell(row.get_ref(column)?)));
        let cells: Vec<Cell> = cells.collect::<rusqlite::Result<_>>().map_err(explain)?;
        let texts = cells.iter().map(|cell| if let Cell::Text(text) = cell { text.len() } else { 0 });
        if !budget.take(size_of::<Cell>() * cells.len() + texts.sum::<usize>()) {
            return Err(QueryError::Memory(limits.memory_bytes));
        }
        answer.rows.push(cells);
    }
    Ok(answer)
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

fn explain(error: rusqlite::Error, limits: Limits) -> QueryError {
    let code = match &error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        other => other.sqlite_error_code(),
    };
    match code {
        Some(ErrorCode::OperationInterrupted) => QueryError::Time(limits.time),
        Some(ErrorCode::OutOfMemory) => QueryError::Memory(limits.memory_bytes),
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            QueryError::Question("history can be read and not written: ask with SELECT".into())
        }
        Some(_) => QueryError::Question(mistake::explain(&error)),
        None => QueryError::Engine(error),
    }
}

/// SQLite virtual machine steps between two time checks.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;
/// Maximum length of a value or row. A function is one step, and `instr` takes the square of it: at this
/// length about a second. The longest columns of history are a few thousand bytes.
const MAX_VALUE_BYTES: i32 = 1 << 18;
/// Maximum length of a LIKE or GLOB pattern: SQLite calls itself for each wildcard.
const MAX_PATTERN_BYTES: i32 = 1_000;

#[cfg(test)]
mod tests;
