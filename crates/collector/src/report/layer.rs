//! The packet of a tunnel whose INT a report is about, and its flow.

use inband_model::{Flow, NodeId};
use inband_wire::dissect::flow_before_int;
use inband_wire::int::{AnyHeader, CodePoints, HeaderType, Location};
use inband_wire::layers::Fragment;
use inband_wire::{Dissection, FiveTuple, Level};

/// The first INT header of a type that a report is about.
///
/// Where several packets inside one another carry INT, each belongs to a domain of its own. The report is about the
/// one whose last hop is the reporting node, else about the outermost.
// int-2.1/l4-04
#[inline]
pub(super) fn first_of<'d>(
    dissection: &'d Dissection,
    header_type: HeaderType,
    packet: &[u8],
    reporter: NodeId,
    code_points: &CodePoints<'_>,
) -> Option<(&'d Level, &'d Location)> {
    let mut found = dissection
        .levels()
        .filter_map(|level| level.first_int(header_type).map(|location| (level, location)));
    let outermost = found.next()?;
    let mut others = found.peekable();
    if others.peek().is_none() {
        return Some(outermost);
    }
    let is_of_reporter = |(_, location): &(&Level, &Location)| {
        let header = AnyHeader::parse(packet, location, code_points.domains);
        let last = header.ok().and_then(|header| header.hops().next().and_then(|hop| hop.metadata().node_id));
        last == Some(reporter.0)
    };
    Some(std::iter::once(outermost).chain(others).find(is_of_reporter).unwrap_or(outermost))
}

/// The flow of a report: that of the innermost packet; where a packet inside that of `level` carries INT of its own,
/// that of `level`.
///
/// `None` for a later fragment, which has no ports.
#[inline]
pub(super) fn flow(dissection: &Dissection, level: Option<&Level>, packet: &[u8]) -> Option<Flow> {
    if let Some(level) = level
        && let Some(last) = level.int().last()
        && dissection.levels().any(|other| other.layers.l3 > level.layers.l3 && other.int().next().is_some())
    {
        return Some(of(flow_before_int(packet, &level.layers, last)));
    }
    let innermost = dissection.levels().last().map(|level| &level.layers);
    let has_ports = innermost
        .is_none_or(|layers| layers.fragment != Fragment::Later || !matches!(layers.protocol, TCP | UDP));
    dissection.flow.filter(|_| has_ports).map(of)
}

fn of(tuple: FiveTuple) -> Flow {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = tuple;
    Flow { source, destination, protocol, source_port, destination_port }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
