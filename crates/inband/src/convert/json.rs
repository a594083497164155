//! Access to JSON of other systems, where anything may be missing.

use serde_json::Value;

/// The elements of the list at `key`; empty if there is no list.
pub(super) fn array<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The entries of the object at `key`; empty if there is no object.
pub(super) fn object<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// The text at `key`.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A number, or a string that contains one.
pub(super) fn whole<T: TryFrom<u64>>(value: &Value) -> Option<T> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    T::try_from(number).ok()
}
