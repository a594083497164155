//! The code points that mark INT and reports, from defaults, a node's configuration and options; later ones
//! win.

use std::path::{Path, PathBuf};

use inband_explain::{DropReason, Options, reasons};
use inband_wire::drop_reason::Table;
use inband_wire::int::domain::WELL_KNOWN;
use inband_wire::int::{Dialect, DscpMark, Reading};
use inband_wire::report::Leniency;

use crate::failure::Failure;
use crate::node_config::{NodeParts, read_parts};
use crate::number::number;

/// Options that set what marks INT.
#[derive(Debug, clap::Args)]
pub(super) struct OptionsArgs {
    /// Take the marks of INT and reports from this node's configuration; options win over it
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
    /// Drop reason table: sd-fabric-1.1, sd-fabric-1.0, switch-p4-16 or p4lang-switch
    /// [default: sd-fabric-1.1]
    #[arg(long, value_name = "TABLE", value_parser = drop_reasons)]
    drop_reasons: Option<Table>,
    /// Accept the known deviations of deployed implementations, and name them per packet
    #[arg(long)]
    lenient: bool,
}

impl OptionsArgs {
    /// Combines defaults, configuration and options.
    pub(super) fn resolve(&self) -> Result<Options, Failure> {
        let mut options = match &self.config {
            Some(path) => of_node(path)?,
            None => Options::default(),
        };
        if !self.dscp.is_empty() {
            // A given DSCP also replaces the bit that marks Host-INT.
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
            options.drop_reasons = reasons(table);
        }
        if self.lenient {
            options.leniency = Leniency::Lenient;
            accept_every_dialect(&mut options, self);
        }
        Ok(options)
    }
}

/// Reads the INT of every known dialect, behind that dialect's own mark unless another mark is given.
fn accept_every_dialect(options: &mut Options, given: &OptionsArgs) {
    let is_replaced = |dialect: &Dialect| match dialect.dscp() {
        Some(_) => given.config.is_some() || !given.dscp.is_empty(),
        None => given.config.is_some() || !given.udp_port.is_empty(),
    };
    // Where a header fits several dialects, a configured one wins.
    if options.reading == Reading::Strict {
        options.reading = Reading::Lenient;
    }
    if given.config.is_none() && given.report_port.is_empty() {
        options.dialect_report_ports = Dialect::ALL.into_iter().filter_map(Dialect::report_port).collect();
    }
    options.dialect_marks = Dialect::ALL.into_iter().filter(|dialect| !is_replaced(dialect)).collect();
}

/// The code points of a node; domains it does not configure are read as the specification defines them.
fn of_node(path: &Path) -> Result<Options, Failure> {
    let NodeParts { config, mut domains, drop_reasons } = read_parts(path)?;
    domains.extend_from_slice(WELL_KNOWN);
    let mut report_ports: Vec<_> =
        config.report.sessions().iter().map(|session| session.collector.port()).collect();
    report_ports.sort_unstable();
    report_ports.dedup();
    let reason = |code| {
        let reason = drop_reasons.get(code)?;
        let [name, meaning, check] = [reason.name, reason.meaning, reason.check].map(str::to_owned);
        Some((code, DropReason { name, meaning, check }))
    };
    let drop_reasons = (0..=u8::MAX).filter_map(reason).collect();
    let options = config.encapsulation.with_code_points(&domains, Options::with_code_points);
    Ok(Options { report_ports, drop_reasons, reading: config.reading(), ..options })
}

/// Replaces `values` by `given`, unless `given` is empty.
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

#[cfg(test)]
mod tests;
