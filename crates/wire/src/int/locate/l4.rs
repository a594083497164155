//! Location of INT after TCP and UDP.

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::TcpOptions;
use crate::int::earlier::HopByHop;
use crate::int::earlier::shim::HOST_INT;
use crate::int::location::{Encapsulation, HeaderType, Location, VERSION};
use crate::int::shim::{NextProtocolType, Shim};
use crate::int::version::Version;
use crate::layers::{Layers, Transport};
use crate::view::{short, view};
use crate::{tcp, udp};

use super::shim::{before_2, behind_shim, limit};

/// Length of the probe marker, bytes.
pub const PROBE_MARKER_BYTES: usize = 8;

/// Offset at which INT or payload starts after TCP or UDP.
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

/// Reads the INT shim of a packet whose DSCP marks INT.
///
/// # Errors
/// A shim that is truncated or invalid.
#[inline]
pub fn behind_dscp(bytes: &[u8], layers: &Layers, options: TcpOptions) -> Result<Location, ParseError> {
    // int-2.1/l4-27: NPT is meaningful only after the INT port, so it is ignored here.
    // int-2.1/l4-25: INT is between the L4 header and its payload.
    let at = payload_at(layers, options);
    let limit = limit(bytes, layers)?;
    match behind_shim(bytes, at, limit, Encapsulation::Dscp) {
        Ok(location) => Ok(location),
        Err(error) => before_2(bytes, at, layers, limit, Encapsulation::Dscp, error),
    }
}

/// Finds Host-INT before the TCP options; `None` unless it is consistent as a whole, because options may
/// start with the same byte.
// host-int-0.5/packet-12
#[inline]
#[must_use]
pub fn host_int_before_options(bytes: &[u8], layers: &Layers) -> Option<Location> {
    match layers.transport {
        Transport::Tcp { header_length } if header_length > tcp::HEADER_BYTES => {}
        _ => return None,
    }
    if bytes.get(layers.l4 + tcp::HEADER_BYTES) != Some(&HOST_INT) {
        return None;
    }
    consistent_host_int(bytes, layers)
}

#[cold]
fn consistent_host_int(bytes: &[u8], layers: &Layers) -> Option<Location> {
    let location = behind_dscp(bytes, layers, TcpOptions::Before).ok()?;
    let int = HopByHop::parse(bytes, &location).ok()?;
    (location.version == Version::HostInt0_5 && int.instruction_bitmap != 0).then_some(location)
}

/// Reads the INT shim of a packet whose UDP destination port is INT_TBD.
///
/// # Errors
/// A shim that is truncated or invalid, or a Next Protocol Type other than 1 and 2.
#[inline]
pub fn behind_udp_port(bytes: &[u8], layers: &Layers) -> Result<Location, ParseError> {
    behind_udp_header(bytes, layers, layers.l4 + udp::HEADER_BYTES)
}

/// Reads the INT shim at byte `at`, after a UDP header or another INT header that announces it.
///
/// # Errors
/// Those of [`behind_udp_port`].
#[inline(always)]
pub(super) fn behind_udp_header(bytes: &[u8], layers: &Layers, at: usize) -> Result<Location, ParseError> {
    let shim: &Shim = view(bytes, at, Header::Shim)?;
    let limit = limit(bytes, layers)?;
    let encapsulation = match shim.next_protocol_type() {
        NextProtocolType::UdpPayload => Encapsulation::UdpPort,
        NextProtocolType::L4Header => Encapsulation::Udp,
        other => {
            let found = if other == NextProtocolType::Payload { 0 } else { 3 };
            let error = ParseError::new(at, Header::Shim, ErrorKind::Undefined { field: "NPT", found });
            return before_2(bytes, at, layers, limit, Encapsulation::UdpPort, error);
        }
    };
    behind_shim(bytes, at, limit, encapsulation)
}

/// Reads the INT shim after a probe marker; `None` when the marker is missing or no shim can follow it,
/// because other protocols use the same marker.
///
/// # Errors
/// A plausible shim before a header that cannot be read, such as one of an unknown version.
#[inline]
pub fn behind_probe_marker(
    bytes: &[u8],
    layers: &Layers,
    markers: &[u64],
    options: TcpOptions,
) -> Result<Option<Location>, ParseError> {
    // int-2.1/l4-21: compared as a number in network byte order.
    let at = payload_at(layers, options);
    let Some(marker) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
    if !markers.contains(&u64::from_be_bytes(*marker)) {
        return Ok(None);
    }
    let at = at + PROBE_MARKER_BYTES;
    match behind_marker(bytes, at, layers) {
        Ok(location) => Ok(Some(location)),
        Err(error) if error.header == Header::Shim => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the shim at byte `at` after a probe marker.
#[inline]
fn behind_marker(bytes: &[u8], at: usize, layers: &Layers) -> Result<Location, ParseError> {
    let shim: &Shim = view(bytes, at, Header::Shim)?;
    let no_shim = ParseError::new(at, Header::Shim, ErrorKind::Undefined { field: "Type", found: 0 });
    let limit = limit(bytes, layers).map_err(|_| no_shim)?;
    if shim.next_protocol_type() == NextProtocolType::Payload && shim.reserved_is_zero() {
        let location = behind_shim(bytes, at, limit, Encapsulation::ProbeMarker)?;
        return check_version(bytes, &location).map(|()| location);
    }
    let location = before_2(bytes, at, layers, limit, Encapsulation::ProbeMarker, no_shim)?;
    if location.header_type == HeaderType::Md {
        HopByHop::parse(bytes, &location)?;
    }
    Ok(location)
}

/// Checks the version of an INT-MD or INT-MX header; the start of a destination header is not defined.
#[inline]
fn check_version(bytes: &[u8], location: &Location) -> Result<(), ParseError> {
    let header = match location.header_type {
        HeaderType::Md => Header::IntMd,
        HeaderType::Mx => Header::IntMx,
        HeaderType::Destination => return Ok(()),
    };
    match bytes.get(location.header).map(|first| first >> 4) {
        Some(VERSION) => Ok(()),
        Some(found) => {
            Err(ParseError::new(location.header, header, ErrorKind::Version { found, expected: VERSION }))
        }
        None => Err(short(location.header, header, 1, 0)),
    }
}
