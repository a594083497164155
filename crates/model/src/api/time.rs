//! The time range of a request.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Nanos;

/// A point in time: nanoseconds since 1970, or text such as `2026-01-31T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Nanos);

/// A time span, such as `20ms`, `5m` or `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Nanos);

/// Time range of a request: `live`, or `at` and `span`, or `from` and `to`; default: the last five minutes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeSelection {
    /// Length of a time range that ends now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Span>,
    /// Middle of the time range; `span` is its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Length of the time range around `at`; default: 1s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Start of the time range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// End of the time range, exclusive; default: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
}

/// A time range that includes its start and excludes its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The start.
    pub from: Nanos,
    /// The end.
    pub to: Nanos,
}

/// Why a selection is invalid: the parameter at fault, and what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSelectionError {
    /// The parameter.
    pub parameter: &'static str,
    /// What is allowed.
    pub allowed: &'static str,
}

impl TimeSelection {
    /// Resolves the selection to a time range at the time `now`.
    ///
    /// # Errors
    /// Two forms are mixed, or the range ends before it begins.
    pub fn resolve(self, now: Nanos) -> Result<TimeRange, TimeSelectionError> {
        let Self { live, at, span, from, to } = self;
        let wrong = |parameter, allowed| Err(TimeSelectionError { parameter, allowed });
        if live.is_some() && (at.is_some() || span.is_some() || from.is_some() || to.is_some()) {
            return wrong("live", "either live, or at with span, or from with to");
        }
        if at.is_some() && (from.is_some() || to.is_some()) {
            return wrong("at", "either live, or at with span, or from with to");
        }
        if span.is_some() && at.is_none() {
            return wrong("span", "span only beside at, which is the middle of it");
        }
        if let Some(Time(at)) = at {
            let half = span.map_or(SECOND, |Span(span)| span).0 / 2;
            let (from, to) = (Nanos(at.0.saturating_sub(half)), Nanos(at.0.saturating_add(half.max(1))));
            return Ok(TimeRange { from, to });
        }
        let to = to.map_or(Nanos(now.0.saturating_add(1)), |Time(to)| to);
        let before = |length: Nanos| Nanos(to.0.saturating_sub(length.0));
        let from = match (live, from) {
            (Some(Span(live)), _) => before(live),
            (None, Some(Time(from))) => from,
            (None, None) => before(FIVE_MINUTES),
        };
        if from > to {
            return wrong("from", "a time before to");
        }
        Ok(TimeRange { from, to })
    }
}

impl TimeRange {
    /// Length, nanoseconds.
    #[must_use]
    pub fn length(self) -> u64 {
        self.to.0.saturating_sub(self.from.0)
    }

    /// Whether the range contains a time.
    #[must_use]
    pub fn contains(self, time: Nanos) -> bool {
        self.from <= time && time < self.to
    }
}

impl Time {
    /// Parses a time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(nanos) = text.parse() {
            return Some(Self(Nanos(nanos)));
        }
        let since_1970 = humantime::parse_rfc3339_weak(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self(Nanos(u64::try_from(since_1970.as_nanos()).ok()?)))
    }

    /// The accepted notation.
    pub const ALLOWED: &str = "nanoseconds since 1970, or such as 2026-01-31T12:00:00Z";
}

impl Span {
    /// Parses a span above 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let nanos = u64::try_from(humantime::parse_duration(text).ok()?.as_nanos()).ok()?;
        (nanos > 0).then_some(Self(Nanos(nanos)))
    }

    /// The accepted notation.
    pub const ALLOWED: &str = "a length of time above 0, such as 20ms, 5m or 1h";
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(Self::ALLOWED))
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": TIME_FORMAT, "description": Self::ALLOWED })
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}ns", self.0.0))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(Self::ALLOWED))
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": SPAN_FORMAT, "description": Self::ALLOWED })
    }
}

/// The `format` of a [`Time`] in schemas.
const TIME_FORMAT: &str = "time-or-nanoseconds";
/// The `format` of a [`Span`] in schemas.
const SPAN_FORMAT: &str = "span";
const SECOND: Nanos = Nanos::from_secs(1);
const FIVE_MINUTES: Nanos = Nanos::from_secs(300);

#[cfg(test)]
mod tests {
    use super::{Nanos, Span, Time, TimeRange, TimeSelection};

    #[test]
    fn a_time_is_said_in_one_of_three_ways() {
        let now = Nanos(1_000_000_000_000);
        let span = Span::parse("20ms");
        let at = Some(Time(Nanos(500)));
        let default = TimeSelection::default();
        let resolve = |selection: TimeSelection| selection.resolve(now).map_err(|error| error.parameter);

        assert_eq!(resolve(default).map(TimeRange::length), Ok(300_000_000_000));
        assert_eq!(resolve(TimeSelection { live: span, ..default }).map(TimeRange::length), Ok(20_000_000));
        let around = TimeSelection { at: Some(Time(Nanos(50_000_000))), span, ..default };
        assert_eq!(resolve(around), Ok(TimeRange { from: Nanos(40_000_000), to: Nanos(60_000_000) }));
        assert_eq!(resolve(TimeSelection { live: span, at, ..default }), Err("live"));
        assert_eq!(resolve(TimeSelection { at, from: at, ..default }), Err("at"));
        assert_eq!(resolve(TimeSelection { span, ..default }), Err("span"));
        assert_eq!(resolve(TimeSelection { from: at, to: Some(Time(Nanos(1))), ..default }), Err("from"));
    }
}
