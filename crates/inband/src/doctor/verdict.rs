//! Which subcommands work on this machine.

use serde::Serialize;

use super::finding::{Finding, Status};

/// A subcommand and how well it works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub(super) command: String,
    pub(super) status: Status,
    /// The names of the findings that determine it.
    pub(super) because: Vec<String>,
}

/// Judges each of `commands` by the worst finding that concerns it; a command without findings works.
pub(super) fn judge(commands: &[String], findings: &[Finding]) -> Vec<Verdict> {
    let judge = |command: &String| {
        let concerns = |finding: &&Finding| finding.commands.contains(&command.as_str());
        let status = findings.iter().filter(concerns).map(|finding| finding.status).max();
        let status = status.unwrap_or(Status::Ok);
        let because = |finding: &&Finding| finding.status == status && status != Status::Ok;
        let because = findings.iter().filter(concerns).filter(because).map(|finding| finding.name.clone());
        Verdict { command: command.clone(), status, because: because.collect() }
    };
    commands.iter().map(judge).collect()
}

/// Whether everything essential is there: nothing that a subcommand cannot work without is missing.
pub(super) fn is_ready(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|verdict| verdict.status != Status::Missing)
}

#[cfg(test)]
mod tests;
