//! What became of every report, in words.

use std::fmt::Write;

use inband_model::FaultCount;
use inband_server::Outcome;

/// The final ledger, one line for each place where datagrams or reports can be.
pub(super) fn text(outcome: &Outcome) -> String {
    let total = &outcome.ledger.total;
    let faults: Vec<(String, u64)> = outcome.ledger.malformed.iter().map(told).collect();
    let faults = faults.iter().map(|(name, count)| (name.as_str(), *count));
    let mut datagrams = vec![("received", total.received), ("malformed", total.malformed)];
    datagrams.extend(faults);
    datagrams.extend([
        ("shed", total.shed),
        ("duplicate", total.duplicate),
        ("accepted", total.accepted),
        ("reordered, of those accepted", total.reordered),
        ("late, of those accepted", total.late),
    ]);
    let elsewhere = [
        ("lost on the way", total.lost),
        ("dropped by the kernel", total.kernel_dropped),
        ("from addresses that may not report", total.refused),
    ];
    let reports =
        [("accepted", total.accepted_reports), ("stored", total.stored), ("not stored", total.store_failed)];
    let mut text = String::new();
    let mut part = |title: &str, counts: &[(&str, u64)]| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{title}");
        for (name, count) in counts {
            let _ = writeln!(text, "  {name:<36}{count:>14}");
        }
    };
    part("Datagrams", &datagrams);
    part("Datagrams that did not come", &elsewhere);
    part("Reports", &reports);
    for export in &outcome.ledger.exports {
        let counts = [
            ("exported", export.exported),
            ("given up", export.export_failed),
            ("not decided", export.waiting),
        ];
        part(&format!("Messages of {}", export.output), &counts);
    }
    if total.lost_unknown > 0 {
        let _ = writeln!(text, "An unknown number was lost {} times.", total.lost_unknown);
    }
    text
}

/// A reason for malformed datagrams, with its count.
fn told(fault: &FaultCount) -> (String, u64) {
    (format!("- {}: {}", fault.header, fault.fault), fault.count)
}
