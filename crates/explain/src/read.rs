//! Reads a packet as INT, as telemetry reports, or as neither.

use inband_wire::int::earlier::HopByHop;
use inband_wire::int::locate::limit;
use inband_wire::int::{
    AnyHeader, CodePoints, Encapsulation, HeaderType, HopMetadata, Location, Md, MxHeader, Original, mx,
};
use inband_wire::layers::{Fragment, ports};
use inband_wire::report::{
    AnyIndividual, AnyReport, Deviation, IndividualReport, InnerType, Leniency, ReportReading,
};
use inband_wire::udp::HEADER_BYTES as UDP_HEADER_BYTES;
use inband_wire::verify::{is_checksum_without, l4_checksum};
use inband_wire::view::view;
use inband_wire::{
    ChecksumState, Dissection, FiveTuple, Header, Layers, Link, ParseError, Strictness, dissect,
};

use crate::hop::{earlier_fields, fields, report_fields, stack_fields};
use crate::names;
use crate::options::Options;
use crate::packet::{
    Body, Description, Earlier, HopByHopBody, HopValues, Individual, IntHeader, IntPacket, MdBody, MxBody,
    Report, ReportFlags, ReportForm, ReportPacket, ReportedPacket, Stack, TlvPart,
};

/// A captured frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Offset of the first byte of `link`.
    pub start: usize,
    /// The header at that offset.
    pub link: Link,
    /// Whether the capture truncated the frame.
    pub is_cut: bool,
}

/// Describes a frame; `None` when it carries neither INT nor a telemetry report. Never fails: a packet that
/// cannot be read is described as malformed.
#[must_use]
pub fn describe(frame: Frame<'_>, options: &Options) -> Option<Description> {
    let bytes = frame.bytes.get(frame.start..)?;
    let strictness = if frame.is_cut { Strictness::Truncated } else { Strictness::Whole };
    let code_points = options.code_points();
    let reading = Reading { options, code_points, base: frame.start, link: frame.link, bytes, strictness };
    reading.description()
}

/// The packet being read.
struct Reading<'a, 'o> {
    options: &'o Options,
    code_points: CodePoints<'o>,
    /// Offset of `bytes` in the frame.
    base: usize,
    link: Link,
    bytes: &'a [u8],
    strictness: Strictness,
}

/// A datagram that claims to contain reports.
struct Claim {
    sent: FiveTuple,
    start: usize,
    end: usize,
    strictness: Strictness,
}

impl Reading<'_, '_> {
    fn description(&self) -> Option<Description> {
        let dissection = dissect(self.link, self.bytes, &self.code_points, self.strictness);
        let int = self.int_packet(&dissection);
        let Some(claim) = self.report_claim(&dissection, &self.options.report_ports) else {
            let by_dialect = self.report_of_dialect(&dissection).filter(|_| int.is_none());
            let int = int.map(|int| int.map_or_else(|error| self.malformed(error), Description::Int));
            return int.or(by_dialect);
        };
        // Reports are traffic too, and may themselves carry INT: what parses strictly takes precedence.
        let report = claim.and_then(|claim| self.report_packet(&claim));
        Some(match (report, int) {
            (Ok(report), Some(Ok(int))) if report.deviations().next().is_some() => Description::Int(int),
            (Ok(report), _) => Description::Report(report),
            (Err(_), Some(Ok(int))) => Description::Int(int),
            (Err(error), _) => self.malformed(error),
        })
    }

    fn malformed(&self, error: ParseError) -> Description {
        Description::Malformed {
            error: error.shifted(self.base),
            is_cut: self.strictness == Strictness::Truncated,
        }
    }

    /// The INT headers of all levels; `None` when nothing marks INT.
    fn int_packet(&self, dissection: &Dissection) -> Option<Result<IntPacket, ParseError>> {
        if let Some(error) = dissection.error {
            return Some(Err(error));
        }
        let (layers, first) = dissection.int().next()?;
        let checksum = l4_checksum(self.bytes, layers);
        let is_lenient = self.options.leniency == Leniency::Lenient && checksum == ChecksumState::Bad;
        Some(self.int_headers(self.bytes, self.base, dissection).map(|headers| IntPacket {
            flow: dissection.flow.unwrap_or_default(),
            encapsulation: first.encapsulation,
            checksum,
            stale_checksum: is_lenient && is_checksum_without(self.bytes, layers, first),
            headers,
        }))
    }

    /// The INT headers in `bytes`, which start at byte `base` of the frame. Errors have offsets in `bytes`.
    fn int_headers(
        &self,
        bytes: &[u8],
        base: usize,
        dissection: &Dissection,
    ) -> Result<Vec<IntHeader>, ParseError> {
        dissection.int().map(|(_, location)| self.int_header(bytes, base, location)).collect()
    }

    fn int_header(&self, bytes: &[u8], base: usize, location: &Location) -> Result<IntHeader, ParseError> {
        let shim = match location.encapsulation {
            Encapsulation::Geneve => None,
            _ if location.version.is_before_2() => None,
            _ => Some(*view(bytes, location.shim, Header::Shim)?),
        };
        let header = AnyHeader::parse(bytes, location, self.code_points.domains);
        let deviations = match &header {
            Ok(header) => header.deviations(location.deviations),
            Err(_) => location.deviations,
        };
        let body = match header {
            Ok(AnyHeader::Md(md)) => Body::Md(md_body(&md)),
            Ok(AnyHeader::Mx(mx)) => Body::Mx(MxBody {
                header: *mx.header,
                source_inserted: mx.source_inserted.to_vec(),
                hop: None,
            }),
            Ok(AnyHeader::HopByHop(header)) => Body::HopByHop(hop_by_hop_body(&header)),
            Ok(AnyHeader::Destination(data)) => Body::Destination(data.to_vec()),
            Err(error) if self.options.leniency == Leniency::Lenient => {
                mx_with_hop(bytes, location).ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        let original = Original::read(bytes, location);
        let location = Location {
            shim: base + location.shim,
            header: base + location.header,
            end: base + location.end,
            ..*location
        };
        Ok(IntHeader { location, shim, original, body, deviations })
    }

    /// A report to a dialect's port, when nothing else claims the packet and the report can be read.
    fn report_of_dialect(&self, dissection: &Dissection) -> Option<Description> {
        let claim = self.report_claim(dissection, &self.options.dialect_report_ports)?.ok()?;
        self.report_packet(&claim).ok().map(Description::Report)
    }

    /// Finds a UDP header with one of `report_ports`; the error is why its datagram cannot be read.
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
        // The dissection has no error for packets whose own lengths are wrong.
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

    fn report_packet(&self, claim: &Claim) -> Result<ReportPacket, ParseError> {
        let payload = self.bytes.get(claim.start..claim.end).unwrap_or_default();
        let shifted = |error: ParseError| error.shifted(claim.start);
        let reading = ReportReading {
            leniency: self.options.leniency,
            strictness: claim.strictness,
            ..ReportReading::default()
        };
        let datagram = AnyReport::parse_with(payload, reading).map_err(shifted)?;
        let payload_at = self.base + claim.start;
        let reports = datagram
            .reports()
            .map(|report| Ok(self.report(report.map_err(shifted)?, payload_at)))
            .collect::<Result<_, _>>()?;
        Ok(ReportPacket {
            sent: claim.sent,
            payload_at,
            version: datagram.version(),
            node_id: datagram.node_id(),
            hw_id: datagram.hw_id(),
            sequence: datagram.sequence(),
            deviation: datagram.deviation().map(Deviation::name),
            reports,
        })
    }

    /// Describes a report of a datagram whose payload starts at byte `payload_at` of the frame.
    fn report(&self, report: AnyIndividual<'_>, payload_at: usize) -> Report {
        let (form, deviations, inner_error) = match &report {
            AnyIndividual::Individual(individual) => {
                let inner_at = payload_at + individual.inner_at();
                let error = individual.tlvs().find_map(Result::err).map(|error| error.shifted(inner_at));
                let deviations = individual.deviations().map(Deviation::name).collect();
                (ReportForm::Individual(individual_form(individual, payload_at)), deviations, error)
            }
            AnyIndividual::Single(earlier) => {
                let form = Earlier {
                    kind: earlier.kind,
                    reported_at_s: earlier.reported_at_s,
                    drop_summary: earlier.drop_summary.copied(),
                };
                // The deviation is reported for the datagram.
                (ReportForm::Earlier(form), Vec::new(), None)
            }
        };
        let drop = report.drop();
        let mut described = Report {
            form,
            flags: ReportFlags {
                dropped: report.dropped(),
                congested_queue: report.congested_queue(),
                tracked_flow: report.tracked_flow(),
                intermediate: report.intermediate(),
            },
            inner: names::inner(&report),
            metadata: report_fields(&report),
            drop,
            drop_reason: drop.and_then(|drop| self.options.drop_reasons.get(&drop.reason)).cloned(),
            packet: None,
            inner_error,
            deviations,
        };
        let Some((_, bytes, at)) = report.packet() else { return described };
        let at = payload_at + at;
        // A report carries the beginning of a packet, of a length chosen by the node.
        let dissection = report.dissect(&self.code_points);
        let int = dissection.error.map_or_else(|| self.int_headers(bytes, at, &dissection), Err);
        let int = int.unwrap_or_else(|error| {
            described.inner_error = described.inner_error.or(Some(error.shifted(at)));
            Vec::new()
        });
        described.packet = Some(ReportedPacket { at, bytes: bytes.len(), flow: dissection.flow, int });
        described
    }
}

fn md_body(md: &Md<'_>) -> MdBody {
    let hop = |hop: inband_wire::int::Hop<'_>| HopValues {
        values: stack_fields(&hop),
        domain: hop.domain().to_vec(),
    };
    MdBody {
        header: md.header,
        stack: Stack { hop_count: md.stack.hop_count(), hops: md.stack.hops().map(hop).collect() },
        source_only: md.stack.source_only().to_vec(),
    }
}

fn hop_by_hop_body(header: &HopByHop<'_>) -> HopByHopBody {
    let hop = |hop: inband_wire::int::earlier::Hop<'_>| HopValues {
        values: earlier_fields(&hop),
        domain: Vec::new(),
    };
    HopByHopBody {
        version: header.version,
        replication: header.replication,
        copy: header.copy,
        max_hop_count_exceeded: header.max_hop_count_exceeded,
        mtu_exceeded: header.mtu_exceeded,
        hop_counts: header.hop_counts,
        remaining_hop_count: header.remaining_hop_count(),
        hop_ml: header.hop_ml,
        instruction_bitmap: header.instruction_bitmap,
        layout: header.layout(),
        sequence: header.sequence,
        stack: Stack { hop_count: header.hop_count(), hops: header.hops().map(hop).collect() },
    }
}

fn individual_form(individual: &IndividualReport<'_>, payload_at: usize) -> Individual {
    let inner_at = payload_at + individual.inner_at();
    let tlvs = individual.tlvs().flatten().map(|tlv| TlvPart {
        tlv_type: tlv.tlv_type,
        template: tlv.template,
        at: inner_at + tlv.data_at,
        data: tlv.data.to_vec(),
    });
    let is_extension = individual.first_word.inner_type() == InnerType::DomainExtension;
    Individual {
        at: payload_at + individual.at,
        first_word: *individual.first_word,
        instructions: individual.rep_md_bits(),
        domain_specific_id: individual.domain_specific_id(),
        ds_md_bits: individual.ds_md_bits(),
        domain_metadata: individual.domain_metadata().to_vec(),
        tlvs: tlvs.collect(),
        extension: is_extension.then(|| individual.inner().to_vec()),
    }
}

/// Reads an MX header followed by exactly one hop's metadata, as some nodes write in reports.
fn mx_with_hop(bytes: &[u8], location: &Location) -> Option<Body> {
    if location.header_type != HeaderType::Mx {
        return None;
    }
    let header: &MxHeader = view(bytes, location.header, Header::IntMx).ok()?;
    let metadata = bytes.get(location.header + mx::HEADER_BYTES..location.end)?;
    let instructions = header.instructions();
    (metadata.len() == instructions.words().bytes()).then(|| {
        let hop = HopMetadata::read(instructions, metadata);
        Body::Mx(MxBody {
            header: *header,
            source_inserted: Vec::new(),
            hop: Some(fields(instructions, &hop)),
        })
    })
}
