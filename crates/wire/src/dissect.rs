//! Dissection of a frame: its flow and its INT headers, through all tunnels.

use crate::error::{Header, ParseError};
use crate::flow::FiveTuple;
use crate::int::code_points::CodePoints;
use crate::int::dialect::{Reading, read_again};
use crate::int::locate::{self, Encapsulation, Location};
use crate::int::location::HeaderType;
use crate::int::original::Original;
use crate::layers::{Layers, Link, Strictness, Transport, ports, transport_at};
use crate::tunnel::{self, Carried, MAX_LEVELS};
use crate::{tcp, udp};

/// Maximum number of INT headers read per level.
pub const MAX_HEADERS: usize = 4;

/// One IP packet of a frame, with the INT headers between its headers and its payload.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The packet's headers.
    pub layers: Layers,
    locations: [Option<Location>; MAX_HEADERS],
}

impl Level {
    fn new(layers: Layers) -> Self {
        Self { layers, locations: [None; MAX_HEADERS] }
    }

    /// The INT headers of this packet, in order.
    pub fn int(&self) -> impl Iterator<Item = &Location> {
        self.locations.iter().flatten()
    }

    /// The first INT header of the given type.
    #[inline]
    #[must_use]
    pub fn first_int(&self, header_type: HeaderType) -> Option<&Location> {
        self.locations.iter().map_while(Option::as_ref).find(|location| location.header_type == header_type)
    }

    /// Finds the INT headers of the packet; returns the error that ends the search, if any.
    fn find_int(&mut self, bytes: &[u8], code_points: &CodePoints<'_>) -> Option<ParseError> {
        let layers = &self.layers;
        let mut found = locate::find(bytes, layers, code_points);
        if code_points.reading != Reading::Strict {
            found = read_again(bytes, layers, code_points, found);
        }
        for slot in &mut self.locations {
            match found {
                Ok(Some(location)) => {
                    *slot = Some(location);
                    found = locate::following(bytes, layers, code_points, &location);
                }
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        }
        found.err()
    }

    fn last_int(&self) -> Option<&Location> {
        // They fill the places in order.
        self.locations.iter().map_while(Option::as_ref).last()
    }
}

/// The contents of a frame: its IP packets from the outermost inwards, and the flow of the innermost one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dissection {
    levels: [Option<Level>; MAX_LEVELS],
    /// Bitmap of the levels that carry INT; the outermost is the lowest bit.
    with_int: u8,
    /// The five-tuple of the innermost packet, as it was before INT was added.
    pub flow: Option<FiveTuple>,
    /// Why a packet marked as INT could not be read further; what was read before is valid.
    pub error: Option<ParseError>,
}

impl Dissection {
    /// Creates the dissection of a packet whose headers were read elsewhere.
    pub(crate) fn of_headers(flow: FiveTuple, int: Option<(Layers, Location)>) -> Self {
        let level = int.map(|(layers, location)| {
            let mut locations = [None; MAX_HEADERS];
            locations[0] = Some(location);
            Level { layers, locations }
        });
        let mut levels = [None; MAX_LEVELS];
        levels[0] = level;
        Self { levels, with_int: u8::from(level.is_some()), flow: Some(flow), error: None }
    }

    fn clear(&mut self) {
        for level in &mut self.levels {
            *level = None;
        }
        (self.flow, self.error) = (None, None);
    }

    /// Creates the dissection of an unreadable packet.
    pub(crate) fn failed(error: ParseError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// The IP packets, the outermost first.
    pub fn levels(&self) -> impl Iterator<Item = &Level> {
        self.levels.iter().flatten()
    }

    /// The only IP packet with INT headers; `None` where there is none, or more than one.
    #[inline]
    #[must_use]
    pub fn only_level_with_int(&self) -> Option<&Level> {
        if !self.with_int.is_power_of_two() {
            return None;
        }
        self.levels.get(self.with_int.trailing_zeros() as usize)?.as_ref()
    }

    /// Whether several IP packets inside one another have INT headers.
    #[inline]
    #[must_use]
    pub const fn has_nested_int(&self) -> bool {
        self.with_int & self.with_int.wrapping_sub(1) != 0
    }

    /// All INT headers, each with the packet that carries it, in order.
    pub fn int(&self) -> impl Iterator<Item = (&Layers, &Location)> {
        self.levels().flat_map(|level| level.int().map(move |location| (&level.layers, location)))
    }
}

// int-2.1/l4-04: INT of an outer and of an inner packet is found independently.
/// Walks through the frame in `bytes`: its IP packets, the INT headers of each, the tunnels between them.
///
/// Never fails: a frame without IP gives an empty [`Dissection`], a packet marked as INT that cannot be read
/// sets [`Dissection::error`]. Follows at most [`MAX_LEVELS`] nested packets.
#[must_use]
pub fn dissect(link: Link, bytes: &[u8], code_points: &CodePoints<'_>, strictness: Strictness) -> Dissection {
    let mut dissection = Dissection::default();
    dissect_into(&mut dissection, link, bytes, code_points, strictness);
    dissection
}

/// Like [`dissect`], but fills an existing dissection: the struct is large, and this saves moving it.
pub(crate) fn dissect_into(
    dissection: &mut Dissection,
    link: Link,
    bytes: &[u8],
    code_points: &CodePoints<'_>,
    strictness: Strictness,
) {
    dissection.clear();
    let mut bytes = bytes;
    let mut next = Some((link, 0));
    let mut with_int = 0;
    for depth in 0..MAX_LEVELS {
        let Some((link, at)) = next else { break };
        // Only the outermost packet must fill the frame; what a tunnel carries may itself be a fragment.
        let strictness = if depth == 0 { strictness } else { Strictness::Truncated };
        let layers = match Layers::parse_at(link, bytes, at, strictness) {
            Ok(Some(layers)) => layers,
            Ok(None) => {
                // MPLS labels may precede the packet in an Ethernet frame.
                let labelled = if link == Link::Ethernet { tunnel::labelled(bytes, at) } else { None };
                next = labelled.map(|carried| (carried.link, carried.at));
                continue;
            }
            Err(error) => {
                if claims_int(link, bytes, at, code_points) {
                    dissection.error = Some(error);
                }
                break;
            }
        };
        // Bytes after the packet's own end are padding.
        bytes = bytes.get(..layers.end).unwrap_or(bytes);
        let Some(slot) = dissection.levels.get_mut(depth) else { break };
        let level = slot.insert(Level::new(layers));
        let error = level.find_int(bytes, code_points);
        let last = level.last_int();
        let flow = dissection.flow.insert(layers.five_tuple(bytes));
        if let Some(location) = last {
            take_int_off(flow, bytes, location);
            with_int |= 1 << depth;
        }
        dissection.error = error;
        next = match error {
            None => carried(bytes, &layers, last).map(|carried| (carried.link, carried.at)),
            Some(_) => None,
        };
    }
    dissection.with_int = with_int;
}

/// Whether a packet whose headers cannot be read is marked as INT.
#[cold]
fn claims_int(link: Link, bytes: &[u8], at: usize, code_points: &CodePoints<'_>) -> bool {
    match Layers::parse_at(link, bytes, at, Strictness::Truncated) {
        Ok(Some(layers)) => !matches!(locate::find(bytes, &layers, code_points), Ok(None)),
        Ok(None) => false,
        Err(error) => match error.header {
            Header::Udp if code_points.udp_ports.contains(&ports(bytes, error.at).1) => true,
            Header::Tcp | Header::Udp => is_whole_and_marked(link, bytes, at, code_points),
            _ => false,
        },
    }
}

/// Whether the DSCP of a packet marks INT, and the packet is whole: a truncated L4 header is no fault.
fn is_whole_and_marked(link: Link, bytes: &[u8], at: usize, code_points: &CodePoints<'_>) -> bool {
    let Ok(Some(layers)) = Layers::ip_at(link, bytes, at, Strictness::Whole) else { return false };
    let dscp = layers.dscp(bytes);
    code_points.dscp.iter().any(|mark| mark.matches(dscp))
}

/// The five-tuple that the packet with INT at `location` had before INT was added.
#[inline]
#[must_use]
pub fn flow_before_int(bytes: &[u8], layers: &Layers, location: &Location) -> FiveTuple {
    let mut flow = layers.five_tuple(bytes);
    take_int_off(&mut flow, bytes, location);
    flow
}

/// Undoes what INT at `location` changed in the five-tuple of its packet.
#[inline]
fn take_int_off(flow: &mut FiveTuple, bytes: &[u8], location: &Location) {
    // Only INT marked by a UDP port changes the five-tuple.
    if !matches!(location.encapsulation, Encapsulation::UdpPort | Encapsulation::Udp) {
        return;
    }
    let original = Original::read(bytes, location);
    match (location.encapsulation, original.destination_port, original.ip_protocol) {
        (Encapsulation::UdpPort, Some(port), _) => flow.destination_port = port,
        (Encapsulation::Udp, _, Some(protocol)) => {
            flow.protocol = protocol;
            (flow.source_port, flow.destination_port) = match flow.protocol {
                tcp::PROTOCOL | udp::PROTOCOL => ports(bytes, location.end),
                _ => (0, 0),
            };
        }
        _ => {}
    }
}

/// The packet nested in the one with `layers`, after its last INT header at `location`, if any.
#[inline]
#[must_use]
pub fn carried(bytes: &[u8], layers: &Layers, location: Option<&Location>) -> Option<Carried> {
    let Some(location) = location else {
        return tunnel::carried(bytes, layers);
    };
    let original = || Original::read(bytes, location);
    let end = location.end;
    match location.encapsulation {
        Encapsulation::Udp => behind_new_udp(bytes, layers, original().ip_protocol?, end),
        Encapsulation::UdpPort if layers.transport == Transport::Udp => {
            tunnel::in_udp(bytes, original().destination_port?, end)
        }
        Encapsulation::Gre => tunnel::of_ethertype(bytes, original().ethertype?, end),
        Encapsulation::VxlanGpe => tunnel::of_next_protocol(original().next_protocol?, end),
        Encapsulation::Dscp | Encapsulation::ProbeMarker => {
            tunnel::in_udp(bytes, layers.udp(bytes)?.destination_port.get(), end)
        }
        Encapsulation::UdpPort | Encapsulation::Geneve => tunnel::carried(bytes, layers),
    }
}

fn behind_new_udp(bytes: &[u8], layers: &Layers, protocol: u8, end: usize) -> Option<Carried> {
    let transport = transport_at(bytes, end, layers.end, protocol).ok()?;
    tunnel::in_transport(bytes, protocol, end, transport)
}

#[cfg(test)]
mod tests;
