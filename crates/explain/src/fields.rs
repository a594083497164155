//! The fields of a telemetry report with their bit positions.

mod columns;
mod layouts;

use std::ops::Range;

use inband_model::api::{DecodeFault, DecodeStart, Decoded};
use inband_wire::int::locate::limit;
use inband_wire::int::{AnyHeader, CodePoints, Encapsulation, Instructions, Location};
use inband_wire::layers::{Link, Strictness};
use inband_wire::report::individual::DROP_BIT;
use inband_wire::report::{AnyIndividual, AnyReport, IndividualReport, ReportType, group};
use inband_wire::udp::HEADER_BYTES as UDP_HEADER_BYTES;
use inband_wire::{FiveTuple, Layers, ParseError};

use self::columns::{Fields, narrow};
use self::layouts::{
    DROP, FIRST_WORD, GROUP, MAIN_CONTENTS, MD_HEADER, METADATA, MX_HEADER, SHIM, mean_field, mean_metadata,
};

/// Reads bytes as a report, or as a packet with one, and names every field with its position. Never fails: an
/// error is reported with its byte.
#[must_use]
pub fn explain(bytes: &[u8], start: DecodeStart) -> Decoded {
    let mut fields = Fields::of(bytes);
    let error = match payload(bytes, start, &mut fields) {
        Ok(payload) => Explained { bytes, payload, fields: &mut fields }.datagram().err(),
        Err(error) => Some(error),
    };
    // A length in one header can put the start of the next one past the end.
    let error = error.map(|fault| DecodeFault { at: fault.at.min(narrow(bytes.len())), ..fault });
    let (fields, left_out) = fields.finish();
    let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Decoded { hex, fields, error, left_out }
}

/// Offset of the UDP datagram's payload.
fn payload(bytes: &[u8], start: DecodeStart, fields: &mut Fields<'_>) -> Result<Range<usize>, DecodeFault> {
    let link = match start {
        DecodeStart::Report => return Ok(0..bytes.len()),
        DecodeStart::Ethernet => Link::Ethernet,
        DecodeStart::Ip => Link::Ip,
    };
    let none = |error: &str| DecodeFault { at: 0, error: error.to_owned() };
    let layers = Layers::parse(link, bytes, Strictness::Truncated).map_err(|error| fault(error, 0))?;
    let layers = layers.ok_or_else(|| none("no IP packet begins here"))?;
    if layers.udp(bytes).is_none() {
        return Err(none("the packet is no UDP datagram, so no report is in it"));
    }
    let at = layers.l4 + UDP_HEADER_BYTES;
    fields.part(0, "headers of the datagram", 0, at, Some(flow(&layers.five_tuple(bytes))));
    // Padding may follow.
    let end = limit(bytes, &layers).map_err(|error| fault(error, 0))?.min(bytes.len());
    Ok(at.min(end)..end)
}

/// A datagram being explained.
struct Explained<'a, 'f> {
    bytes: &'a [u8],
    /// Offset of the report.
    payload: Range<usize>,
    fields: &'f mut Fields<'a>,
}

impl<'a> Explained<'a, '_> {
    fn datagram(&mut self) -> Result<(), DecodeFault> {
        let base = self.payload.start;
        let payload = self.bytes.get(self.payload.clone()).unwrap_or_default();
        let read = AnyReport::parse(payload).map_err(|error| fault(error, base))?;
        if let AnyReport::Group(_) = read {
            self.fields.part(0, "report group header", self.payload.start, group::HEADER_BYTES, None);
            self.fields.header(1, self.payload.start, GROUP, mean_field);
        }
        for report in read.reports() {
            let report = report.map_err(|error| fault(error, base))?;
            match &report {
                AnyIndividual::Individual(report) => self.individual(report),
                AnyIndividual::Single(_) => {
                    let end = report.packet().map_or(payload.len(), |(.., at)| at);
                    let about = format!(
                        "version {}, node {}, number {}",
                        read.version().name(),
                        read.node_id().map_or_else(|| "not named".to_owned(), |node| node.to_string()),
                        read.sequence()
                    );
                    self.fields.part(0, "telemetry report", self.payload.start, end, Some(about));
                }
            }
            self.packet(&report)?;
        }
        Ok(())
    }

    fn individual(&mut self, report: &IndividualReport<'a>) {
        let at = self.payload.start + report.at;
        self.fields.part(0, "individual report", at, report.end - report.at, None);
        let mut at = self.fields.header(1, at, FIRST_WORD, mean_field);
        if report.first_word.report_type() == ReportType::Int {
            at = self.fields.header(1, at, MAIN_CONTENTS, mean_field);
            let asked = report.rep_md_bits().without(Instructions::NODE_ID);
            at = self.metadata(1, at, asked.without(DROP_BIT));
            if asked.contains(DROP_BIT) {
                at = self.fields.header(1, at, DROP, mean_field);
            }
            let domain = report.domain_metadata().len();
            if domain > 0 {
                self.fields.part(1, "domain-specific metadata", at, domain, None);
            }
        }
        if !report.inner().is_empty() && report.packet().is_none() {
            self.fields.part(
                1,
                "inner contents",
                self.payload.start + report.inner_at(),
                report.inner().len(),
                None,
            );
        }
    }

    /// Adds the metadata that the instruction bits ask for, in order.
    fn metadata(&mut self, depth: u8, mut at: usize, asked: Instructions) -> usize {
        for (bit, layout) in METADATA {
            if asked.contains(*bit) {
                at = self.fields.header(depth, at, layout, mean_metadata);
            }
        }
        at
    }

    /// Adds the packet in a report, with its INT.
    fn packet(&mut self, report: &AnyIndividual<'a>) -> Result<(), DecodeFault> {
        let Some((_, packet, at)) = report.packet() else { return Ok(()) };
        let at = self.payload.start + at;
        let code_points = CodePoints::DEFAULT;
        let dissection = report.dissect(&code_points);
        self.fields.part(1, "reported packet", at, packet.len(), dissection.flow.as_ref().map(flow));
        if let Some(error) = dissection.error {
            return Err(fault(error, at));
        }
        for (_, location) in dissection.int() {
            let header = AnyHeader::parse(packet, location, code_points.domains);
            self.int(at, location, &header.map_err(|error| fault(error, at))?);
        }
        Ok(())
    }

    fn int(&mut self, base: usize, location: &Location, header: &AnyHeader<'a>) {
        let at = base + location.header;
        let length = location.end.saturating_sub(location.header);
        if location.encapsulation != Encapsulation::Geneve && !location.version.is_before_2() {
            self.fields.part(
                2,
                "INT shim",
                base + location.shim,
                4,
                Some(location.encapsulation.name().into()),
            );
            self.fields.header(3, base + location.shim, SHIM, mean_field);
        }
        match header {
            AnyHeader::Md(md) => {
                self.fields.part(2, "INT-MD header", at, 12, None);
                let mut at = self.fields.header(3, at, MD_HEADER, mean_field);
                let asked = md.header.instructions();
                let hop_bytes = md.header.hop_ml().bytes();
                for (index, hop) in md.stack.hops().enumerate() {
                    let place = md.stack.hop_count().saturating_sub(index);
                    self.fields.part(2, "hop", at, hop_bytes, Some(format!("hop {place} of the path")));
                    let behind = self.metadata(3, at, asked.without(Instructions::CHECKSUM_COMPLEMENT));
                    let domain = hop.domain().len();
                    if domain > 0 {
                        self.fields.part(3, "domain-specific metadata", behind, domain, None);
                    }
                    self.metadata(3, behind + domain, asked & Instructions::CHECKSUM_COMPLEMENT);
                    at += hop_bytes;
                }
            }
            AnyHeader::Mx(_) => {
                self.fields.part(2, "INT-MX header", at, 12, None);
                self.fields.header(3, at, MX_HEADER, mean_field);
            }
            AnyHeader::HopByHop(_) => {
                self.fields.part(2, "INT header and stack", at, length, Some(location.version.name().into()));
            }
            AnyHeader::Destination(_) => self.fields.part(2, "INT destination header", at, length, None),
        }
    }
}

fn fault(error: ParseError, base: usize) -> DecodeFault {
    let error = error.shifted(base);
    DecodeFault { at: narrow(error.at), error: error.to_string() }
}

fn flow(flow: &FiveTuple) -> String {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = flow;
    format!("{source} port {source_port} to {destination} port {destination_port}, protocol {protocol}")
}

#[cfg(test)]
mod tests;
