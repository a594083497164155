//! The expectations of `lab run` about the collector and about commands.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::Command;
use crate::quantity::Span;

/// `[[expect]]`: one expectation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The kind of an event that the collector announces.
    #[serde(default)]
    pub event: Option<Spanned<String>>,
    /// Text that the event's key, in names, contains.
    #[serde(default)]
    pub key: Option<String>,
    /// `true`: the event, or the path, must not be seen.
    #[serde(default)]
    pub absent: bool,
    /// The only kinds of events that the collector may announce.
    #[serde(default)]
    pub only: Option<Spanned<Vec<String>>>,
    /// The path of a flow.
    #[serde(default)]
    pub path: Option<PathExpectation>,
    /// A command that exits with 0, after everything else.
    #[serde(default)]
    pub run: Option<Command>,
    /// The latest time; default the end of the run.
    #[serde(default)]
    pub by: Option<Spanned<Span>>,
    /// The earliest time; default the start of the run.
    #[serde(default)]
    pub after: Option<Spanned<Span>>,
}

impl Expect {
    /// The latest time since everything was running; `None`: the end of the run.
    #[must_use]
    pub fn by(&self) -> Option<Duration> {
        self.by.as_ref().map(|by| by.get_ref().0)
    }

    /// Whether a time since everything was running is not too early.
    #[must_use]
    pub fn allows(&self, time: Duration) -> bool {
        self.after.as_ref().is_none_or(|after| time >= after.get_ref().0)
    }
}

/// The path of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathExpectation {
    /// The flow's source.
    pub source: IpAddr,
    /// The flow's destination.
    pub destination: IpAddr,
    /// Its nodes, first hop first; a list of lists allows several paths.
    pub nodes: Spanned<Vec<String>>,
}
