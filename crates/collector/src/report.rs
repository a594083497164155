//! What does one individual report say?

mod faults;

use inband_model::{Flow, Hop, Nanos, NodeId, Origin};
use inband_wire::int::{CodePoints, HeaderType, HopMetadata, Location, Md, Queue};
use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::Ipv6Header;
use inband_wire::layers::IpVersion;
use inband_wire::report::{IndividualReport, ReportType};
use inband_wire::view::view;
use inband_wire::{Dissection, FiveTuple, Header, Layers, Link, Strictness, dissect};

pub use self::faults::Fault;
pub(crate) use self::faults::Faults;

/// What one hop said about one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HopReading {
    pub(crate) hop: Hop,
    /// How long the packet stayed in the node.
    pub(crate) latency: Option<Nanos>,
    /// The queue the packet waited in.
    pub(crate) queue: Option<Queue>,
    /// When the packet came in, by the node's clock.
    pub(crate) ingress_timestamp: Option<u64>,
}

/// An individual report without the hops, which are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The flow of the reported packet; `None` when there is none in the report, or not enough of it.
    pub(crate) flow: Option<Flow>,
    /// Where the hops come from.
    pub(crate) origin: Origin,
    /// Whether the hops are all those the packet has passed on its way.
    pub(crate) stack: StackState,
    /// TTL or hop limit of the outermost reported packet.
    pub(crate) ttl: Option<u8>,
    /// D: a packet was dropped.
    pub(crate) dropped: bool,
    /// Q: the packet met a congested queue.
    pub(crate) congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub(crate) tracked_flow: bool,
}

/// How much of a packet's way a metadata stack shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackState {
    /// All hops up to the reporting node, as far as the packet tells.
    Whole,
    /// The hops from the source to a transit hop, which took the stack off the packet.
    Intermediate,
    /// Hops are missing: E or M is set, the stack is cut or cannot be read, the packet was dropped, or it is not
    /// the sink that reports it.
    Partial {
        /// E: the number of hops the source allowed was used up.
        max_hop_count_exceeded: bool,
    },
}

/// Reads an individual report of node `node_id`; its hops are put into `hops`, first hop first.
///
/// An inner packet that is marked as INT and cannot be is noted in `faults`; the rest of the report is good.
pub(crate) fn read(
    node_id: NodeId,
    report: &IndividualReport<'_>,
    code_points: &CodePoints<'_>,
    hops: &mut Vec<HopReading>,
    faults: &mut Faults,
) -> Reading {
    hops.clear();
    let own = HopReading::new(node_id, &report.metadata());
    let (link, packet) = report.packet().map_or((Link::Ip, &[][..]), |(link, packet, _)| (link, packet));
    let dissection = dissect(link, packet, code_points, Strictness::Truncated);
    let mut reading = Reading {
        flow: dissection.flow.map(flow),
        origin: Origin::XdReport,
        stack: StackState::Whole,
        ttl: dissection.levels().next().and_then(|level| ttl(packet, &level.layers)),
        // report-2.0/transport-05: a report may be of several categories at once.
        dropped: report.dropped(),
        congested_queue: report.congested_queue(),
        tracked_flow: report.tracked_flow(),
    };
    if let Some(error) = dissection.error {
        faults.count(&error);
        reading.stack = UNREADABLE;
    }
    match first_of(&dissection, HeaderType::Md).map(|at| Md::parse(packet, &at, code_points.domains)) {
        Some(Ok(md)) => {
            reading.origin = Origin::MdStack;
            reading.stack = stack_state(report, &md);
            push_stack(&md, report, own, hops);
            return reading;
        }
        Some(Err(error)) => {
            faults.count(&error);
            reading.stack = UNREADABLE;
        }
        None if first_of(&dissection, HeaderType::Mx).is_some() => reading.origin = Origin::MxReport,
        None => {}
    }
    hops.push(own);
    reading
}

/// Puts the hops of a stack in the order of the path, the reporting node's own metadata last.
fn push_stack(md: &Md<'_>, report: &IndividualReport<'_>, own: HopReading, hops: &mut Vec<HopReading>) {
    for hop in md.stack.hops().take(MOST_HOPS) {
        let metadata = hop.metadata();
        let node_id = metadata.node_id.map_or(NodeId::NOT_AVAILABLE, NodeId);
        hops.push(HopReading::new(node_id, &metadata));
    }
    hops.reverse();
    // report-2.0/modes-03, int-2.1/md-35: a sink puts its own metadata in the stack or in the main contents of
    // the report, and some put it nowhere.
    // A transit hop that reports the stack so far may also put its own metadata into the stack it begins anew.
    let has_main_contents = report.first_word.report_type() == ReportType::Int;
    let has_own_metadata = has_main_contents && (!report.intermediate() || report.rep_md_bits().0 != 0);
    match hops.last_mut() {
        Some(last) if last.hop.node_id == own.hop.node_id => last.complete_from(&own),
        _ if has_own_metadata => hops.push(own),
        _ => {}
    }
}

fn stack_state(report: &IndividualReport<'_>, md: &Md<'_>) -> StackState {
    let max_hop_count_exceeded = md.header.max_hop_count_exceeded();
    let is_cut = md.stack.is_cut() || md.stack.hop_count() > MOST_HOPS;
    let is_whole = report.tracked_flow() && !report.dropped() && !is_cut;
    if max_hop_count_exceeded || md.header.mtu_exceeded() || !is_whole {
        StackState::Partial { max_hop_count_exceeded }
    } else if report.intermediate() {
        StackState::Intermediate
    } else {
        StackState::Whole
    }
}

fn first_of(dissection: &Dissection, header_type: HeaderType) -> Option<Location> {
    dissection.int().map(|(_, location)| *location).find(|location| location.header_type == header_type)
}

fn ttl(packet: &[u8], layers: &Layers) -> Option<u8> {
    match layers.ip {
        IpVersion::V4 => view::<Ipv4Header>(packet, layers.l3, Header::Ipv4).ok().map(|header| header.ttl),
        IpVersion::V6 => {
            view::<Ipv6Header>(packet, layers.l3, Header::Ipv6).ok().map(|header| header.hop_limit)
        }
    }
}

fn flow(tuple: FiveTuple) -> Flow {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = tuple;
    Flow { source, destination, protocol, source_port, destination_port }
}

impl HopReading {
    fn new(node_id: NodeId, metadata: &HopMetadata) -> HopReading {
        let hop = Hop {
            node_id,
            ingress_interface: metadata.interfaces.map(|interfaces| interfaces.ingress),
            egress_interface: metadata.interfaces.map(|interfaces| interfaces.egress),
        };
        HopReading {
            hop,
            latency: latency(metadata),
            queue: metadata.queue,
            ingress_timestamp: metadata.ingress_timestamp,
        }
    }

    /// Takes from `other`, the same hop told elsewhere, what is missing here.
    fn complete_from(&mut self, other: &HopReading) {
        self.hop.ingress_interface = self.hop.ingress_interface.or(other.hop.ingress_interface);
        self.hop.egress_interface = self.hop.egress_interface.or(other.hop.egress_interface);
        self.latency = self.latency.or(other.latency);
        self.queue = self.queue.or(other.queue);
        self.ingress_timestamp = self.ingress_timestamp.or(other.ingress_timestamp);
    }
}

/// The hop latency as the node gave it, else from its timestamps.
fn latency(metadata: &HopMetadata) -> Option<Nanos> {
    if let Some(latency) = metadata.hop_latency {
        return Some(Nanos(u64::from(latency)));
    }
    let span = metadata.egress_timestamp?.wrapping_sub(metadata.ingress_timestamp?);
    // A clock that was set back between the two gives a span of centuries, which is no latency.
    (span < 1 << 63).then_some(Nanos(span))
}

/// What an inner packet shows that is marked as INT and cannot be.
const UNREADABLE: StackState = StackState::Partial { max_hop_count_exceeded: false };
/// Most hops of one stack that are looked at; a packet with more is treated as cut.
pub(crate) const MOST_HOPS: usize = 32;
