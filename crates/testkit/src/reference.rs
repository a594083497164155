//! Completeness checks of reference configurations.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A reference with its examples uncommented: every comment that is a key or a table.
#[must_use]
pub fn with_examples(reference: &str) -> String {
    let is_example = |rest: &str| {
        let key = rest.split(['=', ' ']).next().unwrap_or_default();
        rest.starts_with('[')
            || (rest.contains(" = ") && key.chars().all(|c| c == '_' || c.is_alphanumeric()))
    };
    let line = |line| match str::strip_prefix(line, "# ") {
        Some(rest) if is_example(rest) => rest,
        _ => line,
    };
    reference.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Compares the keys of every table of a document with those that `T` knows; returns the number of tables.
///
/// # Panics
/// When a table lacks a key, or the document is not one of `T`.
pub fn assert_every_key_is_there<T: DeserializeOwned>(document: &str) -> usize {
    let document: Table = toml::from_str(document).expect("the document is TOML");
    let mut tables = 0;
    visit(&document, &mut Vec::new(), &mut |path| {
        let Some(known) = known_keys::<T>(&document, path) else { return };
        let written: BTreeSet<String> = at(&document, path).keys().cloned().collect();
        assert_eq!(written, known, "in [{}]", path.join("."));
        tables += 1;
    });
    tables
}

/// Calls `f` with the path to every table; for an array of tables to its first.
fn visit(table: &Table, path: &mut Vec<String>, f: &mut impl FnMut(&[String])) {
    f(path);
    for (key, value) in table {
        let inner = match value {
            Value::Table(inner) => Some(inner),
            Value::Array(all) => all.first().and_then(Value::as_table),
            _ => None,
        };
        if let Some(inner) = inner {
            path.push(key.clone());
            visit(inner, path, f);
            path.pop();
        }
    }
}

fn at<'a>(table: &'a Table, path: &[String]) -> &'a Table {
    path.iter().fold(table, |table, key| match &table[key] {
        Value::Array(all) => all[0].as_table().expect("a table of the document"),
        value => value.as_table().expect("a table of the document"),
    })
}

/// The keys that `T` knows in a table, from its error about an unknown key; `None` if keys are free.
fn known_keys<T: DeserializeOwned>(document: &Table, path: &[String]) -> Option<BTreeSet<String>> {
    let mut document = document.clone();
    let table = path.iter().fold(&mut document, |table, key| match &mut table[key] {
        Value::Array(all) => all[0].as_table_mut().expect("a table of the document"),
        value => value.as_table_mut().expect("a table of the document"),
    });
    table.insert("no_such_key".to_owned(), Value::Integer(1));
    let Err(error) = T::deserialize(Value::Table(document)) else { panic!("{path:?} takes any key") };
    let error = error.to_string();
    let (_, expected) = error.split_once("unknown field `no_such_key`, expected ")?;
    let expected = expected.lines().next().unwrap_or_default();
    Some(expected.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}
