//! Suggestions for unknown names in a question.

use inband_model::table::shapes;
use rusqlite::Error;
use strsim::normalized_damerau_levenshtein as likeness;

/// SQLite's message, with a suggestion.
pub(super) fn explain(error: &Error) -> String {
    let (message, sql) = match error {
        Error::SqlInputError { msg, sql, .. } => (msg.clone(), sql.to_lowercase()),
        Error::SqliteFailure(_, Some(msg)) => (msg.clone(), String::new()),
        other => (other.to_string(), String::new()),
    };
    let unknown =
        |what: &str| message.strip_prefix("no such ")?.strip_prefix(what)?.strip_prefix(": ").map(bare);
    let suggestion = if let Some(name) = unknown("table") {
        let tables: Vec<_> = shapes().iter().map(|shape| shape.name).collect();
        nearest(name, &tables).unwrap_or_else(|| format!("there are {}", tables.join(", ")))
    } else if let Some(name) = unknown("column") {
        let columns = columns(&sql);
        nearest(name, &columns).unwrap_or_else(|| "`inband query --tables` lists all".to_owned())
    } else {
        return message;
    };
    format!("{message}; {suggestion}")
}

/// The columns of the tables that a question names; of all tables if it names none.
fn columns(sql: &str) -> Vec<&'static str> {
    let (named, others): (Vec<_>, Vec<_>) = shapes().into_iter().partition(|shape| sql.contains(shape.name));
    let tables = if named.is_empty() { others } else { named };
    tables.iter().flat_map(|shape| shape.columns.iter().map(|(name, ..)| *name)).collect()
}

/// The name without its table.
fn bare(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn nearest(name: &str, known: &[&str]) -> Option<String> {
    let name = name.to_lowercase();
    // `latency` means `hop_latency`: a part of a name counts like a typo.
    let like = |known: &str| {
        let part = name.len() >= MIN_PART && (known.contains(&name) || name.contains(known));
        likeness(&name, known).max(if part { LIKE } else { 0.0 })
    };
    let best = known.iter().map(|known| (like(known), *known)).max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= LIKE).then(|| format!("did you mean {}?", best.1))
}

/// Minimum similarity of names; 1 for equal ones.
const LIKE: f64 = 0.6;
/// Shorter parts of a name do not count.
const MIN_PART: usize = 4;
