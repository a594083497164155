//! The location of INT of a version before 2.0, once a mark is found.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviations;
use crate::int::earlier::hop_by_hop::HopByHop;
use crate::int::earlier::host_int::{self, is_source_shape};
use crate::int::earlier::recognise::{self, HEADER_BYTES};
use crate::int::earlier::shim::{HOST_INT, SHIM_BYTES, Shim};
use crate::int::earlier::tail::TAIL_BYTES;
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::tcp;
use crate::view::view;

/// The limits of INT within a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// End of the L4 payload by the UDP length.
    pub(crate) payload_end: usize,
    /// End of the packet by the IP length.
    pub(crate) packet_end: usize,
}

impl Bounds {
    /// 0.5 lets each domain choose whether nodes correct the UDP length, so only the IP length is reliable.
    // int-0.5/l4-05
    const fn of(self, version: Version) -> usize {
        match version {
            Version::V0_5 | Version::HostInt0_5 => self.packet_end,
            Version::V2016 | Version::V1_0 | Version::V2_1 => self.payload_end,
        }
    }
}

/// Reads the shim at byte `at`.
///
/// # Errors
/// A shim that is truncated or cannot be one, or a version that does not exist in that encapsulation.
pub(crate) fn behind_shim(
    bytes: &[u8],
    at: usize,
    bounds: Bounds,
    encapsulation: Encapsulation,
) -> Result<Location, ParseError> {
    let packet = bytes.get(..bounds.packet_end).unwrap_or(bytes);
    let shim: &Shim = view(packet, at, Header::Shim)?;
    let (header, end) = (at + SHIM_BYTES, at + shim.length().bytes());
    let undefined = ErrorKind::Undefined { field: "Type", found: usize::from(shim.kind()) };
    let (version, encapsulation) = match (shim.kind(), encapsulation, shim.header_type()) {
        (HOST_INT, Encapsulation::Dscp, _) => (Version::HostInt0_5, encapsulation),
        (HOST_INT, Encapsulation::UdpPort, _) => (Version::HostInt0_5, Encapsulation::Udp),
        (HOST_INT, ..) | (_, _, None) => return Err(ParseError::new(at, Header::Shim, undefined)),
        (_, _, Some(header_type)) => match version_behind(packet, header, end, header_type, encapsulation) {
            Ok(version) => (version, encapsulation),
            // A header of another version counts only where it fits.
            Err(error) => {
                check_length(shim, at, MIN_WORDS, bounds.packet_end)?;
                return Err(error);
            }
        },
    };
    behind_shim_of(packet, at, bounds, encapsulation, version)
}

/// Reads the shim at byte `at` for a header whose version is known.
///
/// # Errors
/// A shim that is truncated or cannot be one.
pub(crate) fn behind_shim_of(
    bytes: &[u8],
    at: usize,
    bounds: Bounds,
    encapsulation: Encapsulation,
    version: Version,
) -> Result<Location, ParseError> {
    let shim: &Shim = view(bytes, at, Header::Shim)?;
    let Some(header_type) = shim.header_type() else {
        let kind = ErrorKind::Undefined { field: "Type", found: usize::from(shim.kind()) };
        return Err(ParseError::new(at, Header::Shim, kind));
    };
    let least = least_words(version, header_type, encapsulation);
    let end = check_length(shim, at, least, bounds.of(version))?;
    let header = at + SHIM_BYTES;
    Ok(Location { encapsulation, header_type, version, deviations: Deviations::NONE, shim: at, header, end })
}

/// Returns the end of the INT headers after the shim at byte `at`.
///
/// # Errors
/// A Length below `least` words or past byte `limit`.
fn check_length(shim: &Shim, at: usize, least: usize, limit: usize) -> Result<usize, ParseError> {
    let found = usize::from(shim.length().count());
    let end = at + shim.length().bytes();
    let kind = if found < least {
        ErrorKind::TooSmall { field: "Length", found, least }
    } else if end > limit {
        ErrorKind::TooLarge { field: "Length", found, most: limit.saturating_sub(at) / 4 }
    } else {
        return Ok(end);
    };
    Err(ParseError::new(at, Header::Shim, kind))
}

/// The version of the header after a shim of type 1 or 2.
// int-1.0/l4-02
fn version_behind(
    bytes: &[u8],
    header: usize,
    end: usize,
    header_type: HeaderType,
    encapsulation: Encapsulation,
) -> Result<Version, ParseError> {
    let version = match encapsulation {
        Encapsulation::VxlanGpe | Encapsulation::Geneve => recognise::in_tunnel(bytes, header, end),
        _ => recognise::behind_l4(bytes, header),
    };
    let version = match (version, header_type) {
        // The contents of a destination header are defined only in the examples of 0.5.
        (Err(_), HeaderType::Destination) => Version::V0_5,
        (version, _) => version?,
    };
    // 1.0 dropped the port as a mark and introduced the probe marker.
    let expected = match (encapsulation, version) {
        (Encapsulation::UdpPort, Version::V1_0) => 0,
        (Encapsulation::ProbeMarker, Version::V0_5) => 1,
        _ => return Ok(version),
    };
    let found = u8::from(version == Version::V1_0);
    Err(ParseError::new(header, Header::IntMetadata, ErrorKind::Version { found, expected }))
}

/// The minimum Length of a shim before a metadata header of any version.
const MIN_WORDS: usize = (SHIM_BYTES + HEADER_BYTES) / 4;

/// The minimum Length of a shim, words: the shim, the metadata header, and what 0.5 puts after the stack.
const fn least_words(version: Version, header_type: HeaderType, encapsulation: Encapsulation) -> usize {
    let in_tunnel = matches!(encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
    let behind = match version {
        Version::V0_5 if !in_tunnel => TAIL_BYTES,
        Version::HostInt0_5 => host_int::SEQUENCE_BYTES,
        _ => 0,
    };
    match header_type {
        HeaderType::Md | HeaderType::Mx => (SHIM_BYTES + HEADER_BYTES + behind) / 4,
        HeaderType::Destination => SHIM_BYTES / 4,
    }
}

/// Whether the bytes at `location` parse as a metadata header with a whole stack.
pub(crate) fn is_int(bytes: &[u8], location: &Location) -> bool {
    location.header_type == HeaderType::Md && HopByHop::parse(bytes, location).is_ok()
}

/// Finds INT 0.5 in a TCP segment whose destination port marks INT; `None` unless it follows the format
/// exactly, because most segments to such a port carry no INT.
pub(crate) fn behind_tcp_port(bytes: &[u8], payload_at: usize, packet_end: usize) -> Option<Location> {
    let bounds = Bounds { payload_end: packet_end, packet_end };
    let location = behind_shim(bytes, payload_at, bounds, Encapsulation::UdpPort).ok()?;
    let int = HopByHop::parse(bytes, &location).ok()?;
    let is_tail_of_tcp = int.tail.is_some_and(|tail| tail.protocol == tcp::PROTOCOL);
    (location.version == Version::V0_5 && is_tail_of_tcp).then_some(location)
}

/// Finds Host-INT at byte `at` by its shape.
pub(crate) fn host_int_at(bytes: &[u8], at: usize, packet_end: usize) -> Option<Location> {
    let end = at + host_int::INSERTED_BYTES;
    if end > packet_end || !is_source_shape(bytes, at) {
        return None;
    }
    let (encapsulation, version) = (Encapsulation::Dscp, Version::HostInt0_5);
    let header = at + SHIM_BYTES;
    Some(Location {
        encapsulation,
        header_type: HeaderType::Md,
        version,
        deviations: Deviations::NONE,
        shim: at,
        header,
        end,
    })
}

#[cfg(test)]
mod tests;
