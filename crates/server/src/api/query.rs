//! What does history say? A question in SQL, answered within limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::response::Response;
use inband_store::{Answer, Naming, QueryError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::problem::Problem;
use super::views::json as answer;

/// A question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    sql: String,
    #[serde(default)]
    integers: Integers,
}

/// How integers that a program may read as doubles are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Integers {
    /// As numbers, with all their digits.
    #[default]
    Number,
    /// As texts, where a double does not hold them.
    Text,
}

pub(super) async fn query(
    State(state): State<Shared>,
    body: Result<Json<Question>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(Question { sql, integers }) = body.map_err(|error| Problem::unreadable(&error))?;
    let found = ask(&state, sql).await?;
    let mut rows = serde_json::to_value(&found.rows).unwrap_or_default();
    if integers == Integers::Text {
        write_as_text(&mut rows);
    }
    Ok(answer(&json!({
        "columns": found.columns,
        "rows": rows,
        "damage": found.findings.damage,
        "unverified_segments": found.findings.unverified.len(),
    })))
}

/// Turns integers that a double does not hold into texts.
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

/// The largest integer below which a double holds all: 2^53 - 1.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// Asks history within the limits of the settings.
pub(super) async fn ask(state: &Shared, sql: String) -> Result<Answer, Problem> {
    let Some(store) = state.store.as_ref().map(Arc::clone) else {
        return Err(Problem::unavailable("no history is kept: store.path is empty"));
    };
    let _turn = state.turn().await?;
    let limits = state.limits();
    let names: Arc<dyn Naming> = Arc::clone(&state.names) as _;
    let asked = tokio::task::spawn_blocking(move || {
        let history = store.history().map_err(QueryError::Store)?;
        history.query_named(&sql, limits, &names)
    });
    match asked.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(QueryError::Question(error))) => Err(Problem::wrong(error.to_string())),
        // To ask again would cost as much again.
        Ok(Err(error @ (QueryError::Time(_) | QueryError::Memory(_) | QueryError::Rows(_)))) => {
            Err(Problem::too_costly(error.to_string()))
        }
        Ok(Err(error)) => Err(Problem::unavailable(error.to_string())),
        Err(_) => Err(Problem::unavailable("the question could not be answered")),
    }
}
