//! Durations in questions.

/// A number and a unit: `500ms`, `10s`, `5m`, `1h`, `1d`.
pub(crate) fn parse_span(text: &str) -> Option<i64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, nanos) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<i64>().ok()?.checked_mul(*nanos)
}

/// Nanoseconds per unit.
const UNITS: [(&str, i64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];
