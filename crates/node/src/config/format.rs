//! Report formats.

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

/// How a report 2.0 contains a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InnerForm {
    /// Unchanged.
    #[default]
    Packet,
    /// In a TLV, of at most 1,020 bytes.
    Tlv,
}

/// Where source-inserted metadata of an INT-MX packet is reported, if its reporting requirement asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceInserted {
    /// In the INT-MX header of the packet fragment; copied if the fragment ends before the metadata does.
    #[default]
    Header,
    /// In the domain-specific metadata of the report, as a copy.
    Metadata,
}
