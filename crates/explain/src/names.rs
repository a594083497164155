//! The names of code points, as users read and write them.

use inband_wire::Link;
use inband_wire::int::domain::set_bits;
use inband_wire::int::earlier::{InstructionSet, Layout};
use inband_wire::int::{HeaderType, Instructions, Location};
use inband_wire::report::earlier::ReportKind;
use inband_wire::report::{AnyIndividual, InnerType, ReportType, ReportVersion};

use crate::packet::ReportForm;

/// The names of the instruction bits that are set, most significant first.
pub(crate) fn instructions(bitmap: Instructions) -> Vec<String> {
    set_bits(bitmap.0).map(instruction).collect()
}

/// The name of instruction bit `bit`, 0 being the most significant.
pub(crate) fn instruction(bit: usize) -> String {
    match bit {
        0 => "node-id",
        1 => "level1-interfaces",
        2 => "hop-latency",
        3 => "queue-occupancy",
        4 => "ingress-timestamp",
        5 => "egress-timestamp",
        6 => "level2-interfaces",
        7 => "egress-utilization",
        8 => "buffer-occupancy",
        15 => "checksum-complement",
        reserved => return format!("reserved-bit-{reserved}"),
    }
    .to_owned()
}

/// The names of the bits that are set in a bitmap of a version before 2.0.
pub(crate) fn earlier_instructions(layout: Layout, bitmap: u16) -> Vec<String> {
    set_bits(bitmap).map(|bit| earlier_instruction(layout, bit)).collect()
}

/// The name of an instruction bit of a version before 2.0.
pub(crate) fn earlier_instruction(layout: Layout, bit: usize) -> String {
    match (layout.instructions(), bit) {
        (InstructionSet::V2016, 1) => "ingress-interface".to_owned(),
        (InstructionSet::V2016, 5) => "egress-interface".to_owned(),
        (InstructionSet::V2016 | InstructionSet::V0_5, 6) => "queue-congestion".to_owned(),
        _ if layout.reserved() & 0x8000 >> bit != 0 => format!("reserved-bit-{bit}"),
        _ => instruction(bit),
    }
}

pub(crate) fn header_type(location: &Location) -> &'static str {
    match location.header_type {
        HeaderType::Md if location.version.is_before_2() => "hop-by-hop",
        HeaderType::Md => "md",
        HeaderType::Mx => "mx",
        HeaderType::Destination => "destination",
    }
}

/// The version of the format; Host-INT's reports are of 0.5.
pub(crate) fn report_version(version: ReportVersion) -> &'static str {
    match version {
        ReportVersion::HostInt => ReportVersion::V0_5.name(),
        other => other.name(),
    }
}

pub(crate) fn report_type(form: &ReportForm) -> String {
    match form {
        ReportForm::Individual(report) => match report.first_word.report_type() {
            ReportType::InnerOnly => "inner-only",
            ReportType::Int => "int",
            ReportType::Ioam => "ioam",
            ReportType::Unknown(code) => return format!("reserved-{code}"),
        },
        ReportForm::Earlier(report) => match report.kind {
            ReportKind::Packet => "inner-only",
            ReportKind::Local => "local",
            ReportKind::Drop => "drop",
            ReportKind::Latency => "latency",
            ReportKind::DropSummary => "drop-summary",
        },
    }
    .to_owned()
}

/// The type of the reported packet.
pub(crate) fn inner(report: &AnyIndividual<'_>) -> String {
    match report {
        AnyIndividual::Individual(report) => inner_type(report.first_word.inner_type()),
        AnyIndividual::Single(report) => match report.packet {
            None => "none",
            Some((Link::Ethernet, _)) => "ethernet",
            Some((Link::Ip, [first, ..])) if first >> 4 == 6 => "ipv6",
            Some((Link::Ip, _)) => "ipv4",
        }
        .to_owned(),
    }
}

fn inner_type(inner_type: InnerType) -> String {
    match inner_type {
        InnerType::None => "none".to_owned(),
        InnerType::Tlv => "tlv".to_owned(),
        InnerType::DomainExtension => "domain-specific".to_owned(),
        InnerType::Ethernet => "ethernet".to_owned(),
        InnerType::Ipv4 => "ipv4".to_owned(),
        InnerType::Ipv6 => "ipv6".to_owned(),
        InnerType::Unknown(code) => format!("reserved-{code}"),
    }
}
