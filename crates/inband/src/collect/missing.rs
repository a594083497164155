//! What a replay could not store or export, in words.

use inband_model::{ExportLedger, LedgerView};
use inband_store::Store;

use crate::number::count;

/// What is missing, by place and amount; `None` when nothing is.
pub(super) fn text(ledger: &LedgerView, store: Option<&Store>) -> Option<String> {
    let total = &ledger.total;
    let mut parts = Vec::new();
    if let Some(store) = store {
        let missing = total.accepted_reports.saturating_sub(total.stored);
        let trouble = store.trouble().map(|trouble| format!(" ({trouble})")).unwrap_or_default();
        if missing > 0 {
            let reports = count(total.accepted_reports, "report");
            parts.push(format!("{missing} of {reports} not stored{trouble}"));
        } else if !trouble.is_empty() {
            // Paths, events and the final ledger are rows too, but not reports.
            parts.push(format!("history is not written to its end{trouble}"));
        }
    }
    parts.extend(ledger.exports.iter().filter_map(output));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What is missing of one output.
fn output(export: &ExportLedger) -> Option<String> {
    let ExportLedger { output, offered, export_failed, waiting, spool_bytes, .. } = export;
    let reasons: Vec<_> = export.failures.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let mut parts = Vec::new();
    if *export_failed > 0 {
        parts.push(format!("{export_failed} given up ({})", reasons.join(", ")));
    }
    if *waiting > 0 {
        let place = if *spool_bytes > 0 { ", in its spool" } else { "" };
        parts.push(format!("{waiting} not delivered{place}"));
    }
    let trouble = export.trouble.as_ref().map(|trouble| format!(": {trouble}")).unwrap_or_default();
    let said = format!("{output}: of {} {}{trouble}", count(*offered, "message"), parts.join(" and "));
    (!parts.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use inband_model::{ExportLedger, Ledger, LedgerView};

    use super::text;

    #[test]
    fn nothing_is_said_of_a_replay_that_is_whole() {
        let export = ExportLedger { offered: 3, exported: 3, ..ExportLedger::default() };

        assert_eq!(text(&LedgerView { exports: vec![export], ..LedgerView::default() }, None), None);
    }

    #[test]
    fn each_output_says_how_much_is_missing_and_why() {
        let export = ExportLedger {
            output: "nats".to_owned(),
            offered: 10,
            exported: 3,
            export_failed: 5,
            waiting: 2,
            failures: [("queue-full".to_owned(), 4), ("refused".to_owned(), 1)].into(),
            spool_bytes: 9,
            trouble: Some("it does not answer".to_owned()),
            ..ExportLedger::default()
        };
        let ledger = LedgerView { exports: vec![export], total: Ledger::default(), ..LedgerView::default() };

        assert_eq!(
            text(&ledger, None).unwrap(),
            "nats: of 10 messages 5 given up (4 queue-full, 1 refused) and 2 not delivered, in its spool: \
             it does not answer"
        );
    }
}
