//! What does Prometheus see of the outputs?

use inband_model::ExportLedger;

use super::family;

/// The counts of every output, by its name; nothing where none is set up.
pub(super) fn write(out: &mut String, exports: &[ExportLedger]) {
    if exports.is_empty() {
        return;
    }
    type Count = fn(&ExportLedger) -> u64;
    let counts: [(&str, &str, &str, Count); 7] = [
        ("offered_total", "counter", "Messages that were to be delivered.", |export| export.offered),
        ("exported_total", "counter", "Messages that were delivered.", |export| export.exported),
        ("kept_back_total", "counter", "Messages that settings or silences keep back.", |export| {
            export.kept_back
        }),
        ("retries_total", "counter", "Attempts beyond the first.", |export| export.retries),
        ("waiting", "gauge", "Messages whose fate is not decided.", |export| export.waiting),
        ("spool_bytes", "gauge", "Bytes that wait on disk.", |export| export.spool_bytes),
        ("up", "gauge", "1: the latest attempt went well, or there was none.", |export| {
            u64::from(export.trouble.is_none())
        }),
    ];
    for (name, kind, help, count) in counts {
        let samples = exports.iter().map(|export| (labels(export, ""), count(export)));
        family(out, &format!("inband_export_{name}"), kind, help, samples);
    }
    let failures = exports.iter().flat_map(|export| {
        let reasons = export.failures.iter();
        reasons.map(move |(reason, count)| (labels(export, &format!(",reason=\"{reason}\"")), count))
    });
    family(out, "inband_export_failed_total", "counter", "Messages that were given up.", failures);
}

/// The output's name, which users choose, and more labels.
fn labels(export: &ExportLedger, more: &str) -> String {
    let name = export.output.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{output=\"{name}\"{more}}}")
}
