//! How is a telemetry report shown? What the datagram says, each report, and the packet in it.

use std::io::{self, Write};

use inband_wire::report::first_word::TO_THE_END;
use inband_wire::report::{AnyIndividual, IndividualReport, InnerType, ReportType, ReportVersion, TlvType};

use super::block::{Block, flow, plural};
use super::drops::{reasons, write_drop_reason};
use super::{earlier_report, int, metadata};
use crate::decode::hex::hex;
use crate::decode::hop::report_fields;
use crate::decode::names;
use crate::decode::packet::{Report, ReportPacket};

/// Prints a report datagram in a packet whose bytes start at byte `base` of the frame.
pub(super) fn write<W: Write>(
    packet: &ReportPacket<'_>,
    base: usize,
    block: &mut Block<'_, W>,
) -> io::Result<()> {
    let datagram = &packet.datagram;
    let payload_at = base + packet.payload_at;
    block.line(1, format_args!("Sent: {}", flow(&packet.sent)))?;
    let what = match datagram.version() {
        ReportVersion::V2_0 => "Telemetry report group",
        ReportVersion::V1_0 | ReportVersion::V0_5 => "Telemetry report",
        ReportVersion::HostInt => "Telemetry report of Host-INT",
    };
    let version = names::report_version(datagram.version());
    block.line(1, format_args!("{what} at byte {payload_at}, version {version}"))?;
    if let Some(node_id) = datagram.node_id() {
        block.line(2, format_args!("Node ID: {}", metadata::id(node_id.into())))?;
    }
    block.line(2, format_args!("hw_id: {}", datagram.hw_id()))?;
    block.line(2, format_args!("Sequence number: {}", datagram.sequence()))?;
    for deviation in packet.deviations() {
        block.line(2, format_args!("Accepted leniently: {deviation}"))?;
    }
    for (number, report) in (1..).zip(&packet.reports) {
        match &report.report {
            AnyIndividual::Individual(individual) => {
                let at = payload_at + individual.at;
                let report_type = report_type(individual.first_word.report_type());
                block.line(1, format_args!("Individual report {number} at byte {at}: {report_type}"))?;
                write_individual(individual, report, payload_at, block)?;
            }
            AnyIndividual::Single(earlier) => earlier_report::write(earlier, report, block)?,
        }
        write_packet(report, payload_at, block)?;
    }
    Ok(())
}

fn report_type(report_type: ReportType) -> String {
    match report_type {
        ReportType::InnerOnly => "inner contents only".to_owned(),
        ReportType::Int => "INT metadata".to_owned(),
        ReportType::Ioam => "IOAM, whose contents are not defined".to_owned(),
        ReportType::Unknown(code) => format!("reserved type {code}"),
    }
}

fn write_individual<W: Write>(
    individual: &IndividualReport<'_>,
    report: &Report<'_>,
    payload_at: usize,
    block: &mut Block<'_, W>,
) -> io::Result<()> {
    let length = match individual.first_word.report_length() {
        TO_THE_END => "to the end of the datagram".to_owned(),
        words => plural(words.into(), "word"),
    };
    block.line(2, format_args!("Length: {length}"))?;
    block.line(2, format_args!("Reason: {}", reasons(report)))?;
    let values = report_fields(&report.report);
    if !values.is_empty() {
        block.line(2, format_args!("Metadata (RepMdBits {:#06x})", individual.rep_md_bits().0))?;
        metadata::write(&values, 3, block)?;
    }
    write_drop_reason(report, block)?;
    if individual.domain_specific_id() != 0 {
        block.line(2, format_args!("Domain Specific ID: {:#06x}", individual.domain_specific_id()))?;
        block.line(2, format_args!("DSMdBits: {:#06x}", individual.ds_md_bits()))?;
    }
    if !individual.domain_metadata().is_empty() {
        block.line(2, format_args!("Domain-specific metadata: {}", hex(individual.domain_metadata())))?;
    }
    write_inner(individual, payload_at, block)
}

fn write_inner<W: Write>(
    individual: &IndividualReport<'_>,
    payload_at: usize,
    block: &mut Block<'_, W>,
) -> io::Result<()> {
    let inner_at = payload_at + individual.inner_at();
    for tlv in individual.tlvs().flatten() {
        let (kind, at) = (tlv_type(tlv.tlv_type), inner_at + tlv.data_at);
        block.line(2, format_args!("TLV with {} bytes at byte {at}: {kind}", tlv.data.len()))?;
        if tlv.tlv_type == TlvType::DomainExtension {
            block.line(3, format_args!("Template {:#06x}: {}", tlv.template, hex(tlv.data)))?;
        }
    }
    if individual.first_word.inner_type() == InnerType::DomainExtension {
        block.line(2, format_args!("Extension data: {}", hex(individual.inner())))?;
    }
    Ok(())
}

/// The packet that is reported, with its INT headers.
fn write_packet<W: Write>(
    report: &Report<'_>,
    payload_at: usize,
    block: &mut Block<'_, W>,
) -> io::Result<()> {
    if let Some(error) = &report.inner_error {
        block.line(2, format_args!("Inner contents cannot be read: {error}"))?;
    }
    let Some((_, bytes, at)) = report.report.packet() else { return Ok(()) };
    let packet_at = payload_at + at;
    let what = report.flow.as_ref().map_or_else(|| "not IP".to_owned(), flow);
    block.line(2, format_args!("Reported packet at byte {packet_at}, {} bytes: {what}", bytes.len()))?;
    int::write_headers(&report.int, packet_at, 3, block)
}

fn tlv_type(tlv_type: TlvType) -> String {
    match tlv_type {
        TlvType::DomainExtension => "domain-specific extension data".to_owned(),
        TlvType::Ethernet => "Ethernet packet".to_owned(),
        TlvType::Ipv4 => "IPv4 packet".to_owned(),
        TlvType::Ipv6 => "IPv6 packet".to_owned(),
        TlvType::Unknown(code) => format!("reserved type {code}"),
    }
}
