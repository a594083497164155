//! Metrics of the outputs.

use inband_model::ExportLedger;

use inband_export::{Family, Kind, Sample, failure_reasons};

/// The counts of every output, by its name; empty if none is configured.
pub(super) fn families(exports: &[ExportLedger]) -> Vec<Family> {
    if exports.is_empty() {
        return Vec::new();
    }
    let label = |export: &ExportLedger| ("output", export.output.clone());
    let counts = COUNTS.iter().map(|(name, kind, help, count)| {
        let samples = exports.iter().map(|export| Sample::new([label(export)], count(export)));
        Family { name, help, kind: *kind, samples: samples.collect() }
    });
    // Those that have not happened are 0: the rate of a series that has just appeared is unknown.
    let failures = exports.iter().flat_map(|export| {
        failure_reasons().map(|reason| {
            let count = export.failures.get(reason).copied().unwrap_or(0);
            Sample::new([label(export), ("reason", reason.to_owned())], count)
        })
    });
    let failed =
        Family::counter("inband_export_failed_total", "Messages that were not delivered, by reason.")
            .with(failures);
    counts.chain([failed]).collect()
}

type Count = fn(&ExportLedger) -> u64;

const COUNTS: [(&str, Kind, &str, Count); 7] = [
    ("inband_export_offered_total", Kind::Counter, "Messages offered to an output.", |of| of.offered),
    ("inband_export_exported_total", Kind::Counter, "Messages delivered.", |of| of.exported),
    ("inband_export_kept_back_total", Kind::Counter, "Messages held back by settings or silences.", |of| {
        of.kept_back
    }),
    ("inband_export_retries_total", Kind::Counter, "Repeated attempts.", |of| of.retries),
    ("inband_export_waiting", Kind::Gauge, "Messages neither delivered nor given up.", |of| of.waiting),
    ("inband_export_spool_bytes", Kind::Gauge, "Bytes that wait in the spool on disk.", |of| of.spool_bytes),
    ("inband_export_up", Kind::Gauge, "1: the latest attempt succeeded, or there was none.", |of| {
        u64::from(of.trouble.is_none())
    }),
];

#[cfg(test)]
mod tests {
    use inband_model::ExportLedger;
    use inband_testkit::metrics::undocumented;

    use super::super::text;
    use super::families;

    #[test]
    fn metrics_of_outputs_are_documented() {
        assert_eq!(undocumented(&text(&families(&[ExportLedger::default()]))), [""; 0]);
    }
}
