//! Metrics and their documentation.

use std::path::Path;

/// The metrics in a text in the format of Prometheus that `docs/metrics.md` does not describe with their type and
/// help.
///
/// # Panics
/// The document cannot be read, or the text has no metrics.
#[must_use]
pub fn undocumented(text: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let document = std::fs::read_to_string(path).expect("the document of metrics");
    let rows: Vec<Vec<&str>> =
        document.lines().map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
    let is_described = |name: &str, kind: &str, help: &str| {
        rows.iter().any(|row| {
            matches!(row[..], [metric, of_kind, _, meaning]
            if metric.trim_matches('`') == name && of_kind == kind && meaning == help)
        })
    };
    let helps = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '));
    let kind_of = |name: &str| {
        let kind = text.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} ")));
        kind.unwrap_or_default().to_owned()
    };
    assert!(helps.clone().next().is_some(), "no metrics: {text}");
    helps
        .filter(|(name, help)| !is_described(name, &kind_of(name), help))
        .map(|(name, _)| name.to_owned())
        .collect()
}
