//! Starts the outputs and prints a notice when one cannot deliver.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use inband_export::{ExportError, Exports, Stage};
use inband_model::{ExportLedger, Names};
use inband_server::Settings;

use crate::failure::Failure;
use crate::note::note;
use crate::number::count;

/// Watches the outputs; prints when one fails, what that costs, and when it recovers.
pub(super) struct Outputs {
    said: Vec<Said>,
}

/// The running outputs, and the stages through which the collector feeds them.
pub(super) type Started = (Exports, Vec<Box<dyn Stage>>);

/// The last notice printed about one output.
#[derive(Clone)]
struct Said {
    at: Instant,
    trouble: Option<String>,
    lost: u64,
}

impl Outputs {
    /// Starts every output of the settings; the stages are for the collector.
    pub(super) fn start(settings: &Settings, names: &Arc<Names>) -> Result<(Self, Started), Failure> {
        let (exports, stages) = Exports::start(&settings.exports(), names).map_err(failure)?;
        let nothing = Said { at: Instant::now(), trouble: None, lost: 0 };
        let said = vec![nothing; exports.ledgers().len()];
        Ok((Self { said }, (exports, stages)))
    }

    /// Prints what has changed.
    pub(super) fn look(&mut self, exports: &Exports) {
        for (ledger, said) in exports.ledgers().into_iter().zip(&mut self.said) {
            let is_new = ledger.trouble.is_some() != said.trouble.is_some();
            let costs = ledger.export_failed > said.lost && said.at.elapsed() >= SAY_AGAIN;
            if is_new || costs {
                note!("{}", line(&ledger, said.trouble.is_some()));
                *said = Said { at: Instant::now(), trouble: ledger.trouble, lost: ledger.export_failed };
            }
        }
    }
}

/// Checks every output of the settings, before anything is created.
pub(super) fn check(settings: &Settings) -> Result<(), Failure> {
    Exports::check(&settings.exports()).map_err(failure)
}

/// Starts every output of the settings for a replay, which waits for them until it is interrupted.
pub(super) fn start_for_replay(
    settings: &Settings,
    names: &Arc<Names>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<Box<dyn Stage>>, Failure> {
    let (_, stages) = Exports::start_for_replay(&settings.exports(), names, interrupted).map_err(failure)?;
    Ok(stages)
}

fn failure(error: ExportError) -> Failure {
    match error {
        ExportError::Start { .. } => Failure::Work(error.into()),
        wrong => Failure::Usage(wrong.into()),
    }
}

/// The notice about one output, which had trouble before or had not.
fn line(ledger: &ExportLedger, had_trouble: bool) -> String {
    let ExportLedger { output, waiting, export_failed, .. } = ledger;
    let counts = match (waiting, export_failed) {
        (0, 0) => String::new(),
        (waiting, 0) => format!("; {} waiting", count(*waiting, "message")),
        (0, failed) => format!("; {} given up so far", count(*failed, "message")),
        (waiting, failed) => format!("; {} waiting, {failed} given up so far", count(*waiting, "message")),
    };
    match &ledger.trouble {
        Some(trouble) => format!("{output}: {trouble}{counts}"),
        None if had_trouble => format!("{output}: delivers{counts}"),
        None => {
            let reasons: Vec<&str> = ledger.failures.keys().map(String::as_str).collect();
            format!("{output}: loses messages ({}){counts}", reasons.join(", "))
        }
    }
}

/// Least time between two notices about a growing loss.
const SAY_AGAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use inband_model::ExportLedger;

    use super::line;

    #[test]
    fn a_line_says_what_is_wrong_and_what_it_costs() {
        let trouble = Some("connection refused".to_owned());
        let output = "webhook-1".to_owned();
        let ledger = ExportLedger { output, trouble, waiting: 3, ..ExportLedger::default() };
        assert_eq!(line(&ledger, false), "webhook-1: connection refused; 3 messages waiting");
        let lossy = ExportLedger { export_failed: 2, ..ledger.clone() };
        assert_eq!(
            line(&lossy, true),
            "webhook-1: connection refused; 3 messages waiting, 2 given up so far"
        );
        let over = ExportLedger { trouble: None, waiting: 0, ..ledger };
        assert_eq!(line(&over, true), "webhook-1: delivers");
        let failures = [("queue-full".to_owned(), 1)].into();
        let lossy = ExportLedger { export_failed: 1, failures, ..over };
        assert_eq!(line(&lossy, true), "webhook-1: delivers; 1 message given up so far");
        let silent = "webhook-1: loses messages (queue-full); 1 message given up so far";
        assert_eq!(line(&lossy, false), silent);
    }
}
