//! 64-bit numbers as text, for JSON readers that use doubles.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{FlowId, Nanos};

/// A 64-bit number written as text: a time or an id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exact(pub u64);

impl From<u64> for Exact {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<Nanos> for Exact {
    fn from(time: Nanos) -> Self {
        Self(time.0)
    }
}

impl From<FlowId> for Exact {
    fn from(id: FlowId) -> Self {
        Self(id.0)
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor)
    }
}

impl JsonSchema for Exact {
    fn schema_name() -> Cow<'static, str> {
        "Exact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]+$",
            "description": "a number of 64 bits, as text"
        })
    }
}

struct ExactVisitor;

impl Visitor<'_> for ExactVisitor {
    type Value = Exact;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of 64 bits, or one as text")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Exact, E> {
        Ok(Exact(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Exact, E> {
        text.parse().map(Exact).map_err(|_| E::custom(format_args!("`{text}` is no number of 64 bits")))
    }
}
