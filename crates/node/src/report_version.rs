//! Settings that reports of the versions before 2.0 cannot carry.

use crate::config::{InnerForm, MtuAction, NodeConfig, ReportConfig, ReportVersion, SourceInserted};
use crate::error::ConfigError;

/// Rejects a setting that the version of `report` cannot carry.
pub(crate) fn check(config: &NodeConfig, report: &ReportConfig) -> Result<(), ConfigError> {
    if report.version == ReportVersion::V2_0 {
        return Ok(());
    }
    if config.loss.detect && report.version == ReportVersion::V1_0 {
        let possible = "false, where report.version is \"1.0\", which has no room for a drop summary";
        return Err(ConfigError::unsupported("loss.detect", "true", possible));
    }
    let group = report.group.get();
    if group > 1 {
        let possible = "1, where report.version is not \"2.0\"";
        return Err(ConfigError::out_of_range("report.group", group, possible));
    }
    let is_intermediate = config.mtu.action == MtuAction::IntermediateReport;
    let is_copied = report.source_inserted == SourceInserted::Metadata;
    let asked = [
        ("report.inner", report.inner == InnerForm::Tlv, "tlv", "packet"),
        ("report.source_inserted", is_copied, "metadata", "header"),
        // They cannot indicate that the packet was forwarded.
        ("mtu.action", is_intermediate, "intermediate-report", "set-m-bit"),
    ];
    match asked.into_iter().find(|(_, is_asked, ..)| *is_asked) {
        None => Ok(()),
        Some((key, _, found, instead)) => {
            let possible = format!("\"{instead}\", where report.version is not \"2.0\"");
            Err(ConfigError::unsupported(key, found, &possible))
        }
    }
}
