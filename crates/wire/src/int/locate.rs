//! Where in a packet do INT headers lie?

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::{CodePoints, TcpOptions};
use crate::int::shim::{NextProtocolType, SHIM_BYTES, Shim};
use crate::int::version::Version;
use crate::layers::{Fragment, Layers, Transport};
use crate::view::view;
use crate::vxlan::VxlanHeader;
use crate::words::Words;
use crate::{geneve, gre, tcp, udp, vxlan};

pub use crate::int::location::{Encapsulation, HEADER_WORDS, HeaderType, Location, VERSION};

/// Finds the first INT header of the packet that `layers` describes; `None` when nothing marks INT.
///
/// # Errors
/// A packet that is marked but whose shim or option cannot be one.
pub fn find(
    bytes: &[u8],
    layers: &Layers,
    code_points: &CodePoints<'_>,
) -> Result<Option<Location>, ParseError> {
    if layers.fragment == Fragment::Later {
        return Ok(None);
    }
    let announced = announced(bytes, layers, code_points);
    if layers.transport == Transport::Other || matches!(announced, Ok(Some(_))) {
        return announced;
    }
    if let Some(found) = behind_probe_marker(bytes, layers, code_points) {
        return Ok(Some(found));
    }
    let dscp = layers.dscp(bytes);
    if !code_points.dscp.iter().any(|mark| mark.matches(dscp)) {
        return announced;
    }
    let marked = behind_dscp(bytes, layers, code_points.tcp_options);
    // A tunnel endpoint copies the inner DSCP outward, and a port may mean two things: then a shim counts only
    // with an INT header behind it.
    if announced.is_err() || is_tunnel(bytes, layers) {
        return match marked {
            Ok(location) if has_version(bytes, &location) => Ok(Some(location)),
            _ => announced,
        };
    }
    marked.map(Some)
}

/// Finds the INT header that a port, or the header of a tunnel, announces.
fn announced(
    bytes: &[u8],
    layers: &Layers,
    code_points: &CodePoints<'_>,
) -> Result<Option<Location>, ParseError> {
    if layers.protocol == gre::PROTOCOL {
        return in_gre(bytes, layers, code_points.gre_protocols);
    }
    let Some(header) = layers.udp(bytes) else {
        return Ok(None);
    };
    match header.destination_port.get() {
        port if code_points.udp_ports.contains(&port) => behind_udp_port(bytes, layers).map(Some),
        vxlan::GPE_PORT => in_vxlan_gpe(bytes, layers, code_points.vxlan_gpe_next_protocols),
        geneve::PORT => in_geneve(bytes, layers, code_points.geneve_classes),
        _ => Ok(None),
    }
}

fn is_tunnel(bytes: &[u8], layers: &Layers) -> bool {
    layers.udp(bytes).is_some_and(|header| {
        matches!(header.destination_port.get(), vxlan::PORT | vxlan::GPE_PORT | geneve::PORT)
    })
}

/// Whether what is at `location` has the version of an INT-MD or INT-MX header.
fn has_version(bytes: &[u8], location: &Location) -> bool {
    bytes.get(location.header).is_some_and(|first| first >> 4 == VERSION)
}

/// Reads the INT shim of a packet whose DSCP marks INT.
///
/// # Errors
/// A shim that is cut or cannot be one.
#[inline]
pub fn behind_dscp(bytes: &[u8], layers: &Layers, options: TcpOptions) -> Result<Location, ParseError> {
    // int-2.1/l4-27: NPT is meaningful only behind the INT port, so it is not looked at here.
    // int-2.1/l4-25: INT stands between the L4 header and its payload.
    behind_shim(bytes, payload_at(layers, options), limit(bytes, layers)?, Encapsulation::Dscp)
}

/// Reads the INT shim of a packet whose UDP destination port is INT_TBD.
///
/// # Errors
/// A shim that is cut or cannot be one, or a Next Protocol Type other than 1 and 2.
#[inline]
pub fn behind_udp_port(bytes: &[u8], layers: &Layers) -> Result<Location, ParseError> {
    let at = layers.l4 + udp::HEADER_BYTES;
    let shim: &Shim = view(bytes, at, Header::Shim)?;
    let encapsulation = match shim.next_protocol_type() {
        NextProtocolType::UdpPayload => Encapsulation::UdpPort,
        NextProtocolType::L4Header => Encapsulation::Udp,
        other => {
            let found = if other == NextProtocolType::Payload { 0 } else { 3 };
            return Err(ParseError::new(at, Header::Shim, ErrorKind::Undefined { field: "NPT", found }));
        }
    };
    behind_shim(bytes, at, limit(bytes, layers)?, encapsulation)
}

/// Reads the INT header behind a probe marker; `None` where the marker is missing or what follows cannot be
/// INT, because other protocols use the same marker.
#[inline]
#[must_use]
pub fn behind_probe_marker(bytes: &[u8], layers: &Layers, code_points: &CodePoints<'_>) -> Option<Location> {
    // int-2.1/l4-21: compared as a number in network byte order.
    let at = payload_at(layers, code_points.tcp_options);
    let marker = u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
    if !code_points.probe_markers.contains(&marker) {
        return None;
    }
    let at = at + PROBE_MARKER_BYTES;
    let shim: &Shim = view(bytes, at, Header::Shim).ok()?;
    if shim.next_protocol_type() != NextProtocolType::Payload || !shim.reserved_is_zero() {
        return None;
    }
    let location = behind_shim(bytes, at, limit(bytes, layers).ok()?, Encapsulation::ProbeMarker).ok()?;
    has_version(bytes, &location).then_some(location)
}

/// Reads the INT shim behind a GRE header whose protocol type is one of `protocols`; `None` for other GRE.
///
/// # Errors
/// A GRE header or shim that is cut or cannot be one.
pub fn in_gre(bytes: &[u8], layers: &Layers, protocols: &[u16]) -> Result<Option<Location>, ParseError> {
    // int-2.1/gre-06
    let (header, at) = gre::payload(inside(bytes, layers.end), layers.l4)?;
    if !protocols.contains(&header.protocol.get()) {
        return Ok(None);
    }
    behind_shim(bytes, at, layers.end, Encapsulation::Gre).map(Some)
}

/// Reads the INT shim behind a VXLAN-GPE header whose Next Protocol is one of `next_protocols`.
///
/// # Errors
/// A VXLAN header or shim that is cut or cannot be one.
pub fn in_vxlan_gpe(
    bytes: &[u8],
    layers: &Layers,
    next_protocols: &[u8],
) -> Result<Option<Location>, ParseError> {
    let at = layers.l4 + udp::HEADER_BYTES;
    let limit = limit(bytes, layers)?;
    let header: &VxlanHeader = view(inside(bytes, limit), at, Header::Vxlan)?;
    if !header.next_protocol().is_some_and(|next| next_protocols.contains(&next)) {
        return Ok(None);
    }
    let at = at + vxlan::HEADER_BYTES;
    behind_shim(bytes, at, limit, Encapsulation::VxlanGpe).map(Some)
}

/// Finds the first INT option of a Geneve header, an option of one of `classes` with type 1, 2 or 3.
///
/// # Errors
/// A Geneve header or option that is cut or cannot be one.
pub fn in_geneve(bytes: &[u8], layers: &Layers, classes: &[u16]) -> Result<Option<Location>, ParseError> {
    let (_, options, _) = geneve::parse(inside(bytes, limit(bytes, layers)?), layers.l4 + udp::HEADER_BYTES)?;
    geneve_option(options, classes)
}

/// Finds the INT header that follows `location` in the same packet: the next shim of VXLAN-GPE, the next
/// option of Geneve. Other encapsulations hold one.
///
/// # Errors
/// A following header that is cut or cannot be one.
pub fn following(
    bytes: &[u8],
    layers: &Layers,
    code_points: &CodePoints<'_>,
    location: &Location,
) -> Result<Option<Location>, ParseError> {
    match location.encapsulation {
        Encapsulation::VxlanGpe => {
            // int-2.1/vxlan-04: every shim but the last names INT as its next protocol.
            let shim: &Shim = view(bytes, location.shim, Header::Shim)?;
            if !code_points.vxlan_gpe_next_protocols.contains(&shim.next_protocol()) {
                return Ok(None);
            }
            behind_shim(bytes, location.end, limit(bytes, layers)?, Encapsulation::VxlanGpe).map(Some)
        }
        Encapsulation::Geneve => {
            let (_, options, _) =
                geneve::parse(inside(bytes, limit(bytes, layers)?), layers.l4 + udp::HEADER_BYTES)?;
            geneve_option(options.behind(location.end), code_points.geneve_classes)
        }
        Encapsulation::Dscp
        | Encapsulation::UdpPort
        | Encapsulation::Udp
        | Encapsulation::ProbeMarker
        | Encapsulation::Gre => Ok(None),
    }
}

/// Length of the probe marker, bytes.
pub const PROBE_MARKER_BYTES: usize = 8;

/// Offset at which INT or payload starts behind TCP or UDP.
#[inline]
#[must_use]
pub const fn payload_at(layers: &Layers, options: TcpOptions) -> usize {
    layers.l4
        + match (layers.transport, options) {
            (Transport::Tcp { header_length }, TcpOptions::After) => header_length,
            (Transport::Tcp { .. }, TcpOptions::Before) => tcp::HEADER_BYTES,
            (Transport::Udp | Transport::Other, _) => udp::HEADER_BYTES,
        }
}

/// Offset at which the L4 payload ends by the packet's own length fields.
///
/// # Errors
/// A UDP length past the end of an IP packet that is no fragment.
#[inline]
pub fn limit(bytes: &[u8], layers: &Layers) -> Result<usize, ParseError> {
    let Some(header) = layers.udp(bytes) else {
        return Ok(layers.end);
    };
    let length = usize::from(header.length.get());
    let most = layers.end - layers.l4;
    if length > most && layers.fragment == Fragment::Whole {
        let kind = ErrorKind::TooLarge { field: "Length", found: length, most };
        return Err(ParseError::new(layers.l4, Header::Udp, kind));
    }
    Ok(layers.l4 + length.min(most))
}

/// Reads the shim at byte `at`, whose INT header may reach up to byte `limit`.
#[inline]
fn behind_shim(
    bytes: &[u8],
    at: usize,
    limit: usize,
    encapsulation: Encapsulation,
) -> Result<Location, ParseError> {
    let shim: &Shim = view(inside(bytes, limit), at, Header::Shim)?;
    let fault = |kind| Err(ParseError::new(at, Header::Shim, kind));
    let Some(header_type) = HeaderType::from_code(shim.header_type()) else {
        return fault(ErrorKind::Undefined { field: "Type", found: usize::from(shim.header_type()) });
    };
    let header = at + SHIM_BYTES;
    let found = usize::from(shim.length().count());
    let least = least_words(header_type);
    if shim.length() < least {
        return fault(ErrorKind::TooSmall { field: "Length", found, least: usize::from(least.count()) });
    }
    let end = header + shim.length().bytes();
    if end > limit {
        return fault(ErrorKind::TooLarge { field: "Length", found, most: (limit - header) / 4 });
    }
    Ok(Location { encapsulation, header_type, version: Version::V2_1, shim: at, header, end })
}

/// The bytes of a packet that ends at `limit`; what follows is padding.
fn inside(bytes: &[u8], limit: usize) -> &[u8] {
    bytes.get(..limit).unwrap_or(bytes)
}

fn geneve_option(mut options: geneve::Options<'_>, classes: &[u16]) -> Result<Option<Location>, ParseError> {
    options
        .find_map(|option| {
            let option = match option {
                Ok(option) => option,
                Err(error) => return Some(Err(error)),
            };
            if !classes.contains(&option.header.class.get()) {
                return None;
            }
            let header_type = HeaderType::from_code(option.header.kind())?;
            let least = least_words(header_type).count();
            if option.header.words() < least {
                let (found, least) = (usize::from(option.header.words()), usize::from(least));
                let kind = ErrorKind::TooSmall { field: "Length", found, least };
                return Some(Err(ParseError::new(option.at, Header::GeneveOption, kind)));
            }
            let header = option.at + geneve::OPTION_HEADER_BYTES;
            let end = header + usize::from(option.header.words()) * 4;
            let (encapsulation, version) = (Encapsulation::Geneve, Version::V2_1);
            Some(Ok(Location { encapsulation, header_type, version, shim: option.at, header, end }))
        })
        .transpose()
}

/// The least length behind a shim: MD and MX have a header of 3 words, a destination header may be empty.
const fn least_words(header_type: HeaderType) -> Words {
    match header_type {
        HeaderType::Md | HeaderType::Mx => HEADER_WORDS,
        HeaderType::Destination => Words::new(0),
    }
}

#[cfg(test)]
mod tests;
