//! The outcome of a run, of its steps and of its expectations.

use std::collections::BTreeMap;

use serde::Serialize;

/// The outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The lab's name.
    pub name: String,
    /// Whether all steps succeeded and all expectations were met.
    pub passed: bool,
    /// Duration since everything was running, seconds.
    pub seconds: f64,
    /// The steps.
    pub steps: Vec<StepOutcome>,
    /// The expectations.
    pub expectations: Vec<Judgement>,
    /// The numbers of events that the collector announced, by kind.
    pub events: BTreeMap<String, usize>,
    /// Packets that the machine has dropped in its processors' backlogs since the lab's start, of the lab and
    /// of everything else: they are in no other count. None: unknown.
    pub backlog_drops: Option<u64>,
}

/// The outcome of a step.
#[derive(Clone, Debug, Serialize)]
pub struct StepOutcome {
    /// When it was played, or should have been, seconds.
    pub at: f64,
    /// The step in words.
    pub step: String,
    /// Whether it succeeded.
    pub passed: bool,
    /// The exit code of a command; none: it was still running at the end, or there is no command.
    pub exit_code: Option<i32>,
    /// The end of what it printed, or why it failed.
    pub output: String,
}

/// The outcome of an expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// The expectation in words.
    pub expected: String,
    /// Whether it was met.
    pub passed: bool,
    /// When it was first met, seconds.
    pub at: Option<f64>,
    /// What was seen, as expected or not.
    pub seen: String,
}
