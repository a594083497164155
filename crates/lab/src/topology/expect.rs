//! The expectations of `lab run` about the collector and about commands.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::{Command, Mistake};
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
    /// Checks that it expects one thing, with the keys that apply to it.
    ///
    /// # Errors
    /// What is missing, or has no effect.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        let time = || self.by.as_ref().or(self.after.as_ref()).map(Spanned::span);
        let kinds = [
            ("event", self.event.as_ref().map(Spanned::span)),
            ("path", self.path.as_ref().map(|path| path.nodes.span())),
            ("only", self.only.as_ref().map(Spanned::span)),
            ("run", self.run.as_ref().map(|run| run.on.span())),
        ];
        let mut given = kinds.iter().filter_map(|(kind, span)| Some((*kind, span.clone()?)));
        let (Some((kind, span)), None) = (given.next(), given.next()) else {
            let span = kinds.into_iter().find_map(|(_, span)| span).or_else(time);
            let message = "an expectation has one of `event`, `path`, `only` and `run`".into();
            return Err(Mistake { span, message });
        };
        let unused = [
            ("key", self.key.is_some() && kind != "event"),
            ("absent", self.absent && matches!(kind, "only" | "run")),
            ("by", self.by.is_some() && kind == "run"),
            ("after", self.after.is_some() && kind == "run"),
        ];
        match unused.iter().find(|(_, is_unused)| *is_unused) {
            None => Ok(()),
            Some((key, _)) => Err(Mistake::at(span, format!("an expectation of `{kind}` has no `{key}`"))),
        }
    }

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
