//! Schemas of answers, in the notation of operations.

use serde_json::{Value, json};

/// The schema of a type in the notation of operations: `integer`, `string`, `object` or the name of a schema;
/// `[…]` is a list, and `|` separates alternatives.
pub(in crate::api) fn typed(of: &str) -> Value {
    if let Some((one, other)) = of.split_once('|') {
        return json!({ "oneOf": [typed(one), typed(other)] });
    }
    if let Some(of) = of.strip_prefix('[').and_then(|of| of.strip_suffix(']')) {
        return json!({ "type": "array", "items": typed(of) });
    }
    match of {
        "integer" | "string" | "object" => json!({ "type": of }),
        name => json!({ "$ref": format!("#/components/schemas/{name}") }),
    }
}
