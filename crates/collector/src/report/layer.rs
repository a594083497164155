//! The layer of a tunnelled packet whose INT a report is about, and its flow.

use inband_model::{Flow, NodeId};
use inband_wire::dissect::flow_before_int;
use inband_wire::int::{AnyHeader, CodePoints, HeaderType, Location};
use inband_wire::layers::Fragment;
use inband_wire::{Dissection, FiveTuple, Level};

/// The INT header that a report is about, with the packet that carries it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carried<'d> {
    pub(super) level: &'d Level,
    pub(super) location: &'d Location,
}

impl<'d> Carried<'d> {
    /// Finds the INT-MD header, else the INT-MX header, that a report is about.
    ///
    /// Where several nested packets carry INT, each belongs to a separate domain. The report is about the one
    /// whose last hop is the reporting node, else about the outermost.
    // int-2.1/l4-04
    #[inline]
    pub(super) fn find(
        dissection: &'d Dissection,
        packet: &[u8],
        reporter: NodeId,
        code_points: &CodePoints<'_>,
    ) -> Option<Self> {
        let Some(level) = dissection.only_level_with_int() else {
            return Self::find_nested(dissection, packet, reporter, code_points);
        };
        let location = level.first_int(HeaderType::Md).or_else(|| level.first_int(HeaderType::Mx))?;
        Some(Self { level, location })
    }

    /// Finds it among several nested packets.
    #[cold]
    fn find_nested(
        dissection: &'d Dissection,
        packet: &[u8],
        reporter: NodeId,
        code_points: &CodePoints<'_>,
    ) -> Option<Self> {
        let of_type = |header_type| {
            let carried =
                move |level: &'d Level| Some(Self { level, location: level.first_int(header_type)? });
            dissection.levels().filter_map(carried)
        };
        let is_of_reporter = |carried: &Self| {
            let header = AnyHeader::parse(packet, carried.location, code_points.domains);
            let last = header.ok().and_then(|header| header.hops().next()?.metadata().node_id);
            last == Some(reporter.0)
        };
        let stacks = || of_type(HeaderType::Md);
        stacks().find(is_of_reporter).or_else(|| stacks().next()).or_else(|| of_type(HeaderType::Mx).next())
    }
}

/// The flow of a report: that of the innermost packet; where a packet nested in the one with the INT it is
/// about carries INT as well, that of the one it is about.
///
/// A later fragment has no ports: its flow is that of the tunnel around it, `None` where there is no tunnel.
#[inline]
pub(super) fn flow(dissection: &Dissection, carried: Option<Carried<'_>>, packet: &[u8]) -> Option<Flow> {
    if dissection.has_nested_int()
        && let Some(Carried { level, .. }) = carried
        && let Some(last) = level.int().last()
        && dissection.levels().any(|other| other.layers.l3 > level.layers.l3 && other.int().next().is_some())
    {
        return Some(of(flow_before_int(packet, &level.layers, last)));
    }
    match dissection.levels().last() {
        Some(innermost) if !has_ports(innermost) => flow_of_tunnel(dissection, packet),
        _ => dissection.flow.map(of),
    }
}

/// The flow of the innermost packet that has one, where the innermost packet of all has none.
#[cold]
fn flow_of_tunnel(dissection: &Dissection, packet: &[u8]) -> Option<Flow> {
    let level = dissection.levels().filter(|level| has_ports(level)).last()?;
    Some(of(match level.int().last() {
        Some(last) => flow_before_int(packet, &level.layers, last),
        None => level.layers.five_tuple(packet),
    }))
}

/// Whether a packet has the ports of its protocol, if the protocol has any.
fn has_ports(level: &Level) -> bool {
    level.layers.fragment != Fragment::Later || !matches!(level.layers.protocol, TCP | UDP)
}

fn of(tuple: FiveTuple) -> Flow {
    let FiveTuple { source, destination, protocol, source_port, destination_port } = tuple;
    Flow { source, destination, protocol, source_port, destination_port }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
