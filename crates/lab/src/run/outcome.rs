//! What became of a run, of its steps and of its expectations.

use std::collections::BTreeMap;

use serde::Serialize;

/// What became of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The lab's name.
    pub name: String,
    /// Whether everything was as expected.
    pub passed: bool,
    /// Seconds from the time at which everything ran.
    pub seconds: f64,
    /// What was done.
    pub steps: Vec<StepOutcome>,
    /// What was expected.
    pub expectations: Vec<Judgement>,
    /// The kinds of all events that the collector announced, with their number.
    pub events: BTreeMap<String, usize>,
}

/// What became of a step.
#[derive(Clone, Debug, Serialize)]
pub struct StepOutcome {
    /// When it was played, seconds.
    pub at: f64,
    /// What it was.
    pub step: String,
    /// Whether it did what it was to do.
    pub passed: bool,
    /// The exit code of a command; none: it was still running at the end, or there is no command.
    pub exit_code: Option<i32>,
    /// The end of what it printed, or why it failed.
    pub output: String,
}

/// What became of an expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// What was expected.
    pub expected: String,
    /// Whether it was so.
    pub passed: bool,
    /// When it was seen first, seconds.
    pub at: Option<f64>,
    /// What was seen, or what was seen instead.
    pub seen: String,
}
