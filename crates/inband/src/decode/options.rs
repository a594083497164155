//! Which code points mark INT and reports? Defaults, a node's configuration, options: the later wins.

use inband_wire::int::{CodePoints, DscpMark};
use inband_wire::report::Leniency;

use super::number::number;
use crate::failure::Failure;

/// Options that say what is INT.
#[derive(Debug, clap::Args)]
pub(super) struct OptionsArgs {
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
    /// Accept the deviations that deployed implementations are known for, and name them per packet
    #[arg(long)]
    lenient: bool,
}

/// What decoding looks for.
#[derive(Debug)]
pub(super) struct Options {
    dscp: Vec<DscpMark>,
    udp_ports: Vec<u16>,
    gre_protocols: Vec<u16>,
    probe_markers: Vec<u64>,
    vxlan_gpe_next_protocols: Vec<u8>,
    geneve_classes: Vec<u16>,
    /// UDP destination ports of telemetry reports.
    pub(super) report_ports: Vec<u16>,
    /// Whether deviations of reports are accepted.
    pub(super) leniency: Leniency,
}

impl OptionsArgs {
    /// Puts defaults, configuration and options together.
    pub(super) fn resolve(&self) -> Result<Options, Failure> {
        let default = CodePoints::DEFAULT;
        Ok(Options {
            dscp: given_or(&self.dscp, default.dscp),
            udp_ports: given_or(&self.udp_port, default.udp_ports),
            gre_protocols: given_or(&self.gre_protocol, default.gre_protocols),
            probe_markers: given_or(&self.probe_marker, default.probe_markers),
            vxlan_gpe_next_protocols: given_or(
                &self.vxlan_gpe_next_protocol,
                default.vxlan_gpe_next_protocols,
            ),
            geneve_classes: given_or(&self.geneve_class, default.geneve_classes),
            report_ports: given_or(&self.report_port, &[REPORT_PORT]),
            leniency: if self.lenient { Leniency::Lenient } else { Leniency::Strict },
        })
    }
}

impl Options {
    /// The code points that mark INT.
    pub(super) fn code_points(&self) -> CodePoints<'_> {
        CodePoints {
            dscp: &self.dscp,
            udp_ports: &self.udp_ports,
            gre_protocols: &self.gre_protocols,
            probe_markers: &self.probe_markers,
            vxlan_gpe_next_protocols: &self.vxlan_gpe_next_protocols,
            geneve_classes: &self.geneve_classes,
            ..CodePoints::DEFAULT
        }
    }
}

fn given_or<T: Clone>(given: &[T], default: &[T]) -> Vec<T> {
    if given.is_empty() { default.to_vec() } else { given.to_vec() }
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
