//! The contents of one report, of any version.

mod faults;
mod hops;
mod layer;
mod missing;
mod outer;
mod wire;

use inband_model::{Flow, NodeId, Origin, Units};
use inband_wire::Dissection;
use inband_wire::int::{AnyHeader, CodePoints, HeaderType, Instructions, Location, Mx, Version};
use inband_wire::report::earlier::ReportKind;
use inband_wire::report::{AnyIndividual, Drop, ReportType, ReportVersion};
use serde::{Deserialize, Serialize};

pub use self::faults::Fault;
pub(crate) use self::faults::Faults;
pub(crate) use self::hops::HopReading;
use self::hops::Hops;
use self::layer::Carried;
pub(crate) use self::missing::{Between, Missing};
use self::outer::Outer;
pub(crate) use self::outer::PacketIdentity;

/// An individual report without its hops, which are stored separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// The flow of the reported packet; `None` when the report contains no packet, or too little of it, as in
    /// a later fragment.
    pub(crate) flow: Option<Flow>,
    /// Where the hops come from.
    pub(crate) origin: Origin,
    /// Whether the hops are all those that the packet has passed.
    pub(crate) stack: StackState,
    /// Remaining Hop Count before the first hop on the stack was added.
    pub(crate) remaining_at_start: Option<u8>,
    /// TTL or hop limit of the outermost reported packet.
    pub(crate) ttl: Option<u8>,
    /// The identity of the packet.
    pub(crate) identity: Option<PacketIdentity>,
    /// Length of that packet, bytes, from its IP header on; 0 where it is unknown.
    pub(crate) packet_bytes: u32,
    /// D: a packet was dropped.
    pub(crate) dropped: bool,
    /// Q: the packet met a congested queue.
    pub(crate) congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub(crate) tracked_flow: bool,
    /// Queue and drop reason, where the report contains them.
    #[serde(with = "self::wire::drop")]
    pub(crate) drop: Option<Drop>,
    /// Packets of the flow that a node has found missing.
    pub(crate) missing: Option<Missing>,
    /// The number given to the packet by its source.
    pub(crate) number: Option<u32>,
}

/// How much of a packet's path a metadata stack shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StackState {
    /// All hops up to the reporting node, as far as the packet shows.
    Whole,
    /// The hops from the source to a transit hop, which removed the stack from the packet.
    Intermediate,
    /// Hops are missing: E or M is set, the stack is cut or cannot be read, the packet was dropped, or the
    /// reporting node is not the sink.
    Partial {
        /// E: the maximum number of hops set by the source was reached.
        max_hop_count_exceeded: bool,
    },
}

/// The node that sent a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reporter {
    /// [`NodeId::NOT_AVAILABLE`] where it is unknown.
    pub(crate) node_id: NodeId,
    /// Width of the timestamps of its own hop, bits.
    pub(crate) timestamp_bits: u32,
    /// Where sources number packets, if they do.
    pub(crate) numbering: Option<Numbering>,
    /// Domain whose metadata in a report 2.0 is a drop summary; 0: none.
    pub(crate) summary_domain: u16,
}

/// Position of the packet's number in the source-inserted metadata of INT-MX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    pub(crate) domain: u16,
    pub(crate) offset_words: usize,
}

impl Numbering {
    fn read(self, packet: &[u8], at: &Location) -> Option<u32> {
        let mx = Mx::parse(packet, at).ok().filter(|mx| mx.header.domain_specific_id() == self.domain)?;
        let word = mx.source_inserted.chunks_exact(4).nth(self.offset_words)?;
        Some(u32::from_be_bytes(word.try_into().ok()?))
    }
}

/// Working memory for reading a report; previous contents are overwritten.
#[derive(Debug, Default)]
pub(crate) struct Space {
    dissection: Dissection,
    hops: Hops,
}

impl Space {
    /// The hops of the report, first hop first.
    #[inline]
    pub(crate) fn hops(&self) -> &[HopReading] {
        self.hops.as_slice()
    }

    /// Converts the times of all hops to nanoseconds.
    pub(crate) fn convert_times(&mut self, units: &Units) {
        for hop in self.hops.as_mut_slice() {
            hop.convert_times(&units.of(hop.hop.node_id));
        }
    }
}

/// Reads a report; its hops are stored in the space, first hop first.
///
/// An inner packet that is marked as INT but cannot be INT is counted in `faults`; the rest of the report is
/// valid.
pub(crate) fn read(
    reporter: Reporter,
    report: &AnyIndividual<'_>,
    code_points: &CodePoints<'_>,
    Space { dissection, hops }: &mut Space,
    faults: &mut Faults,
) -> Reading {
    hops.clear();
    let packet = report.packet().map_or(&[][..], |(_, packet, _)| packet);
    report.dissect_into(code_points, dissection);
    let carried = Carried::find(dissection, packet, reporter.node_id, code_points);
    let outermost = dissection.levels().next();
    let outer = outermost.map_or_else(Outer::default, |level| Outer::read(packet, &level.layers));
    let mut reading = Reading {
        flow: layer::flow(dissection, carried, packet),
        origin: Origin::XdReport,
        stack: StackState::Whole,
        remaining_at_start: None,
        ttl: outer.ttl,
        packet_bytes: outer.bytes,
        identity: outer.identity,
        // report-2.0/transport-05: a report may be of several categories at once.
        dropped: report.dropped(),
        congested_queue: report.congested_queue(),
        tracked_flow: report.tracked_flow(),
        drop: report.drop(),
        missing: None,
        number: None,
    };
    if let Some(error) = dissection.error {
        faults.count(&error);
        reading.stack = UNREADABLE;
    }
    reading.missing = Missing::read(report, reporter.node_id, reporter.summary_domain);
    if reading.missing.is_some() {
        // The path of the missing packets is unknown.
        (reading.origin, reading.stack) = (Origin::MdStack, UNREADABLE);
        return reading;
    }
    let location = carried.map(|carried| carried.location);
    if let Some(location) = location.filter(|location| location.header_type == HeaderType::Md) {
        match AnyHeader::parse(packet, location, code_points.domains) {
            Ok(header) => {
                reading.origin = Origin::MdStack;
                reading.stack = stack_state(report, &header);
                reading.remaining_at_start = remaining_at_start(&header);
                push_stack(&header, location, report, reporter, hops);
                return reading;
            }
            Err(error) => {
                faults.count(&error);
                reading.stack = UNREADABLE;
            }
        }
    } else if let Some(location) = location {
        reading.origin = Origin::MxReport;
        reading.number = reporter.numbering.and_then(|numbering| numbering.read(packet, location));
        // A source that does not number its packets leaves the word 0.
        let number = reading.number.filter(|number| *number != 0);
        reading.identity = reading.identity.or(number.map(PacketIdentity::Number));
    }
    if reporter.node_id != NodeId::NOT_AVAILABLE {
        hops.add(1)[0] = read_own(reporter, report);
    }
    reading
}

/// Stores the hops of a stack in the order of the path, the reporting node's own metadata last.
fn push_stack(
    header: &AnyHeader<'_>,
    location: &Location,
    report: &AnyIndividual<'_>,
    reporter: Reporter,
    hops: &mut Hops,
) {
    let timestamp_bits = location.timestamp_bits();
    if let AnyHeader::Md(md) = header {
        // Of more hops, only the last ones count.
        let readings = hops.add(md.stack.visible_hop_count().min(MAX_HOPS));
        md.stack.fill(readings);
        for reading in readings {
            reading.complete(reading.metadata.node_id.map_or(NodeId::NOT_AVAILABLE, NodeId), timestamp_bits);
        }
    } else {
        for hop in header.hops().take(MAX_HOPS) {
            let reading = &mut hops.add(1)[0];
            reading.metadata = hop.metadata();
            if location.version == Version::HostInt0_5 {
                // A host has one time for a packet and reports it twice.
                reading.metadata.egress_timestamp = None;
            }
            reading.complete(reading.metadata.node_id.map_or(NodeId::NOT_AVAILABLE, NodeId), timestamp_bits);
        }
        hops.as_mut_slice().reverse();
    }
    match hops.as_mut_slice().last_mut() {
        Some(last) if last.hop.node_id == reporter.node_id => {
            if has_no_metadata(report) {
                return;
            }
            last.complete_from(&read_own(reporter, report));
        }
        last if has_own_metadata(report) => {
            let own = read_own(reporter, report);
            // Where nodes do not give their ids, the last hop is the reporter's if it shows the same.
            if !last.is_some_and(|last| last.is_of_nobody_else(&own)) {
                hops.add(1)[0] = own;
            }
        }
        _ => {}
    }
}

/// The reporting node's metadata of its own hop.
fn read_own(reporter: Reporter, report: &AnyIndividual<'_>) -> HopReading {
    let mut own = HopReading { metadata: report.metadata(), ..HopReading::EMPTY };
    own.complete(reporter.node_id, reporter.timestamp_bits);
    own
}

/// Whether the report contains metadata of the reporting node's own hop outside the stack.
// report-2.0/modes-03, int-2.1/md-35: a sink puts its own metadata in the stack or in the main contents of
// the report, and some put it nowhere.
fn has_own_metadata(report: &AnyIndividual<'_>) -> bool {
    match report {
        // A transit hop that reports the stack so far may also put its own metadata into the stack it
        // restarts.
        AnyIndividual::Individual(report) => {
            let has_main_contents = report.first_word.report_type() == ReportType::Int;
            has_main_contents && (!report.intermediate() || report.rep_md_bits().0 != 0)
        }
        AnyIndividual::Single(report) => match (report.version, report.kind) {
            (ReportVersion::V0_5, ReportKind::Local | ReportKind::Drop) => true,
            // The ingress timestamp is in every header of 1.0.
            (ReportVersion::V1_0, _) => {
                report.drop.is_some() || report.instructions != Instructions::INGRESS_TIMESTAMP
            }
            _ => false,
        },
    }
}

/// Whether the report has no metadata of the reporting node's own hop. Where it could have some, its clock
/// counts although it is not read.
fn has_no_metadata(report: &AnyIndividual<'_>) -> bool {
    matches!(report, AnyIndividual::Individual(report) if report.rep_md_bits().0 == 0)
}

fn stack_state(report: &AnyIndividual<'_>, header: &AnyHeader<'_>) -> StackState {
    let max_hop_count_exceeded = header.max_hop_count_exceeded() == Some(true);
    let is_cut = header.is_cut() || header.hop_count() > MAX_HOPS;
    let is_whole = report.tracked_flow() && !report.dropped() && !is_cut;
    if max_hop_count_exceeded || header.mtu_exceeded() == Some(true) || !is_whole {
        StackState::Partial { max_hop_count_exceeded }
    } else if report.intermediate() {
        StackState::Intermediate
    } else {
        StackState::Whole
    }
}

/// Remaining Hop Count before the first hop on the stack was added: each hop took one.
fn remaining_at_start(header: &AnyHeader<'_>) -> Option<u8> {
    let hops = u8::try_from(header.hop_count()).ok()?;
    header.remaining_hop_count()?.checked_add(hops)
}

/// The state for an inner packet that is marked as INT but cannot be INT.
const UNREADABLE: StackState = StackState::Partial { max_hop_count_exceeded: false };
/// Maximum number of hops read from one stack; a packet with more is treated as cut.
pub(crate) const MAX_HOPS: usize = 32;
