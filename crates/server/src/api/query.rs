//! SQL queries of history, within limits.

mod format;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use inband_model::api::SqlQuestion;
use inband_store::{Answer, Naming, QueryError};

use self::format::Written;
use super::Shared;
use super::problem::Problem;
use super::turn::turn;

pub(super) async fn query(
    State(state): State<Shared>,
    body: Result<Json<SqlQuestion>, JsonRejection>,
) -> Result<Response, Problem> {
    let Json(SqlQuestion { sql, integers, format }) = body.map_err(|error| Problem::unreadable(&error))?;
    // SQLite would read the text up to there alone.
    if sql.contains('\0') {
        return Err(Problem::parameter("sql", "a NUL is not allowed in sql", "text without a NUL"));
    }
    let most = state.settings.query_bytes;
    let write = move |found| Written::new(found, format, integers, most);
    let Written { bytes, media, damage } = answered(&state, sql, write).await?;
    let mut response = ([(CONTENT_TYPE, media)], bytes).into_response();
    if let Some(damage) = damage {
        response.headers_mut().insert(DAMAGE, HeaderValue::from(damage));
    }
    Ok(response)
}

/// Queries history within the configured limits.
pub(super) async fn ask(state: &Shared, sql: String) -> Result<Answer, Problem> {
    answered(state, sql, Ok).await
}

/// Queries history within the configured limits. The answer counts as one of the concurrent queries until
/// `write` has made something of it.
async fn answered<T: Send + 'static>(
    state: &Shared,
    sql: String,
    write: impl FnOnce(Answer) -> Result<T, QueryError> + Send + 'static,
) -> Result<T, Problem> {
    let Some(archive) = state.archive.as_ref().map(Arc::clone) else {
        return Err(Problem::unavailable("no history is kept: store.path is empty"));
    };
    let (turn, _caller) = turn(&state.queries).await?;
    let limits = state.limits();
    let names: Arc<dyn Naming> = Arc::clone(&state.names) as _;
    let asked = tokio::task::spawn_blocking(move || {
        let found = turn.snapshot(&*archive)?.query_named(&sql, limits, &names)?;
        write(found)
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

/// Number of damaged parts of history left out of a table, which has no room for `damage`.
const DAMAGE: HeaderName = HeaderName::from_static("inband-damage");
