//! Parameters of a request, checked against the schema of their type.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use inband_model::EventKind;
use inband_model::api::{Span, Time};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::problem::{Problem, shown};

/// The parameters of a request; an invalid one is rejected with its name and the allowed values.
#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + JsonSchema> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let pairs: Query<Vec<(String, String)>> =
            Query::try_from_uri(&parts.uri).map_err(|error| Problem::wrong(error.body_text()))?;
        let properties = properties::<T>();
        let mut given = Map::new();
        for (name, text) in pairs.0 {
            let Some(schema) = properties.get(&name) else {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                let what = format!("there is no parameter `{}`", shown(&name));
                let allowed = if known.is_empty() { "no parameter".to_owned() } else { known.join(", ") };
                return Err(Problem::parameter(&name, what, allowed));
            };
            let value = read(schema, &text).map_err(|allowed| {
                Problem::parameter(&name, format!("`{}` is not allowed for {name}", shown(&text)), allowed)
            })?;
            if given.insert(name.clone(), value).is_some() {
                return Err(Problem::parameter(&name, format!("{name} is given twice"), "once".to_owned()));
            }
        }
        let asked = serde_json::from_value(Value::Object(given));
        asked.map(Self).map_err(|error| missing(&error.to_string()))
    }
}

/// The parameters of a request type, each with its schema.
pub(super) fn properties<T: JsonSchema>() -> Map<String, Value> {
    match schema::<T>().get_mut("properties") {
        Some(Value::Object(properties)) => std::mem::take(properties),
        _ => Map::new(),
    }
}

/// The required parameters of a request type.
pub(super) fn required<T: JsonSchema>() -> Vec<String> {
    let schema = schema::<T>();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()
}

/// Parses a text as a value of the schema.
///
/// # Errors
/// The text is invalid; contains what is allowed.
fn read(schema: &Value, text: &str) -> Result<Value, String> {
    let words = words(schema);
    if !words.is_empty() {
        return if words.contains(&text) { Ok(text.into()) } else { Err(words.join(", ")) };
    }
    match kind(schema) {
        "integer" => {
            let (least, most) = bounds(schema);
            let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
            number.map(Value::from).ok_or_else(|| format!("a whole number from {least} to {most}"))
        }
        "boolean" => text.parse::<bool>().map(Value::from).map_err(|_| "true, false".to_owned()),
        _ => match format(schema) {
            "time-or-nanoseconds" if Time::parse(text).is_none() => Err(Time::ALLOWED.to_owned()),
            "span" if Span::parse(text).is_none() => Err(Span::ALLOWED.to_owned()),
            "event-kind" if !EventKind::ALL.iter().any(|kind| kind.name() == text) => {
                Err(EventKind::ALL.map(EventKind::name).join(", "))
            }
            _ => Ok(text.into()),
        },
    }
}

/// The problem of a parameter that the type finds missing.
fn missing(error: &str) -> Problem {
    let name = error.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
    match name {
        Some((name, _)) => Problem::parameter(name, format!("{name} is missing"), "once".to_owned()),
        None => Problem::wrong(error),
    }
}

/// The words that a value is limited to; none if it may be any text.
fn words(schema: &Value) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    words.extend(schema["const"].as_str());
    words.extend(schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
    for any in ["oneOf", "anyOf"] {
        schema[any].as_array().into_iter().flatten().for_each(|part| words.extend(self::words(part)));
    }
    words
}

/// The type of a value that is not null.
fn kind(schema: &Value) -> &str {
    let one = |schema: &Value| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        kind => Some(kind.clone()),
    };
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let kind = std::iter::once(schema).chain(alternatives).filter_map(one).find(|kind| kind != "null");
    match kind.as_ref().and_then(Value::as_str) {
        Some("integer") => "integer",
        Some("boolean") => "boolean",
        _ => "string",
    }
}

fn format(schema: &Value) -> &str {
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    std::iter::once(schema).chain(alternatives).find_map(|schema| schema["format"].as_str()).unwrap_or("")
}

fn bounds(schema: &Value) -> (u64, u64) {
    let most = match format(schema) {
        "uint8" => u8::MAX.into(),
        "uint16" => u16::MAX.into(),
        "uint32" => u32::MAX.into(),
        _ => u64::MAX,
    };
    let bound = |name: &str| schema[name].as_u64();
    (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use inband_model::api::{HeatQuestion, PacketsQuestion, QueueTimelineQuestion};

    use super::{properties, read, required};

    #[test]
    fn the_schema_of_a_question_says_what_each_parameter_may_be() {
        let packets = properties::<PacketsQuestion>();
        let allowed = |name: &str, text: &str| read(&packets[name], text);

        assert_eq!(allowed("limit", "0"), Err("a whole number from 1 to 2000".to_owned()));
        assert_eq!(allowed("limit", "7"), Ok(7.into()));
        assert_eq!(allowed("order", "fastest"), Err("time, slowest".to_owned()));
        assert_eq!(allowed("node", "4294967296"), Err("a whole number from 0 to 4294967295".to_owned()));
        assert!(allowed("from", "yesterday").is_err() && allowed("from", "5").is_ok());
        assert!(allowed("span", "0s").is_err() && allowed("live", "5m").is_ok());
        assert_eq!(
            read(&properties::<HeatQuestion>()["of"], "x"),
            Err("latency, occupancy, link".to_owned())
        );
        assert_eq!(required::<QueueTimelineQuestion>(), ["node", "interface"]);
    }
}
