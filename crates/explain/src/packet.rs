//! The description of a packet: INT headers, a group of reports, or a packet that only claims to be either.

use inband_wire::int::earlier::{HopCounts, Layout};
use inband_wire::int::shim::Shim;
use inband_wire::int::{
    Deviation, Deviations, Encapsulation, Instructions, Location, MdHeader, MxHeader, Original, Version,
};
use inband_wire::report::earlier::{DropSummary, ReportKind};
use inband_wire::report::{Drop, FirstWord, ReportVersion, TlvType};
use inband_wire::{ChecksumState, FiveTuple, ParseError, Words};

use crate::hop::Values;

/// The description of a packet that carries, or claims to carry, INT or telemetry reports.
///
/// Every offset in it is a byte of the captured frame. `Display` prints it for people, one fact per line;
/// `Serialize` writes the object that `inband decode --json` prints.
#[derive(Debug, Clone)]
pub enum Description {
    /// A packet with INT headers.
    Int(IntPacket),
    /// A datagram of telemetry reports.
    Report(ReportPacket),
    /// A packet that claims to be one of these but cannot be read.
    Malformed {
        /// The error.
        error: ParseError,
        /// Whether the capture truncated the packet.
        is_cut: bool,
    },
}

/// A packet with at least one INT header.
#[derive(Debug, Clone)]
pub struct IntPacket {
    /// The flow as seen by the source.
    pub flow: FiveTuple,
    /// The encapsulation of the first header.
    pub encapsulation: Encapsulation,
    /// Whether the L4 checksum matches.
    pub checksum: ChecksumState,
    /// Whether the L4 checksum is that of the packet without its INT; only checked in a lenient reading.
    pub stale_checksum: bool,
    /// The headers, the outermost first.
    pub headers: Vec<IntHeader>,
}

/// One INT header with what its shim or tail keeps.
#[derive(Debug, Clone)]
pub struct IntHeader {
    /// Its location.
    pub location: Location,
    /// The shim of 2.1; `None` in Geneve, which has an option header instead, and in earlier versions.
    pub shim: Option<Shim>,
    /// The values of the original packet kept in shim or tail.
    pub original: Original,
    /// Its contents.
    pub body: Body,
    /// Its deviations from the format.
    pub deviations: Deviations,
}

/// The contents of an INT header, by type.
#[derive(Debug, Clone)]
pub enum Body {
    /// INT-MD.
    Md(MdBody),
    /// INT-MX.
    Mx(MxBody),
    /// Hop-by-hop, of a version before 2.0.
    HopByHop(HopByHopBody),
    /// For the sink only; its format is not defined.
    Destination(Vec<u8>),
}

/// An INT-MD header and its metadata stack.
#[derive(Debug, Clone)]
pub struct MdBody {
    /// The header.
    pub header: MdHeader,
    /// The metadata stack.
    pub stack: Stack,
    /// The source-only metadata at the bottom of the stack.
    pub source_only: Vec<u8>,
}

/// An INT-MX header.
#[derive(Debug, Clone)]
pub struct MxBody {
    /// The header.
    pub header: MxHeader,
    /// The source-inserted metadata.
    pub source_inserted: Vec<u8>,
    /// A hop's metadata after the header, which is a deviation from the format.
    pub hop: Option<Values>,
}

/// An INT header of a version before 2.0, with its metadata stack.
#[derive(Debug, Clone)]
pub struct HopByHopBody {
    /// The version of the format.
    pub version: Version,
    /// Rep.
    pub replication: u8,
    /// C: the packet is a copy.
    pub copy: bool,
    /// E.
    pub max_hop_count_exceeded: bool,
    /// M; `None` in versions without it.
    pub mtu_exceeded: Option<bool>,
    /// The hop limit, and the number of hops where the version counts them.
    pub hop_counts: HopCounts,
    /// Number of further hops that may add metadata.
    pub remaining_hop_count: u8,
    /// Length of the metadata each hop adds.
    pub hop_ml: Words,
    /// The instruction bitmap.
    pub instruction_bitmap: u16,
    /// The meaning of its bits.
    pub layout: Layout,
    /// Number of the packet in its flow, if the version or dialect has one.
    pub sequence: Option<u32>,
    /// The metadata stack.
    pub stack: Stack,
}

/// A metadata stack, the last hop first.
#[derive(Debug, Clone)]
pub struct Stack {
    /// Number of hops that the header announces.
    pub hop_count: usize,
    /// The hops that are in the capture or report.
    pub hops: Vec<HopValues>,
}

/// The metadata of one hop.
#[derive(Debug, Clone)]
pub struct HopValues {
    /// The values that the instruction bits ask for.
    pub values: Values,
    /// Domain-specific metadata.
    pub domain: Vec<u8>,
}

/// A datagram of telemetry reports.
#[derive(Debug, Clone)]
pub struct ReportPacket {
    /// The datagram's own addresses, node to collector.
    pub sent: FiveTuple,
    /// Offset of the datagram's payload.
    pub payload_at: usize,
    /// The version of the format.
    pub version: ReportVersion,
    /// The reporting node; `None` when only the sender's address or the stack in the packet identifies it.
    pub node_id: Option<u32>,
    /// Which part of the node's hardware sent the reports.
    pub hw_id: u8,
    /// Number of the datagram.
    pub sequence: u32,
    /// The deviation of the datagram's header, as a sentence.
    pub deviation: Option<&'static str>,
    /// The reports.
    pub reports: Vec<Report>,
}

/// A telemetry report with a description of its packet.
#[derive(Debug, Clone)]
pub struct Report {
    /// The fields specific to its version.
    pub form: ReportForm,
    /// D, Q, F and I.
    pub flags: ReportFlags,
    /// The name of the type of the inner contents.
    pub inner: String,
    /// The node's metadata for the packet, without its id and the drop reason.
    pub metadata: Values,
    /// Queue and drop reason.
    pub drop: Option<Drop>,
    /// The meaning of the drop reason, if the selected table has it.
    pub drop_reason: Option<DropReason>,
    /// The reported packet.
    pub packet: Option<ReportedPacket>,
    /// Why the inner contents could not be read.
    pub inner_error: Option<ParseError>,
    /// The deviations of the report itself, each as a sentence.
    pub deviations: Vec<&'static str>,
}

/// The version-specific part of a report.
#[derive(Debug, Clone)]
pub enum ReportForm {
    /// An individual report of 2.0.
    Individual(Individual),
    /// A report of a version before 2.0.
    Earlier(Earlier),
}

/// The fields specific to individual reports of 2.0.
#[derive(Debug, Clone)]
pub struct Individual {
    /// Offset of its first word.
    pub at: usize,
    /// Its first word.
    pub first_word: FirstWord,
    /// RepMdBits.
    pub instructions: Instructions,
    /// Domain Specific ID.
    pub domain_specific_id: u16,
    /// DSMdBits.
    pub ds_md_bits: u16,
    /// Domain-specific metadata.
    pub domain_metadata: Vec<u8>,
    /// The TLVs of the inner contents.
    pub tlvs: Vec<TlvPart>,
    /// Inner contents that are an extension of a domain.
    pub extension: Option<Vec<u8>>,
}

/// One TLV of inner contents.
#[derive(Debug, Clone)]
pub struct TlvPart {
    /// The type of the data.
    pub tlv_type: TlvType,
    /// Template of domain-specific extension data.
    pub template: u16,
    /// Offset of the data.
    pub at: usize,
    /// The data.
    pub data: Vec<u8>,
}

/// The fields specific to reports of versions before 2.0.
#[derive(Debug, Clone)]
pub struct Earlier {
    /// The kind of the report.
    pub kind: ReportKind,
    /// Host-INT: time of the report, seconds since 1970.
    pub reported_at_s: Option<u32>,
    /// Host-INT: the lost packets of a flow.
    pub drop_summary: Option<DropSummary>,
}

/// The tracking bits of a report.
#[derive(Debug, Clone, Copy)]
pub struct ReportFlags {
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: the packet met a congested queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// I: a transit hop reports the stack collected so far.
    pub intermediate: bool,
}

/// The packet in a report, as far as it is present.
#[derive(Debug, Clone)]
pub struct ReportedPacket {
    /// Offset of its first byte.
    pub at: usize,
    /// Number of bytes that are present.
    pub bytes: usize,
    /// Its flow; `None` when it is not IP.
    pub flow: Option<FiveTuple>,
    /// The INT headers in it.
    pub int: Vec<IntHeader>,
}

/// A drop reason, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropReason {
    /// A short name.
    pub name: String,
    /// What happened to the packet; may be empty.
    pub meaning: String,
    /// What to check when it happens; may be empty.
    pub check: String,
}

impl IntPacket {
    /// The deviations that were accepted, each as a sentence.
    pub fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let stale = self.stale_checksum.then_some("L4 checksum of the packet without INT");
        self.headers.iter().flat_map(IntHeader::deviations).chain(stale)
    }
}

impl IntHeader {
    fn deviations(&self) -> impl Iterator<Item = &'static str> {
        let has_hop = matches!(&self.body, Body::Mx(mx) if mx.hop.is_some());
        let of_body = has_hop.then_some("metadata of a hop behind an INT-MX header");
        self.deviations.iter().map(Deviation::name).chain(of_body)
    }
}

impl Stack {
    /// Number of hops that are missing from the capture or report.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.hop_count.saturating_sub(self.hops.len())
    }
}

impl ReportPacket {
    /// The deviations that were accepted, each as a sentence.
    pub fn deviations(&self) -> impl Iterator<Item = &'static str> {
        self.deviation.into_iter().chain(self.reports.iter().flat_map(Report::deviations))
    }
}

impl Report {
    /// The INT headers of the reported packet.
    #[must_use]
    pub fn int(&self) -> &[IntHeader] {
        self.packet.as_ref().map_or(&[], |packet| &packet.int)
    }

    fn deviations(&self) -> impl Iterator<Item = &'static str> {
        self.deviations.iter().copied().chain(self.int().iter().flat_map(IntHeader::deviations))
    }
}
