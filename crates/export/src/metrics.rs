//! Metrics with their samples, and the source of exported metrics.

use std::fmt;

/// A source of metrics.
pub trait MetricsSource: Send + Sync {
    /// Every metric at this time; `None` if they are unavailable.
    fn families(&self) -> Option<Vec<Family>>;
}

impl fmt::Debug for dyn MetricsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetricsSource")
    }
}

/// A metric: a name, what it means, and a sample for each set of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// How its values change.
    pub kind: Kind,
    /// A value for each set of labels.
    pub samples: Vec<Sample>,
}

/// How the values of a metric change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// They only increase, from 0.
    Counter,
    /// They increase and decrease.
    Gauge,
}

/// A value with its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Names and values of its labels.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer.
    Count(u64),
    /// A measurement, such as seconds.
    Measure(f64),
}

impl Family {
    /// A metric whose values only increase.
    #[must_use]
    pub const fn counter(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: Kind::Counter, samples: Vec::new() }
    }

    /// A metric whose values increase and decrease.
    #[must_use]
    pub const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: Kind::Gauge, samples: Vec::new() }
    }

    /// The metric with one value, without labels.
    #[must_use]
    pub fn of(mut self, value: impl Into<Value>) -> Self {
        self.samples.push(Sample { labels: Vec::new(), value: value.into() });
        self
    }

    /// The metric with these samples.
    #[must_use]
    pub fn with(mut self, samples: impl IntoIterator<Item = Sample>) -> Self {
        self.samples.extend(samples);
        self
    }
}

impl Sample {
    /// A value with these labels.
    #[must_use]
    pub fn new<const N: usize>(labels: [(&'static str, String); N], value: impl Into<Value>) -> Self {
        Self { labels: labels.into(), value: value.into() }
    }
}

impl Value {
    /// The value as a floating-point number; a count above 2^53 is rounded.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "the writers of OTLP and Prometheus read 64-bit floats")]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Measure(measure) => measure,
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Count(flag.into())
    }
}

impl From<f64> for Value {
    fn from(measure: f64) -> Self {
        Self::Measure(measure)
    }
}
