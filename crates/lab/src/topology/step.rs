//! The steps of `lab run`, and the faults that can be applied to a lab.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::quantity::{Rate, Span};

/// A range of bytes of a topology file; `None`: unspecified.
type Place = Option<std::ops::Range<usize>>;

/// `[[step]]`: one action of `lab run`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The time since everything was running.
    pub at: Spanned<Span>,
    /// A command on a host or switch.
    #[serde(default)]
    pub run: Option<Command>,
    /// Both ends of a link that fails.
    #[serde(default, rename = "break")]
    pub break_link: Option<Spanned<Vec<String>>>,
    /// Both ends of a link, or a switch, whose faults end.
    #[serde(default)]
    pub mend: Option<Spanned<Vec<String>>>,
    /// Both ends of a link, and the rate it has from now on.
    #[serde(default)]
    pub slow: Option<Spanned<Vec<String>>>,
    /// A switch, and its way to drop.
    #[serde(default)]
    pub drop: Option<Spanned<Vec<String>>>,
    /// Two neighbours that send each other packets for other destinations.
    #[serde(default, rename = "loop")]
    pub loop_between: Option<Spanned<Vec<String>>>,
    /// A switch, a prefix, and the neighbour that wrongly receives the prefix.
    #[serde(default)]
    pub misroute: Option<Spanned<Vec<String>>>,
}

/// A command and where it runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The host or switch.
    pub on: Spanned<String>,
    /// What `sh` runs there.
    pub command: String,
    /// Whether an exit code other than 0 is accepted; default `false`.
    #[serde(default)]
    pub may_fail: bool,
}

/// The action of a step.
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs a command.
    Run(Command),
    /// Applies a fault.
    Fault(Fault),
    /// Ends the faults of a link (two names) or of a switch (one).
    Mend(Vec<String>),
}

/// A fault in a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fault")]
pub enum Fault {
    /// A link is down.
    Break {
        /// One end.
        a: String,
        /// The other.
        b: String,
    },
    /// A link has a different rate.
    Slow {
        /// One end.
        a: String,
        /// The other.
        b: String,
        /// Bits per second.
        rate: Rate,
    },
    /// A switch drops packets to other switches.
    Drop {
        /// The switch.
        switch: String,
        /// How.
        reason: DropReason,
    },
    /// Two neighbours send each other packets for other destinations.
    Loop {
        /// One.
        a: String,
        /// The other.
        b: String,
    },
    /// A switch sends a prefix to the wrong neighbour.
    Misroute {
        /// The switch.
        switch: String,
        /// The prefix.
        prefix: crate::quantity::Network,
        /// The neighbour.
        next: String,
    },
}

/// How a switch drops packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// It has no route to hosts of other switches.
    NoRoute,
    /// What it sends to other switches is lost without its knowledge.
    Silent,
}

impl Step {
    /// The action of the step, and its place in the file.
    ///
    /// # Errors
    /// There is no action, or more than one, or its arguments are invalid.
    pub fn action(&self) -> Result<(Action, Place), (String, Place)> {
        type Arguments = Option<Spanned<Vec<String>>>;
        let faults: [(&str, &Arguments); 6] = [
            ("break", &self.break_link),
            ("mend", &self.mend),
            ("slow", &self.slow),
            ("drop", &self.drop),
            ("loop", &self.loop_between),
            ("misroute", &self.misroute),
        ];
        let mut given = faults.iter().filter_map(|(name, value)| value.as_ref().map(|value| (*name, value)));
        let first = given.next();
        match (first, given.next(), &self.run) {
            (None, None, Some(command)) => Ok((Action::Run(command.clone()), Some(command.on.span()))),
            (Some((name, arguments)), None, None) => {
                let span = Some(arguments.span());
                let action =
                    Action::parse(name, arguments.get_ref()).map_err(|error| (error, span.clone()))?;
                Ok((action, span))
            }
            (None, _, None) => {
                Err(("the step does nothing: give it `run` or a fault".into(), Some(self.at.span())))
            }
            (first, ..) => {
                let span = first.map(|(_, arguments)| arguments.span());
                Err(("a step does one thing: give each a [[step]] of its own".into(), span))
            }
        }
    }
}

impl Action {
    /// Parses a fault, or its end, with its arguments in the order of the command line.
    ///
    /// # Errors
    /// The number of arguments, or one of them, is invalid.
    pub fn parse(name: &str, arguments: &[String]) -> Result<Self, String> {
        let [a, b, third] = [0, 1, 2].map(|at| arguments.get(at).cloned().unwrap_or_default());
        let wrong = |what: &str| Err(format!("`{name}` takes {what}"));
        Ok(Self::Fault(match (name, arguments.len()) {
            ("mend", 1 | 2) => return Ok(Self::Mend(arguments.to_vec())),
            ("mend", _) => return wrong("both ends of a link, or a switch"),
            ("break", 2) => Fault::Break { a, b },
            ("loop", 2) => Fault::Loop { a, b },
            ("break" | "loop", _) => return wrong("both ends of a link"),
            ("slow", 3) => Fault::Slow { a, b, rate: third.parse()? },
            ("slow", _) => return wrong("both ends of a link and a rate"),
            ("drop", 2) => Fault::Drop { switch: a, reason: b.parse()? },
            ("drop", _) => return wrong("a switch and a reason"),
            ("misroute", 3) => {
                let prefix: crate::quantity::Network = b.parse()?;
                Fault::Misroute { switch: a, prefix: prefix.network(), next: third }
            }
            ("misroute", _) => return wrong("a switch, a prefix and a neighbour"),
            _ => return Err(format!("no fault is called `{name}`")),
        }))
    }
}

impl std::str::FromStr for DropReason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "no-route" => Ok(Self::NoRoute),
            "silent" => Ok(Self::Silent),
            _ => Err(format!("unknown value `{text}`, expected `no-route` or `silent`")),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Break { a, b } => write!(f, "break {a} {b}"),
            Self::Slow { a, b, rate } => write!(f, "slow {a} {b} {rate}"),
            Self::Drop { switch, reason: DropReason::NoRoute } => write!(f, "drop {switch} no-route"),
            Self::Drop { switch, reason: DropReason::Silent } => write!(f, "drop {switch} silent"),
            Self::Loop { a, b } => write!(f, "loop {a} {b}"),
            Self::Misroute { switch, prefix, next } => write!(f, "misroute {switch} {prefix} {next}"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(command) => write!(f, "on {}: {}", command.on.get_ref(), command.command),
            Self::Fault(fault) => fault.fmt(f),
            Self::Mend(names) => write!(f, "mend {}", names.join(" ")),
        }
    }
}
