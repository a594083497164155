//! SQL queries of history, within limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use inband_model::api::{Rows, SqlFormat, SqlIntegers, SqlQuestion};
use inband_store::{Answer, Cell, Naming, QueryError};
use serde_json::Value;

use super::Shared;
use super::problem::Problem;
use super::turn::turn;
use super::views::json as answer;

pub(super) async fn query(
    State(state): State<Shared>,
    body: Result<Json<SqlQuestion>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(SqlQuestion { sql, integers, format }) = body.map_err(|error| Problem::unreadable(&error))?;
    let found = ask(&state, sql).await?;
    if format == SqlFormat::Parquet {
        let damage = found.findings.damage.len();
        let written = tokio::task::spawn_blocking(move || found.to_parquet()).await;
        let file =
            written.map_err(|_| Problem::stopped())?.map_err(|error| Problem::wrong(error.to_string()))?;
        let headers = [(CONTENT_TYPE, PARQUET.to_owned()), (DAMAGE, damage.to_string())];
        return Ok((headers, file).into_response());
    }
    let mut rows: Vec<Vec<Value>> = found.rows.iter().map(|row| row.iter().map(value).collect()).collect();
    // Text formats for people and tables contain all digits anyway.
    if integers == SqlIntegers::Text {
        rows.iter_mut().flatten().for_each(write_as_text);
    }
    let damage = found.findings.damage.len();
    let answered = Rows {
        columns: found.columns,
        rows: None,
        values: None,
        damage: found.findings.damage.into_iter().collect(),
        unverified_segments: found.findings.unverified.len(),
    };
    Ok(match format {
        SqlFormat::Json => answer(&Rows { rows: Some(rows), ..answered }),
        SqlFormat::Columns => {
            let mut values: Vec<Vec<Value>> = vec![Vec::with_capacity(rows.len()); answered.columns.len()];
            for row in rows {
                values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
            }
            answer(&Rows { values: Some(values), ..answered })
        }
        SqlFormat::Csv => table(CSV, damage, csv(&answered.columns, &rows)),
        SqlFormat::Jsonl | SqlFormat::Parquet => table(JSONL, damage, jsonl(&answered.columns, rows)),
    })
}

/// A table format has no room for `damage`: a header contains it.
fn table(media: &'static str, damage: usize, text: String) -> Response {
    let headers = [(CONTENT_TYPE, media.to_owned()), (DAMAGE, damage.to_string())];
    (headers, text).into_response()
}

fn value(cell: &Cell) -> Value {
    serde_json::to_value(cell).unwrap_or_default()
}

fn csv(columns: &[String], rows: &[Vec<Value>]) -> String {
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push_str("\r\n");
    };
    line(&mut columns.iter().map(|name| quoted(name)));
    for row in rows {
        line(&mut row.iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => quoted(text),
            other => other.to_string(),
        }));
    }
    text
}

/// A text as a CSV cell. Spreadsheets execute a cell that begins with one of these signs as a formula; a
/// leading apostrophe makes it text.
fn quoted(text: &str) -> String {
    let apostrophe = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
}

fn jsonl(columns: &[String], rows: Vec<Vec<Value>>) -> String {
    let line = |row: Vec<Value>| {
        let pair = |(name, value): (&String, Value)| format!("{}:{value}", Value::from(name.as_str()));
        format!("{{{}}}\n", columns.iter().zip(row).map(pair).collect::<Vec<_>>().join(","))
    };
    rows.into_iter().map(line).collect()
}

/// Number of damaged parts of history left out of a table.
const DAMAGE: HeaderName = HeaderName::from_static("inband-damage");
const CSV: &str = "text/csv; charset=utf-8; header=present";
const JSONL: &str = "application/jsonl";
const PARQUET: &str = "application/vnd.apache.parquet";

/// Turns integers that a double does not hold exactly into text.
fn write_as_text(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(write_as_text),
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            if size.is_some_and(|size| size > MAX_EXACT) {
                *value = Value::String(number.to_string());
            }
        }
        _ => {}
    }
}

/// The largest integer up to which doubles are exact: 2^53 - 1.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// Queries history within the configured limits.
pub(super) async fn ask(state: &Shared, sql: String) -> Result<Answer, Problem> {
    let Some(archive) = state.archive.as_ref().map(Arc::clone) else {
        return Err(Problem::unavailable("no history is kept: store.path is empty"));
    };
    let (turn, _caller) = turn(&state.queries).await?;
    let limits = state.limits();
    let names: Arc<dyn Naming> = Arc::clone(&state.names) as _;
    let asked = tokio::task::spawn_blocking(move || {
        let history = turn.snapshot(&*archive)?;
        history.query_named(&sql, limits, &names)
    });
    match asked.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(QueryError::Question(error))) => Err(Problem::wrong(error.to_string())),
        // A retry would cost as much again.
        Ok(Err(error @ (QueryError::Time(_) | QueryError::Memory(_) | QueryError::Rows(_)))) => {
            Err(Problem::too_costly(error.to_string()))
        }
        Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
        Err(_) => Err(Problem::unavailable("the question could not be answered")),
    }
}
