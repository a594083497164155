//! A datagram of telemetry reports: its header, each report, and the packet in it.

use std::fmt::{self, Write};

use inband_wire::report::first_word::TO_THE_END;
use inband_wire::report::{ReportType, ReportVersion, TlvType};

use super::block::{Block, flow, plural};
use super::drops::{reasons, write_drop_reason};
use super::{earlier_report, int, metadata};
use crate::hex::hex;
use crate::names;
use crate::packet::{Individual, Report, ReportForm, ReportPacket};

/// Prints a datagram of reports.
pub(super) fn write<W: Write>(packet: &ReportPacket, block: &mut Block<'_, W>) -> fmt::Result {
    let payload_at = packet.payload_at;
    block.line(1, format_args!("Sent: {}", flow(&packet.sent)))?;
    let what = match packet.version {
        ReportVersion::V2_0 => "Telemetry report group",
        ReportVersion::V1_0 | ReportVersion::V0_5 => "Telemetry report",
        ReportVersion::HostInt => "Telemetry report of Host-INT",
    };
    let version = names::report_version(packet.version);
    block.line(1, format_args!("{what} at byte {payload_at}, version {version}"))?;
    if let Some(node_id) = packet.node_id {
        block.line(2, format_args!("Node ID: {}", metadata::id(node_id.into())))?;
    }
    block.line(2, format_args!("hw_id: {}", packet.hw_id))?;
    block.line(2, format_args!("Sequence number: {}", packet.sequence))?;
    for deviation in packet.deviations() {
        block.line(2, format_args!("Accepted leniently: {deviation}"))?;
    }
    for (number, report) in (1..).zip(&packet.reports) {
        match &report.form {
            ReportForm::Individual(individual) => {
                let at = individual.at;
                let report_type = report_type(individual.first_word.report_type());
                block.line(1, format_args!("Individual report {number} at byte {at}: {report_type}"))?;
                write_individual(individual, report, block)?;
            }
            ReportForm::Earlier(earlier) => earlier_report::write(earlier, report, block)?,
        }
        write_packet(report, block)?;
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
    individual: &Individual,
    report: &Report,
    block: &mut Block<'_, W>,
) -> fmt::Result {
    let length = match individual.first_word.report_length() {
        TO_THE_END => "to the end of the datagram".to_owned(),
        words => plural(words.into(), "word"),
    };
    block.line(2, format_args!("Length: {length}"))?;
    block.line(2, format_args!("Reason: {}", reasons(report)))?;
    if !report.metadata.is_empty() {
        block.line(2, format_args!("Metadata (RepMdBits {:#06x})", individual.instructions.0))?;
        metadata::write(&report.metadata, 3, block)?;
    }
    write_drop_reason(report, block)?;
    if individual.domain_specific_id != 0 {
        block.line(2, format_args!("Domain Specific ID: {:#06x}", individual.domain_specific_id))?;
        block.line(2, format_args!("DSMdBits: {:#06x}", individual.ds_md_bits))?;
    }
    if !individual.domain_metadata.is_empty() {
        block.line(2, format_args!("Domain-specific metadata: {}", hex(&individual.domain_metadata)))?;
    }
    write_inner(individual, block)
}

fn write_inner<W: Write>(individual: &Individual, block: &mut Block<'_, W>) -> fmt::Result {
    for tlv in &individual.tlvs {
        let (kind, at) = (tlv_type(tlv.tlv_type), tlv.at);
        block.line(2, format_args!("TLV with {} bytes at byte {at}: {kind}", tlv.data.len()))?;
        if tlv.tlv_type == TlvType::DomainExtension {
            block.line(3, format_args!("Template {:#06x}: {}", tlv.template, hex(&tlv.data)))?;
        }
    }
    if let Some(extension) = &individual.extension {
        block.line(2, format_args!("Extension data: {}", hex(extension)))?;
    }
    Ok(())
}

/// Prints the reported packet with its INT headers.
fn write_packet<W: Write>(report: &Report, block: &mut Block<'_, W>) -> fmt::Result {
    if let Some(error) = &report.inner_error {
        block.line(2, format_args!("Inner contents cannot be read: {error}"))?;
    }
    let Some(packet) = &report.packet else { return Ok(()) };
    let what = packet.flow.as_ref().map_or_else(|| "not IP".to_owned(), flow);
    block.line(2, format_args!("Reported packet at byte {}, {} bytes: {what}", packet.at, packet.bytes))?;
    int::write_headers(&packet.int, 3, block)
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
