//! What can one captured packet carry: INT headers, a group of reports, or something that only claims to be?

use inband_capture::Record;
use inband_wire::int::earlier::HopByHop;
use inband_wire::int::shim::Shim;
use inband_wire::int::{Deviation, Deviations, Encapsulation, HopMetadata, Location, Md, Mx, Original};
use inband_wire::report::{self, AnyIndividual, AnyReport};
use inband_wire::{ChecksumState, FiveTuple, ParseError};

/// A packet that carries, or claims to carry, INT or a report.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    pub(super) record: &'a Record,
    /// Offset in the record from which the offsets in `content` count. Those of errors count from 0.
    pub(super) base: usize,
    pub(super) content: Content<'a>,
}

/// What the packet carries.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Int(IntPacket<'a>),
    Report(ReportPacket<'a>),
    Malformed(ParseError),
}

/// A packet with INT headers; always at least one.
#[derive(Debug)]
pub(super) struct IntPacket<'a> {
    pub(super) flow: FiveTuple,
    pub(super) encapsulation: Encapsulation,
    pub(super) checksum: ChecksumState,
    /// Whether the L4 checksum is that of the packet without its INT, and a reading that accepts it was asked for.
    pub(super) stale_checksum: bool,
    pub(super) headers: Vec<IntHeader<'a>>,
}

/// One INT header with what its shim or tail keeps.
#[derive(Debug)]
pub(super) struct IntHeader<'a> {
    pub(super) location: Location,
    /// The shim of 2.1; `None` in Geneve, which has an option header in its place, and in earlier versions.
    pub(super) shim: Option<&'a Shim>,
    pub(super) original: Original,
    pub(super) body: Body<'a>,
    /// The departures from the format that it shows.
    pub(super) deviations: Deviations,
}

/// What an INT header holds, by its type.
#[derive(Debug)]
pub(super) enum Body<'a> {
    Md(Md<'a>),
    Mx(Mx<'a>),
    /// An MX header with a hop's metadata behind it, which departs from the format.
    MxWithHop(Mx<'a>, HopMetadata),
    /// Of a version before 2.0.
    HopByHop(HopByHop<'a>),
    /// For the sink only; its format is not defined.
    Destination(&'a [u8]),
}

/// A datagram of reports.
#[derive(Debug)]
pub(super) struct ReportPacket<'a> {
    /// The datagram's own addresses, from node to collector.
    pub(super) sent: FiveTuple,
    /// Offset of the datagram's payload.
    pub(super) payload_at: usize,
    pub(super) datagram: AnyReport<'a>,
    pub(super) reports: Vec<Report<'a>>,
}

/// A report with what the packet in it says.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) report: AnyIndividual<'a>,
    pub(super) flow: Option<FiveTuple>,
    pub(super) int: Vec<IntHeader<'a>>,
    /// What the drop reason means, where the table in use knows it.
    pub(super) drop_reason: Option<DropReason>,
    /// Why the inner contents could not be read.
    pub(super) inner_error: Option<ParseError>,
}

/// A reason to drop a packet, in words.
#[derive(Debug)]
pub(super) struct DropReason {
    pub(super) name: String,
    pub(super) meaning: String,
    pub(super) check: String,
}

impl IntPacket<'_> {
    /// The deviations that were accepted, each as a sentence.
    pub(super) fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let stale = self.stale_checksum.then_some("L4 checksum of the packet without INT");
        self.headers.iter().flat_map(IntHeader::deviations).chain(stale)
    }
}

impl IntHeader<'_> {
    fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let of_body =
            matches!(self.body, Body::MxWithHop(..)).then_some("metadata of a hop behind an INT-MX header");
        self.deviations.iter().map(Deviation::name).chain(of_body)
    }
}

impl ReportPacket<'_> {
    /// The deviations that were accepted, each as a sentence.
    pub(super) fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let of_header = self.datagram.deviation().map(|deviation| deviation.name());
        of_header.into_iter().chain(self.reports.iter().flat_map(Report::deviations))
    }
}

impl Report<'_> {
    fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let individual = match &self.report {
            AnyIndividual::Individual(report) => Some(report.deviations()),
            // The datagram has named it.
            AnyIndividual::Single(_) => None,
        };
        let own = individual.into_iter().flatten().map(report::Deviation::name);
        own.chain(self.int.iter().flat_map(IntHeader::deviations))
    }
}
