//! What are code points called where users read and write them?

use inband_wire::int::domain::set_bits;
use inband_wire::int::{HeaderType, Instructions};
use inband_wire::report::{InnerType, ReportType};

/// The names of the instruction bits that are set, most significant first.
pub(super) fn instructions(bitmap: Instructions) -> Vec<String> {
    set_bits(bitmap.0).map(instruction).collect()
}

/// The name of instruction bit `bit`, 0 being the most significant.
pub(super) fn instruction(bit: usize) -> String {
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

pub(super) fn header_type(header_type: HeaderType) -> &'static str {
    match header_type {
        HeaderType::Md => "md",
        HeaderType::Mx => "mx",
        HeaderType::Destination => "destination",
    }
}

pub(super) fn report_type(report_type: ReportType) -> String {
    match report_type {
        ReportType::InnerOnly => "inner-only".to_owned(),
        ReportType::Int => "int".to_owned(),
        ReportType::Ioam => "ioam".to_owned(),
        ReportType::Unknown(code) => format!("reserved-{code}"),
    }
}

pub(super) fn inner_type(inner_type: InnerType) -> String {
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
