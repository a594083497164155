//! The id of an event.

use std::borrow::Cow;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::path::mix;
use crate::{EventKind, Nanos};

/// The 64-bit id of an event, by which it is acknowledged: a hash of its kind, its key and its start, the
/// same on every machine and in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u64);

impl EventId {
    /// The id of an event of this kind with this key that began at `first`.
    #[must_use]
    pub fn of(kind: EventKind, key: &str, first: Nanos) -> EventId {
        let hash = [kind.name(), key].into_iter().fold(mix(first.0), |hash, text| {
            let hash = mix(hash ^ text.len() as u64);
            text.as_bytes().chunks(8).fold(hash, |hash, bytes| mix(hash ^ word(bytes)))
        });
        EventId(hash)
    }
}

/// Up to eight bytes as one number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl JsonSchema for EventId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-f]{16}$" })
    }
}

impl FromStr for EventId {
    type Err = ParseIntError;

    /// Parses an id as [`Display`](fmt::Display) writes it.
    fn from_str(text: &str) -> Result<EventId, ParseIntError> {
        u64::from_str_radix(text, 16).map(EventId)
    }
}

impl Serialize for EventId {
    /// Writes hexadecimal text: JSON numbers are not exact beyond 2^53.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
