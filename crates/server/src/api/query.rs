//! What does history say? A question in SQL, answered within limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::response::Response;
use inband_store::{Answer, Naming, QueryError};
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::problem::Problem;
use super::views::json as answer;

/// A question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    sql: String,
}

pub(super) async fn query(
    State(state): State<Shared>,
    body: Result<Json<Question>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(Question { sql }) = body.map_err(|error| Problem::unreadable(&error))?;
    let found = ask(&state, sql).await?;
    Ok(answer(&json!({
        "columns": found.columns,
        "rows": found.rows,
        "damage": found.findings.damage,
        "unverified_segments": found.findings.unverified.len(),
    })))
}

/// Asks history within the limits of the settings.
pub(super) async fn ask(state: &Shared, sql: String) -> Result<Answer, Problem> {
    let Some(store) = state.store.as_ref().map(Arc::clone) else {
        return Err(Problem::unavailable("no history is kept: store.path is empty"));
    };
    let turn = state.queries.try_acquire();
    let Ok(_turn) = turn else { return Err(Problem::unavailable("other questions are being answered")) };
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
