//! How is a packet read: as INT, as reports, or as neither?

use inband_capture::{Record, start};
use inband_wire::int::locate::limit;
use inband_wire::int::{
    AnyHeader, CodePoints, Encapsulation, HeaderType, HopMetadata, Location, Mx, MxHeader, Original, mx,
};
use inband_wire::layers::{Fragment, ports};
use inband_wire::report::{AnyIndividual, AnyReport, Leniency, ReportReading};
use inband_wire::udp::HEADER_BYTES as UDP_HEADER_BYTES;
use inband_wire::verify::{is_checksum_without, l4_checksum};
use inband_wire::view::view;
use inband_wire::{
    ChecksumState, Dissection, FiveTuple, Header, Layers, Link, ParseError, Strictness, dissect,
};

use super::options::Options;
use super::packet::{Body, Content, IntHeader, IntPacket, Packet, Report, ReportPacket};

/// Decodes the packet in `record`; `None` when it carries neither INT nor a report.
pub(super) fn read<'a>(record: &'a Record, options: &Options) -> Option<Packet<'a>> {
    let (link, at) = start(record.link_type, &record.data)?;
    let bytes = record.data.get(at..)?;
    let strictness = if record.is_cut() { Strictness::Truncated } else { Strictness::Whole };
    let code_points = options.code_points();
    let reading = Reading { options, code_points, base: at, link, bytes, strictness };
    Some(Packet { record, base: at, content: reading.content()? })
}

/// One packet that is being read.
struct Reading<'a, 'o> {
    options: &'o Options,
    code_points: CodePoints<'o>,
    /// Offset of `bytes` in the record, for errors.
    base: usize,
    link: Link,
    bytes: &'a [u8],
    strictness: Strictness,
}

/// Where the payload of a datagram that claims to be reports lies.
struct Claim {
    sent: FiveTuple,
    start: usize,
    end: usize,
    strictness: Strictness,
}

impl<'a> Reading<'a, '_> {
    fn content(&self) -> Option<Content<'a>> {
        let dissection = dissect(self.link, self.bytes, &self.code_points, self.strictness);
        let int = self.int_packet(&dissection);
        let Some(claim) = self.report_claim(&dissection, &self.options.report_ports) else {
            let by_dialect = self.report_of_dialect(&dissection).filter(|_| int.is_none());
            let int = int.map(|int| int.map_or_else(|error| self.malformed(error), Content::Int));
            return int.or(by_dialect);
        };
        // Reports are traffic too, and may carry INT themselves: what can be read to the letter decides.
        let report = claim.and_then(|claim| self.report_packet(&claim));
        Some(match (report, int) {
            (Ok(report), Some(Ok(int))) if report.deviations().next().is_some() => Content::Int(int),
            (Ok(report), _) => Content::Report(report),
            (Err(_), Some(Ok(int))) => Content::Int(int),
            (Err(error), _) => self.malformed(error),
        })
    }

    fn malformed(&self, error: ParseError) -> Content<'a> {
        Content::Malformed(error.shifted(self.base))
    }

    /// The INT headers of all levels; `None` when nothing marks INT.
    fn int_packet(&self, dissection: &Dissection) -> Option<Result<IntPacket<'a>, ParseError>> {
        if let Some(error) = dissection.error {
            return Some(Err(error));
        }
        let (layers, first) = dissection.int().next()?;
        let checksum = l4_checksum(self.bytes, layers);
        let is_lenient = self.options.leniency == Leniency::Lenient && checksum == ChecksumState::Bad;
        Some(self.int_headers(self.bytes, dissection).map(|headers| IntPacket {
            flow: dissection.flow.unwrap_or_default(),
            encapsulation: first.encapsulation,
            checksum,
            stale_checksum: is_lenient && is_checksum_without(self.bytes, layers, first),
            headers,
        }))
    }

    fn int_headers(
        &self,
        bytes: &'a [u8],
        dissection: &Dissection,
    ) -> Result<Vec<IntHeader<'a>>, ParseError> {
        dissection.int().map(|(_, location)| self.int_header(bytes, location)).collect()
    }

    fn int_header(&self, bytes: &'a [u8], location: &Location) -> Result<IntHeader<'a>, ParseError> {
        let shim = match location.encapsulation {
            Encapsulation::Geneve => None,
            _ if location.version.is_before_2() => None,
            _ => Some(view(bytes, location.shim, Header::Shim)?),
        };
        let header = AnyHeader::parse(bytes, location, self.code_points.domains);
        let deviations = match &header {
            Ok(header) => header.deviations(location.deviations),
            Err(_) => location.deviations,
        };
        let body = match header {
            Ok(AnyHeader::Md(md)) => Body::Md(md),
            Ok(AnyHeader::Mx(mx)) => Body::Mx(mx),
            Ok(AnyHeader::HopByHop(header)) => Body::HopByHop(header),
            Ok(AnyHeader::Destination(data)) => Body::Destination(data),
            Err(error) if self.options.leniency == Leniency::Lenient => {
                mx_with_hop(bytes, location).ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        let original = Original::read(bytes, location);
        Ok(IntHeader { location: *location, shim, original, body, deviations })
    }

    /// A report to the port of a dialect, where nothing else claims the packet and the report can be read.
    fn report_of_dialect(&self, dissection: &Dissection) -> Option<Content<'a>> {
        let claim = self.report_claim(dissection, &self.options.dialect_report_ports)?.ok()?;
        self.report_packet(&claim).ok().map(Content::Report)
    }

    /// Looks for a UDP header with one of `report_ports`; the error says why its datagram cannot be read.
    fn report_claim(
        &self,
        dissection: &Dissection,
        report_ports: &[u16],
    ) -> Option<Result<Claim, ParseError>> {
        let is_report = |layers: &Layers| {
            let udp = layers.udp(self.bytes);
            udp.is_some_and(|udp| report_ports.contains(&udp.destination_port.get()))
        };
        let mut levels = dissection.levels().map(|level| &level.layers);
        if let Some(layers) = levels.find(|layers| is_report(layers)) {
            return Some(limit(self.bytes, layers).map(|end| self.claim(layers, end)));
        }
        // The dissection is silent about packets whose own lengths are wrong.
        let error = Layers::parse(self.link, self.bytes, self.strictness).err()?;
        let claims = match Layers::parse(self.link, self.bytes, Strictness::Truncated) {
            Ok(layers) => layers.as_ref().is_some_and(is_report),
            Err(error) => {
                error.header == Header::Udp && report_ports.contains(&ports(self.bytes, error.at).1)
            }
        };
        claims.then_some(Err(error))
    }

    fn claim(&self, layers: &Layers, end: usize) -> Claim {
        let whole = layers.fragment == Fragment::Whole;
        Claim {
            sent: layers.five_tuple(self.bytes),
            start: layers.l4 + UDP_HEADER_BYTES,
            end: end.min(self.bytes.len()),
            strictness: if whole { self.strictness } else { Strictness::Truncated },
        }
    }

    fn report_packet(&self, claim: &Claim) -> Result<ReportPacket<'a>, ParseError> {
        let payload = self.bytes.get(claim.start..claim.end).unwrap_or_default();
        let shifted = |error: ParseError| error.shifted(claim.start);
        let reading = ReportReading {
            leniency: self.options.leniency,
            strictness: claim.strictness,
            ..ReportReading::default()
        };
        let datagram = AnyReport::parse_with(payload, reading).map_err(shifted)?;
        let reports = datagram
            .reports()
            .map(|report| Ok(self.report(report.map_err(shifted)?, claim.start)))
            .collect::<Result<_, _>>()?;
        Ok(ReportPacket { sent: claim.sent, payload_at: claim.start, datagram, reports })
    }

    /// Reads the packet in `report`, which is of a datagram whose payload starts at byte `payload_at`.
    fn report(&self, report: AnyIndividual<'a>, payload_at: usize) -> Report<'a> {
        let inner_error = match &report {
            AnyIndividual::Individual(individual) => {
                let inner_at = self.base + payload_at + individual.inner_at();
                individual.tlvs().find_map(Result::err).map(|error| error.shifted(inner_at))
            }
            AnyIndividual::Single(_) => None,
        };
        let drop_reason = report.drop().and_then(|drop| self.options.drop_reason(drop.reason));
        let mut this = Report { report, flow: None, int: Vec::new(), drop_reason, inner_error };
        let Some((_, bytes, at)) = report.packet() else { return this };
        // A report carries the beginning of a packet, of which the node chooses the length.
        let dissection = report.dissect(&self.code_points);
        this.flow = dissection.flow;
        match dissection.error.map_or_else(|| self.int_headers(bytes, &dissection), Err) {
            Ok(int) => this.int = int,
            Err(error) => {
                this.inner_error = this.inner_error.or(Some(error.shifted(self.base + payload_at + at)));
            }
        }
        this
    }
}

/// Reads an MX header behind which a node has put exactly one hop's metadata, as some do in reports.
fn mx_with_hop<'a>(bytes: &'a [u8], location: &Location) -> Option<Body<'a>> {
    if location.header_type != HeaderType::Mx {
        return None;
    }
    let header: &MxHeader = view(bytes, location.header, Header::IntMx).ok()?;
    let metadata = bytes.get(location.header + mx::HEADER_BYTES..location.end)?;
    let instructions = header.instructions();
    (metadata.len() == instructions.words().bytes()).then(|| {
        let hop = HopMetadata::read(instructions, metadata);
        Body::MxWithHop(Mx { header, source_inserted: &[] }, hop)
    })
}
