//! A finding about one thing on this machine.

use serde::Serialize;

/// Whether a thing is present and as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// Present, but something works less well than it could.
    Degraded,
    /// Absent, and a subcommand cannot do its work.
    Missing,
}

/// What a thing belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Area {
    Kernel,
    Privileges,
    Bpf,
    Sockets,
    Interfaces,
    Clock,
    Collector,
    Configuration,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) area: Area,
    pub(super) name: String,
    pub(super) status: Status,
    /// What was found.
    pub(super) found: String,
    /// The subcommands that need it.
    pub(super) commands: Vec<&'static str>,
    /// Why it matters: what fails, or works badly; empty where nothing is wrong.
    pub(super) why: String,
    /// Commands that fix it, or what to do where no command does.
    pub(super) fix: Vec<String>,
}

impl Area {
    pub(super) const ALL: [Self; 8] = [
        Self::Kernel,
        Self::Privileges,
        Self::Bpf,
        Self::Sockets,
        Self::Interfaces,
        Self::Clock,
        Self::Collector,
        Self::Configuration,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Kernel => "Kernel",
            Self::Privileges => "Privileges",
            Self::Bpf => "BPF",
            Self::Sockets => "Sockets and namespaces",
            Self::Interfaces => "Interfaces",
            Self::Clock => "Clock",
            Self::Collector => "Collector",
            Self::Configuration => "Configuration",
        }
    }
}

impl Finding {
    /// A thing as it should be.
    pub(super) fn ok(
        area: Area,
        name: impl Into<String>,
        found: impl Into<String>,
        commands: &[&'static str],
    ) -> Self {
        Self {
            area,
            name: name.into(),
            status: Status::Ok,
            found: found.into(),
            commands: commands.to_vec(),
            why: String::new(),
            fix: Vec::new(),
        }
    }

    /// The same finding as degraded: something works less well.
    pub(super) fn degraded(self, why: impl Into<String>, fix: impl Into<String>) -> Self {
        self.wrong(Status::Degraded, why.into(), fix.into())
    }

    /// The same finding as missing: a subcommand cannot work.
    pub(super) fn missing(self, why: impl Into<String>, fix: impl Into<String>) -> Self {
        self.wrong(Status::Missing, why.into(), fix.into())
    }

    /// The same finding, limited to those of `commands` that this program has.
    pub(super) fn only_for(mut self, commands: &[String]) -> Self {
        self.commands.retain(|command| commands.iter().any(|known| known == command));
        self
    }

    fn wrong(mut self, status: Status, why: String, fix: String) -> Self {
        self.status = self.status.max(status);
        self.why = if self.why.is_empty() { why } else { format!("{}; {why}", self.why) };
        if !fix.is_empty() && !self.fix.contains(&fix) {
            self.fix.push(fix);
        }
        self
    }
}
