//! The marks of INT and telemetry reports, and the strictness of reading both.

use std::collections::BTreeMap;

use inband_wire::drop_reason::Table;
use inband_wire::int::{CodePoints, Dialect, Domain, DscpMark, Reading, TcpOptions};
use inband_wire::report::Leniency;

use crate::packet::DropReason;

/// The options of a description. The default has the code points of the specifications, and reads strictly.
#[derive(Debug, Clone)]
pub struct Options {
    /// DSCPs that mark INT.
    pub dscp: Vec<DscpMark>,
    /// DSCPs that mark Host-INT.
    pub host_int_dscp: Vec<DscpMark>,
    /// UDP destination ports that mark INT.
    pub udp_ports: Vec<u16>,
    /// GRE protocol types that mark INT.
    pub gre_protocols: Vec<u16>,
    /// Probe markers that precede INT.
    pub probe_markers: Vec<u64>,
    /// VXLAN-GPE Next Protocols that mark INT.
    pub vxlan_gpe_next_protocols: Vec<u8>,
    /// Geneve option classes of INT.
    pub geneve_classes: Vec<u16>,
    /// Whether INT precedes or follows TCP options.
    pub tcp_options: TcpOptions,
    /// Domains whose metadata lengths are known.
    pub domains: Vec<Domain>,
    /// UDP destination ports of telemetry reports.
    pub report_ports: Vec<u16>,
    /// UDP destination ports of dialects' reports; they count only when a report can be read.
    pub dialect_report_ports: Vec<u16>,
    /// The meaning of drop reasons, by code.
    pub drop_reasons: BTreeMap<u8, DropReason>,
    /// Whether deviations of reports are accepted.
    pub leniency: Leniency,
    /// Whether deviations of INT are accepted.
    pub reading: Reading,
    /// Dialects whose own marks count.
    pub dialect_marks: Vec<Dialect>,
}

impl Options {
    /// Creates options with `code_points`, everything else default.
    #[must_use]
    pub fn with_code_points(code_points: CodePoints<'_>) -> Self {
        Self {
            dscp: code_points.dscp.to_vec(),
            host_int_dscp: code_points.host_int_dscp.to_vec(),
            udp_ports: code_points.udp_ports.to_vec(),
            gre_protocols: code_points.gre_protocols.to_vec(),
            probe_markers: code_points.probe_markers.to_vec(),
            vxlan_gpe_next_protocols: code_points.vxlan_gpe_next_protocols.to_vec(),
            geneve_classes: code_points.geneve_classes.to_vec(),
            tcp_options: code_points.tcp_options,
            domains: code_points.domains.to_vec(),
            report_ports: vec![REPORT_PORT],
            dialect_report_ports: Vec::new(),
            drop_reasons: reasons(Table::default()),
            leniency: Leniency::Strict,
            reading: code_points.reading,
            dialect_marks: Vec::new(),
        }
    }

    /// The code points that mark INT.
    #[must_use]
    pub fn code_points(&self) -> CodePoints<'_> {
        CodePoints {
            dscp: &self.dscp,
            host_int_dscp: &self.host_int_dscp,
            udp_ports: &self.udp_ports,
            gre_protocols: &self.gre_protocols,
            probe_markers: &self.probe_markers,
            vxlan_gpe_next_protocols: &self.vxlan_gpe_next_protocols,
            geneve_classes: &self.geneve_classes,
            tcp_options: self.tcp_options,
            domains: &self.domains,
            reading: self.reading,
            dialect_marks: &self.dialect_marks,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::with_code_points(CodePoints::DEFAULT)
    }
}

/// The drop reasons of a table, by code.
#[must_use]
pub fn reasons(table: Table) -> BTreeMap<u8, DropReason> {
    let reason = |code| {
        let reason = table.get(code)?;
        let [name, meaning, check] = [reason.name, reason.meaning, reason.check].map(str::to_owned);
        Some((code, DropReason { name, meaning, check }))
    };
    (0..=u8::MAX).filter_map(reason).collect()
}

/// UDP port to which SD-Fabric, Host-INT and others send reports.
const REPORT_PORT: u16 = 32_766;
