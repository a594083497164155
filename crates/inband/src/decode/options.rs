//! Which code points mark INT and reports? Defaults, a node's configuration, options: the later wins.

use std::path::{Path, PathBuf};

use inband_node::DropReasons;
use inband_wire::drop_reason::Table;
use inband_wire::int::domain::WELL_KNOWN;
use inband_wire::int::{CodePoints, Dialect, Domain, DscpMark, Reading, TcpOptions};
use inband_wire::report::Leniency;

use super::packet::DropReason;
use crate::failure::Failure;
use crate::node_config::{NodeParts, read_parts};
use crate::number::number;

/// Options that say what is INT.
#[derive(Debug, clap::Args)]
pub(super) struct OptionsArgs {
    /// Take what marks INT and reports from this node's configuration; options win over it
    #[arg(short, long, value_name = "NODE.TOML")]
    config: Option<PathBuf>,
    /// DSCP that marks INT, with the bits that carry the mark [default: 0x17/0x3f]
    #[arg(long, value_name = "VALUE[/MASK]", value_parser = dscp_mark)]
    dscp: Vec<DscpMark>,
    /// UDP destination port that marks INT [default: 33122]
    #[arg(long, value_name = "PORT", value_parser = number::<u16>)]
    udp_port: Vec<u16>,
    /// GRE protocol type of INT [default: 0x4569]
    #[arg(long, value_name = "TYPE", value_parser = number::<u16>)]
    gre_protocol: Vec<u16>,
    /// 64-bit probe marker in front of INT [default: 0xaaaaaaaabbbbbbbb]
    #[arg(long, value_name = "MARKER", value_parser = number::<u64>)]
    probe_marker: Vec<u64>,
    /// VXLAN-GPE Next Protocol of INT [default: 0x82]
    #[arg(long, value_name = "NUMBER", value_parser = number::<u8>)]
    vxlan_gpe_next_protocol: Vec<u8>,
    /// Geneve option class of INT [default: 0x0103]
    #[arg(long, value_name = "CLASS", value_parser = number::<u16>)]
    geneve_class: Vec<u16>,
    /// UDP destination port of telemetry reports [default: 32766]
    #[arg(long, value_name = "PORT", value_parser = number::<u16>)]
    report_port: Vec<u16>,
    /// Table that says what drop reasons mean: sd-fabric-1.1, sd-fabric-1.0, switch-p4-16 or p4lang-switch
    /// [default: sd-fabric-1.1]
    #[arg(long, value_name = "TABLE", value_parser = drop_reasons)]
    drop_reasons: Option<Table>,
    /// Accept the deviations that deployed implementations are known for, and name them per packet
    #[arg(long)]
    lenient: bool,
}

/// What decoding looks for.
#[derive(Debug)]
pub(super) struct Options {
    dscp: Vec<DscpMark>,
    host_int_dscp: Vec<DscpMark>,
    udp_ports: Vec<u16>,
    gre_protocols: Vec<u16>,
    probe_markers: Vec<u64>,
    vxlan_gpe_next_protocols: Vec<u8>,
    geneve_classes: Vec<u16>,
    tcp_options: TcpOptions,
    domains: Vec<Domain>,
    /// UDP destination ports of telemetry reports.
    pub(super) report_ports: Vec<u16>,
    /// UDP destination ports of dialects' reports, which count where a report can be read.
    pub(super) dialect_report_ports: Vec<u16>,
    drop_reasons: DropReasons,
    /// Whether deviations of reports are accepted.
    pub(super) leniency: Leniency,
    /// Whether deviations of INT are accepted.
    reading: Reading,
    /// Dialects whose own marks count.
    dialect_marks: Vec<Dialect>,
}

impl OptionsArgs {
    /// Puts defaults, configuration and options together.
    pub(super) fn resolve(&self) -> Result<Options, Failure> {
        let mut options = match &self.config {
            Some(path) => Options::of_node(path)?,
            None => Options::with_code_points(CodePoints::DEFAULT, REPORT_PORT),
        };
        if !self.dscp.is_empty() {
            // What is given also replaces the bit that marks Host-INT.
            options.host_int_dscp.clear();
        }
        replace(&mut options.dscp, &self.dscp);
        replace(&mut options.udp_ports, &self.udp_port);
        replace(&mut options.gre_protocols, &self.gre_protocol);
        replace(&mut options.probe_markers, &self.probe_marker);
        replace(&mut options.vxlan_gpe_next_protocols, &self.vxlan_gpe_next_protocol);
        replace(&mut options.geneve_classes, &self.geneve_class);
        replace(&mut options.report_ports, &self.report_port);
        if let Some(table) = self.drop_reasons {
            options.drop_reasons = DropReasons::of_table(table);
        }
        if self.lenient {
            options.leniency = Leniency::Lenient;
            options.accept_every_dialect(self);
        }
        Ok(options)
    }
}

impl Options {
    /// The code points that mark INT.
    pub(super) fn code_points(&self) -> CodePoints<'_> {
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

    /// Reads INT as any implementation writes it, behind its own mark where no other is given.
    fn accept_every_dialect(&mut self, given: &OptionsArgs) {
        let is_replaced = |dialect: &Dialect| match dialect.dscp() {
            Some(_) => given.config.is_some() || !given.dscp.is_empty(),
            None => given.config.is_some() || !given.udp_port.is_empty(),
        };
        // A dialect that is configured stays what it is, where a header could be of several.
        if self.reading == Reading::Strict {
            self.reading = Reading::Lenient;
        }
        if given.config.is_none() && given.report_port.is_empty() {
            self.dialect_report_ports = Dialect::ALL.into_iter().filter_map(Dialect::report_port).collect();
        }
        self.dialect_marks = Dialect::ALL.into_iter().filter(|dialect| !is_replaced(dialect)).collect();
    }

    /// What the drop reason with this code means.
    pub(super) fn drop_reason(&self, code: u8) -> Option<DropReason> {
        self.drop_reasons.get(code).map(|reason| DropReason {
            name: reason.name.to_owned(),
            meaning: reason.meaning.to_owned(),
            check: reason.check.to_owned(),
        })
    }

    /// What the node writes; domains it does not configure are read as the specification has them.
    fn of_node(path: &Path) -> Result<Self, Failure> {
        let NodeParts { config, mut domains, drop_reasons } = read_parts(path)?;
        domains.extend_from_slice(WELL_KNOWN);
        let mut report_ports: Vec<_> =
            config.report.sessions().iter().map(|session| session.collector.port()).collect();
        report_ports.sort_unstable();
        report_ports.dedup();
        let options = config
            .encapsulation
            .with_code_points(&domains, |code_points| Self::with_code_points(code_points, REPORT_PORT));
        Ok(Self { report_ports, drop_reasons, ..options })
    }

    fn with_code_points(code_points: CodePoints<'_>, report_port: u16) -> Self {
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
            report_ports: vec![report_port],
            dialect_report_ports: Vec::new(),
            drop_reasons: DropReasons::default(),
            leniency: Leniency::Strict,
            reading: code_points.reading,
            dialect_marks: Vec::new(),
        }
    }
}

/// What is given replaces what was there.
fn replace<T: Clone>(values: &mut Vec<T>, given: &[T]) {
    if !given.is_empty() {
        *values = given.to_vec();
    }
}

fn drop_reasons(name: &str) -> Result<Table, String> {
    Table::by_name(name).ok_or_else(|| {
        let names: Vec<_> = Table::ALL.iter().map(|table| table.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// Reads `VALUE` or `VALUE/MASK`.
fn dscp_mark(text: &str) -> Result<DscpMark, String> {
    let (value, mask) = text.split_once('/').unwrap_or((text, "0x3f"));
    let mark = DscpMark { value: number(value)?, mask: number(mask)? };
    match mark {
        DscpMark { value: 64.., .. } => Err("a DSCP is at most 0x3f".to_owned()),
        DscpMark { mask: 0 | 64.., .. } => Err("a DSCP mask is 0x01 to 0x3f".to_owned()),
        _ if mark.value & !mark.mask != 0 => Err("the value has bits outside of the mask".to_owned()),
        _ => Ok(mark),
    }
}

/// UDP port that SD-Fabric, Host-INT and others send reports to.
const REPORT_PORT: u16 = 32766;

#[cfg(test)]
mod tests;
