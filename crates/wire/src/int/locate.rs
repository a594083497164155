//! Where in a packet do INT headers lie?

use core::ops::RangeInclusive;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::{CodePoints, TcpOptions};
use crate::int::dialect::Deviations;
use crate::int::earlier::place::{self, Bounds};
use crate::int::earlier::recognise;
use crate::int::shim::{NextProtocolType, SHIM_BYTES, Shim};
use crate::int::version::Version;
use crate::layers::{Fragment, Layers, Transport};
use crate::view::view;
use crate::vxlan::VxlanHeader;
use crate::words::Words;
use crate::{geneve, gre, gtpu, tcp, udp, vxlan};

pub use crate::int::location::{Encapsulation, HEADER_WORDS, HeaderType, Location, VERSION};

// int-2.1/l4-05
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
        return match announced {
            Ok(None) => Ok(behind_weak_mark(bytes, layers, code_points, dscp)),
            other => other,
        };
    }
    let marked = || behind_dscp(bytes, layers, code_points.tcp_options);
    // A tunnel endpoint copies the inner DSCP outward, and a port may mean two things: then a shim counts only
    // with an INT header behind it.
    if announced.is_err() || is_tunnel(bytes, layers) {
        return match marked() {
            Ok(location) if has_version(bytes, &location) => Ok(Some(location)),
            _ => announced,
        };
    }
    match marked() {
        Ok(location) => Ok(Some(location)),
        // Host-INT stands before the TCP options, whatever the domain does.
        Err(error) => host_int(bytes, layers).map(Some).ok_or(error),
    }
}

/// Finds what may be INT behind a mark that says little on its own, so that it has to be INT to the letter: the
/// one DSCP bit of Host-INT, and a TCP port, which 0.5 may mark INT with.
fn behind_weak_mark(
    bytes: &[u8],
    layers: &Layers,
    code_points: &CodePoints<'_>,
    dscp: u8,
) -> Option<Location> {
    if code_points.host_int_dscp.iter().any(|mark| mark.matches(dscp))
        && let Some(found) = host_int(bytes, layers)
    {
        return Some(found);
    }
    let is_int_port =
        layers.tcp(bytes).is_some_and(|tcp| code_points.udp_ports.contains(&tcp.destination_port.get()));
    if !is_int_port {
        return None;
    }
    place::behind_tcp_port(bytes, payload_at(layers, code_points.tcp_options), layers.end)
}

fn host_int(bytes: &[u8], layers: &Layers) -> Option<Location> {
    place::host_int_at(bytes, payload_at(layers, TcpOptions::Before), layers.end)
}

/// Finds the INT header that a port, or the header of a tunnel, announces.
#[inline]
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

#[inline]
fn is_tunnel(bytes: &[u8], layers: &Layers) -> bool {
    layers.udp(bytes).is_some_and(|header| {
        matches!(header.destination_port.get(), vxlan::PORT | vxlan::GPE_PORT | geneve::PORT | gtpu::PORT)
    })
}

/// Whether what is at `location` has the version of an INT-MD or INT-MX header, or is one of an older version.
fn has_version(bytes: &[u8], location: &Location) -> bool {
    if location.version.is_before_2() {
        return place::is_int(bytes, location);
    }
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
    let at = payload_at(layers, options);
    let limit = limit(bytes, layers)?;
    match behind_shim(bytes, at, limit, Encapsulation::Dscp) {
        Ok(location) => Ok(location),
        Err(error) => before_2(bytes, at, layers, limit, Encapsulation::Dscp).unwrap_or(Err(error)),
    }
}

/// Reads the INT shim of a packet whose UDP destination port is INT_TBD.
///
/// # Errors
/// A shim that is cut or cannot be one, or a Next Protocol Type other than 1 and 2.
#[inline]
pub fn behind_udp_port(bytes: &[u8], layers: &Layers) -> Result<Location, ParseError> {
    let at = layers.l4 + udp::HEADER_BYTES;
    let shim: &Shim = view(bytes, at, Header::Shim)?;
    let limit = limit(bytes, layers)?;
    let encapsulation = match shim.next_protocol_type() {
        NextProtocolType::UdpPayload => Encapsulation::UdpPort,
        NextProtocolType::L4Header => Encapsulation::Udp,
        other => {
            let found = if other == NextProtocolType::Payload { 0 } else { 3 };
            let error = ParseError::new(at, Header::Shim, ErrorKind::Undefined { field: "NPT", found });
            return before_2(bytes, at, layers, limit, Encapsulation::UdpPort).unwrap_or(Err(error));
        }
    };
    behind_shim(bytes, at, limit, encapsulation)
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
    let limit = limit(bytes, layers).ok()?;
    let location = if shim.next_protocol_type() == NextProtocolType::Payload && shim.reserved_is_zero() {
        behind_shim(bytes, at, limit, Encapsulation::ProbeMarker).ok()?
    } else {
        before_2(bytes, at, layers, limit, Encapsulation::ProbeMarker)?.ok()?
    };
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
    match header.next_protocol() {
        Some(next) if next_protocols.contains(&next) => {
            behind_next_protocol(bytes, at + vxlan::HEADER_BYTES, layers, limit, next)
        }
        _ => Ok(None),
    }
}

/// Reads the shim at byte `at` that VXLAN-GPE announces by `next_protocol`.
// int-2016/vxlan-02
pub(super) fn behind_next_protocol(
    bytes: &[u8],
    at: usize,
    layers: &Layers,
    limit: usize,
    next_protocol: u8,
) -> Result<Option<Location>, ParseError> {
    let found = behind_shim(bytes, at, limit, Encapsulation::VxlanGpe)
        .or_else(|error| before_2(bytes, at, layers, limit, Encapsulation::VxlanGpe).unwrap_or(Err(error)));
    if !SHARED_NEXT_PROTOCOLS.contains(&next_protocol) {
        return found.map(Some);
    }
    match found {
        Ok(location) if location.version.is_before_2() || has_version(bytes, &location) => Ok(Some(location)),
        Err(error) if bytes.get(at).is_some_and(|kind| BEFORE_2_TYPES.contains(kind)) => Err(error),
        _ => Ok(None),
    }
}

/// Next Protocol values that INT before 2.0 shares with other protocols, MPLS for one: what does not start
/// with a type of INT is taken for one of those.
const SHARED_NEXT_PROTOCOLS: [u8; 2] = [0x05, 0x08];
/// The first byte of a shim before 2.0; in a shim of 2.x the type is in the upper four bits.
const BEFORE_2_TYPES: RangeInclusive<u8> = 1..=3;

/// Reads a shim of a version before 2.0; `None` where the first byte says that it is none.
#[cold]
fn before_2(
    bytes: &[u8],
    at: usize,
    layers: &Layers,
    limit: usize,
    encapsulation: Encapsulation,
) -> Option<Result<Location, ParseError>> {
    if !BEFORE_2_TYPES.contains(bytes.get(at)?) {
        return None;
    }
    let bounds = Bounds { payload_end: limit, packet_end: layers.end };
    Some(place::behind_shim(bytes, at, bounds, encapsulation))
}

/// Finds the first INT option of a Geneve header, an option of one of `classes` with type 1, 2 or 3.
///
/// # Errors
/// A Geneve header or option that is cut or cannot be one.
pub fn in_geneve(bytes: &[u8], layers: &Layers, classes: &[u16]) -> Result<Option<Location>, ParseError> {
    let (_, options, _) = geneve::parse(inside(bytes, limit(bytes, layers)?), layers.l4 + udp::HEADER_BYTES)?;
    geneve_option(bytes, options, classes)
}

/// Finds the INT header that follows `location` in the same packet: the next shim of VXLAN-GPE, the next
/// option of Geneve. Other encapsulations hold one.
///
/// # Errors
/// A following header that is cut or cannot be one.
// int-2016/headers-01
#[inline]
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
            let limit = limit(bytes, layers)?;
            behind_next_protocol(bytes, location.end, layers, limit, shim.next_protocol())
        }
        Encapsulation::Geneve => {
            let (_, options, _) =
                geneve::parse(inside(bytes, limit(bytes, layers)?), layers.l4 + udp::HEADER_BYTES)?;
            geneve_option(bytes, options.behind(location.end), code_points.geneve_classes)
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
pub(super) fn behind_shim(
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
    Ok(Location {
        encapsulation,
        header_type,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: at,
        header,
        end,
    })
}

/// The bytes of a packet that ends at `limit`; what follows is padding.
fn inside(bytes: &[u8], limit: usize) -> &[u8] {
    bytes.get(..limit).unwrap_or(bytes)
}

fn geneve_option(
    bytes: &[u8],
    mut options: geneve::Options<'_>,
    classes: &[u16],
) -> Result<Option<Location>, ParseError> {
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
            let header = option.at + geneve::OPTION_HEADER_BYTES;
            let end = header + usize::from(option.header.words()) * 4;
            let version = version_in_geneve(bytes, header, end, header_type);
            let (encapsulation, shim) = (Encapsulation::Geneve, option.at);
            let location = Location {
                encapsulation,
                header_type,
                version,
                deviations: Deviations::NONE,
                shim,
                header,
                end,
            };
            if version.is_before_2() {
                return Some(Ok(location));
            }
            let least = least_words(header_type).count();
            if option.header.words() < least {
                let (found, least) = (usize::from(option.header.words()), usize::from(least));
                let kind = ErrorKind::TooSmall { field: "Length", found, least };
                return Some(Err(ParseError::new(option.at, Header::GeneveOption, kind)));
            }
            Some(Ok(location))
        })
        .transpose()
}

/// The version of the header in a Geneve option, which has no shim: 2.1 unless the header says otherwise.
// int-2016/geneve-02
fn version_in_geneve(bytes: &[u8], header: usize, end: usize, header_type: HeaderType) -> Version {
    // 2016 has Rep where 2.1 has its version, but counts instructions where 2.1 has reserved bits.
    let is_2_1 = match bytes.get(header..header + 2) {
        Some([first, second]) => first >> 4 == VERSION && second & 0x1f == 0,
        _ => true,
    };
    if is_2_1 || header_type == HeaderType::Mx || !recognise::is_before_2(bytes, header, end) {
        return Version::V2_1;
    }
    recognise::in_tunnel(bytes, header, end).unwrap_or_default()
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
