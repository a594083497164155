//! Detection of INT of a version before 2.0, as opposed to bytes that only begin like it.

use inband_wire::error::{ErrorKind, Header, ParseError};
use inband_wire::int::earlier::recognise::HEADER_BYTES;
use inband_wire::int::earlier::shim::{HOST_INT, SHIM_BYTES, Shim};
use inband_wire::int::earlier::{HopByHop, Tail};
use inband_wire::int::locate::{self, Encapsulation, HeaderType};
use inband_wire::int::{CodePoints, Deviations, Location, Reading, Version};
use inband_wire::layers::Layers;
use inband_wire::tcp;
use inband_wire::view::view;

use crate::config::EncapsulationKind;
use crate::encapsulation::Carriage;

/// Finds Host-INT before the TCP options in a domain whose INT is after them.
pub(crate) use inband_wire::int::locate::host_int_before_options as before_tcp_options;

/// Checks that the header at `location` is consistent as a whole.
///
/// A mark behind L4 is weak evidence, and shims of earlier versions resemble arbitrary data, so a header
/// counts only if its lengths, counts and bitmap agree, and the tail of 0.5 names the protocol in front.
/// Reserved fields may hold anything. The same holds for a lone destination header, whose contents follow the
/// example in the specifications.
///
/// # Errors
/// The inconsistency.
// int-0.5/md-09, int-1.0/md-07, int-2016/md-20, host-int-0.5/packet-12
#[cold]
pub(crate) fn check_header(bytes: &[u8], layers: &Layers, location: &Location) -> Result<(), ParseError> {
    let int = HopByHop::parse(bytes, location)?;
    if int.instruction_bitmap == 0 {
        let kind = ErrorKind::Undefined { field: "Instruction Bitmap", found: 0 };
        return Err(ParseError::new(location.header, Header::IntMetadata, kind));
    }
    match int.tail {
        Some(tail) if location.version == Version::V0_5 && tail.protocol != layers.protocol => {
            let (found, expected) = (tail.protocol.into(), layers.protocol.into());
            let kind = ErrorKind::Mismatch { field: "Proto", found, expected };
            Err(ParseError::new(location.end, Header::IntTail, kind))
        }
        _ => Ok(()),
    }
}

/// `location` with the version this domain writes, if the header can be of that version.
///
/// In tunnels some headers are ambiguous: those with an empty stack, and 2016 with Rep set.
#[cold]
pub(crate) fn settle(carriage: &Carriage, bytes: &[u8], location: Location) -> Location {
    let is_in_tunnel = matches!(location.encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
    let is_open = location.version.is_before_2() || location.encapsulation == Encapsulation::Geneve;
    let is_settled = location.version == carriage.version || location.header_type == HeaderType::Mx;
    if is_settled || !is_in_tunnel || !is_open {
        return location;
    }
    let settled = Location { version: carriage.version, ..location };
    let fits = HopByHop::parse(bytes, &settled).is_ok_and(|int| int.instruction_bitmap != 0);
    if fits { settled } else { location }
}

/// Finds INT 0.5 in a TCP segment to the port that marks INT; most such segments carry none.
///
/// # Errors
/// INT that would be 0.5 but for its version field.
pub(crate) fn behind_tcp_port(
    carriage: &Carriage,
    bytes: &[u8],
    layers: &Layers,
) -> Result<Option<Location>, ParseError> {
    if layers.tcp(bytes).is_none_or(|tcp| tcp.destination_port.get() != carriage.udp_port) {
        return Ok(None);
    }
    let code_points = CodePoints {
        dscp: &[],
        host_int_dscp: &[],
        udp_ports: &[carriage.udp_port],
        probe_markers: &[],
        gre_protocols: &[],
        vxlan_gpe_next_protocols: &[],
        geneve_classes: &[],
        tcp_options: carriage.tcp_options,
        domains: &[],
        reading: Reading::Strict,
        dialect_marks: &[],
    };
    if let Ok(Some(location)) = locate::find(bytes, layers, &code_points) {
        return Ok(Some(location));
    }
    let at = locate::payload_at(layers, carriage.tcp_options);
    match another_version(bytes, at, Encapsulation::UdpPort, &[Version::V0_5]) {
        Some((found, Some(tail))) if tail.protocol == tcp::PROTOCOL => {
            let kind = ErrorKind::Version { found, expected: 0 };
            Err(ParseError::new(at + SHIM_BYTES, Header::IntMetadata, kind))
        }
        _ => Ok(None),
    }
}

/// Whether `error` is about INT of a version before 2.0, or about what would be one with the version in its
/// header.
///
/// A mark exclusive to INT needs only a shim behind it. A mark that other packets share, a part of the DSCP
/// or a Next Protocol of MPLS, needs a header whose lengths, counts and bitmap agree.
#[cold]
pub(crate) fn is_announced(carriage: &Carriage, bytes: &[u8], error: &ParseError) -> bool {
    let header = match error.header {
        Header::IntMetadata => Some(error.at),
        Header::MetadataStack => error.at.checked_sub(HEADER_BYTES),
        // Everything before it was valid.
        Header::IntTail => return true,
        _ => None,
    };
    let Some(shim) = header.and_then(|at| at.checked_sub(SHIM_BYTES)) else { return false };
    let (is_shared, encapsulation, versions) = match carriage.kind {
        EncapsulationKind::VxlanGpe => (true, Encapsulation::VxlanGpe, &IN_TUNNELS[..]),
        _ => (carriage.mark.mask != WHOLE_DSCP, Encapsulation::Dscp, &BEHIND_L4[..]),
    };
    !is_shared || another_version(bytes, shim, encapsulation, versions).is_some()
}

/// The version field and the tail of the header behind the shim at byte `at`, if it is one of `versions`
/// except for that field.
fn another_version<'a>(
    bytes: &'a [u8],
    at: usize,
    encapsulation: Encapsulation,
    versions: &[Version],
) -> Option<(u8, Option<&'a Tail>)> {
    let shim: &Shim = view(bytes, at, Header::Shim).ok()?;
    let header_type = if shim.kind() == HOST_INT { HeaderType::Md } else { shim.header_type()? };
    let place = Location {
        encapsulation,
        header_type,
        version: Version::V0_5,
        deviations: Deviations::NONE,
        shim: at,
        header: at + SHIM_BYTES,
        end: at + shim.length().bytes(),
    };
    let of = |version: &Version| {
        let int = HopByHop::parse_any_version(bytes, &Location { version: *version, ..place }).ok()?;
        (int.instruction_bitmap != 0).then_some((int.version_field, int.tail))
    };
    versions.iter().find_map(of)
}

const IN_TUNNELS: [Version; 3] = [Version::V1_0, Version::V0_5, Version::V2016];

const BEHIND_L4: [Version; 3] = [Version::V1_0, Version::V0_5, Version::HostInt0_5];

const WHOLE_DSCP: u8 = 0x3f;

#[cfg(test)]
mod tests;
