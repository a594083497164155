//! The time that a question is about.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Nanos;

/// A point in time: nanoseconds since 1970, or as `2026-01-31T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Nanos);

/// A length of time, as `20ms`, `5m` or `1h 30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Nanos);

/// Which time is asked about: `live`, or `at` and `span`, or `from` and `to`; the last five minutes where nothing is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeSelection {
    /// The time up to now, so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Span>,
    /// The middle of the time; `span` is its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// The length of the time around `at`; 1s where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The beginning of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// The end of the time, which is not part of it; now where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
}

/// A time with its beginning and without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The beginning.
    pub from: Nanos,
    /// The end.
    pub to: Nanos,
}

/// Why a selection is none: the parameter at fault, and what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSelectionError {
    /// The parameter.
    pub parameter: &'static str,
    /// What is allowed.
    pub allowed: &'static str,
}

impl TimeSelection {
    /// The time that is meant at `now`.
    ///
    /// # Errors
    /// Two ways to say a time are mixed, or it ends before it begins.
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
    /// How long it is, nanoseconds.
    #[must_use]
    pub fn length(self) -> u64 {
        self.to.0.saturating_sub(self.from.0)
    }

    /// Whether a time is in it.
    #[must_use]
    pub fn contains(self, time: Nanos) -> bool {
        self.from <= time && time < self.to
    }
}

impl Time {
    /// Reads a time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(nanos) = text.parse() {
            return Some(Self(Nanos(nanos)));
        }
        let since_1970 = humantime::parse_rfc3339_weak(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self(Nanos(u64::try_from(since_1970.as_nanos()).ok()?)))
    }

    /// What may be written.
    pub const ALLOWED: &str = "nanoseconds since 1970, or such as 2026-01-31T12:00:00Z";
}

impl Span {
    /// Reads a length of time that is not 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let nanos = u64::try_from(humantime::parse_duration(text).ok()?.as_nanos()).ok()?;
        (nanos > 0).then_some(Self(Nanos(nanos)))
    }

    /// What may be written.
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
