//! The form of reports.

use serde::Deserialize;

/// The report format a node writes.
// sd-fabric-1.0/report-01
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum ReportVersion {
    /// Telemetry Report 2.0.
    #[default]
    #[serde(rename = "2.0")]
    V2_0,
    /// Telemetry Report 1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// Telemetry Report 0.5.
    #[serde(rename = "0.5")]
    V0_5,
}

/// How a packet is put into a report 2.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InnerForm {
    /// As it is.
    #[default]
    Packet,
    /// In a TLV, of at most 1,020 bytes.
    Tlv,
}

/// Where source-inserted metadata of an INT-MX packet is reported, if its requirement asks for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceInserted {
    /// In the INT-MX header of the packet fragment; copied where the fragment ends before it does.
    #[default]
    Header,
    /// In the domain-specific metadata of the report, a copy.
    Metadata,
}
