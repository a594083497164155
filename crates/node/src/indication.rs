//! The INT of a packet, found by this domain's mark, and its type.

use inband_wire::error::ParseError;
use inband_wire::int::dialect::read_again;
use inband_wire::int::locate::{self, Encapsulation, HeaderType, Location};
use inband_wire::int::md::{self, MdHeader};
use inband_wire::int::mx::{Mx, MxHeader};
use inband_wire::int::{CodePoints, Deviation, Dialect, Reading};
use inband_wire::layers::{Fragment, Layers};
use inband_wire::udp::UdpHeader;
use inband_wire::{geneve, gre, udp, vxlan};

use crate::config::EncapsulationKind;
use crate::earlier;
use crate::encapsulation::Carriage;

/// The INT header a node acts on.
pub(crate) enum Int {
    /// INT-MD.
    Md(MdHeader),
    /// INT-MX.
    Mx(MxHeader),
    /// A hop-by-hop header of a version before 2.0.
    Earlier,
    /// A destination header without any other.
    Destination,
}

/// Maximum number of destination headers that are skipped before an MD or MX header.
const MAX_SKIPPED: usize = 4;

/// Finds and reads the INT header that this domain's mark announces.
///
/// # Errors
/// A packet that is marked but does not carry INT.
#[inline]
pub(crate) fn find(
    carriage: &Carriage,
    bytes: &[u8],
    layers: &Layers,
) -> Result<Option<(Location, Int)>, ParseError> {
    if layers.fragment == Fragment::Later {
        return Ok(None);
    }
    if !carriage.is_plain_dscp {
        return match carriage.dialect {
            None => find_otherwise(carriage, bytes, layers),
            Some(dialect) => find_in_dialect(carriage, dialect, bytes, layers),
        };
    }
    if layers.checksum_at().is_none() || !carriage.mark.matches(layers.dscp(bytes)) {
        return Ok(None);
    }
    let location = match earlier::before_tcp_options(bytes, layers) {
        Some(location) => location,
        None => match locate::behind_dscp(bytes, layers, carriage.tcp_options) {
            Ok(location) if !locate::may_be_tunnel_header(bytes, layers) => location,
            Ok(location) if locate::is_shim_exact(bytes, &location) => location,
            found => return find_inexact(bytes, layers, found),
        },
    };
    parse(bytes, layers, &location).map(|int| Some((location, int)))
}

/// As [`find`] behind a DSCP, where there is no shim, or one in a packet to a tunnel's port is not exactly
/// what a source of 2.1 writes.
///
/// A tunnel endpoint copies the DSCP of the packet inside, and the tunnel's header may begin like a shim.
#[cold]
fn find_inexact(
    bytes: &[u8],
    layers: &Layers,
    found: Result<Location, ParseError>,
) -> Result<Option<(Location, Int)>, ParseError> {
    let is_tunnel = locate::may_be_tunnel_header(bytes, layers);
    match found.and_then(|location| Ok((location, parse(bytes, layers, &location)?))) {
        Ok((location, _)) if is_tunnel && !location.version.is_before_2() => Ok(None),
        Err(_) if is_tunnel => Ok(None),
        found => found.map(Some),
    }
}

/// Whether INT is exactly as a source writes it, so that it is not the payload of a user's packet by chance:
/// the reserved bits of shim and header are zero. Headers before 2.0 are consistent as a whole.
#[cold]
pub(crate) fn is_as_written(bytes: &[u8], location: &Location, int: &Int) -> bool {
    let is_header_exact = match int {
        Int::Md(header) => header.reserved_is_zero(),
        Int::Mx(header) => header.reserved_is_zero(),
        Int::Earlier | Int::Destination => true,
    };
    location.version.is_before_2() || (is_header_exact && locate::is_shim_exact(bytes, location))
}

/// As [`find`], for every mark but the DSCP, the common one.
#[inline(never)]
fn find_otherwise(
    carriage: &Carriage,
    bytes: &[u8],
    layers: &Layers,
) -> Result<Option<(Location, Int)>, ParseError> {
    let is_udp_to =
        |port| layers.udp(bytes).is_some_and(|header: &UdpHeader| header.destination_port.get() == port);
    let first = match carriage.kind {
        EncapsulationKind::UdpPort | EncapsulationKind::Udp if is_udp_to(carriage.udp_port) => {
            Some(locate::behind_udp_port(bytes, layers)?)
        }
        EncapsulationKind::UdpPort | EncapsulationKind::Udp => {
            earlier::behind_tcp_port(carriage, bytes, layers)?
        }
        EncapsulationKind::ProbeMarker
            if layers.checksum_at().is_some() && carriage.has_marker_ports(bytes, layers) =>
        {
            locate::behind_probe_marker(bytes, layers, &[carriage.probe_marker], carriage.tcp_options)?
        }
        EncapsulationKind::Gre if layers.protocol == gre::PROTOCOL => {
            locate::in_gre(bytes, layers, &[carriage.gre_protocol])?
        }
        EncapsulationKind::VxlanGpe if is_udp_to(vxlan::GPE_PORT) => {
            locate::in_vxlan_gpe(bytes, layers, &carriage.vxlan_gpe_next_protocols)?
        }
        EncapsulationKind::Geneve if is_udp_to(geneve::PORT) => {
            locate::in_geneve(bytes, layers, &carriage.geneve_classes)?
        }
        _ => None,
    };
    match first {
        None => Ok(None),
        Some(location) if may_be_behind_another(carriage, &location) => {
            chained(carriage, bytes, layers, location)
        }
        Some(location) => parse(bytes, layers, &location).map(|int| Some((location, int))),
    }
}

/// As [`find`], in a domain whose INT deviates from the specification.
#[cold]
fn find_in_dialect(
    carriage: &Carriage,
    dialect: Dialect,
    bytes: &[u8],
    layers: &Layers,
) -> Result<Option<(Location, Int)>, ParseError> {
    let (mark, port) = ([carriage.mark], [carriage.udp_port]);
    let code_points = match carriage.kind {
        EncapsulationKind::Dscp => CodePoints { dscp: &mark, ..CodePoints::NONE },
        _ => CodePoints { udp_ports: &port, ..CodePoints::NONE },
    };
    let reading = Reading::OfVersion(dialect, carriage.version);
    let code_points = CodePoints { tcp_options: carriage.tcp_options, reading, ..code_points };
    let found = read_again(bytes, layers, &code_points, locate::find(bytes, layers, &code_points))?;
    match found {
        None => Ok(None),
        Some(location) => read(bytes, layers, &location).map(|int| Some((location, int))),
    }
}

/// Whether the header a node acts on may differ from the first: a tunnel may carry several, of which
/// destination headers are skipped, and versions before 2.0 are distinguished by what the domain writes.
#[inline]
fn may_be_behind_another(carriage: &Carriage, first: &Location) -> bool {
    let is_alone = matches!(
        first.encapsulation,
        Encapsulation::Dscp | Encapsulation::UdpPort | Encapsulation::Udp | Encapsulation::ProbeMarker
    );
    !is_alone && (first.header_type == HeaderType::Destination || carriage.version.is_before_2())
}

/// Reads the first MD or MX header of a chain, else its first destination header.
// int-2.1/headers-01, int-2.1/headers-02, int-2.1/headers-05
#[inline(never)]
fn chained(
    carriage: &Carriage,
    bytes: &[u8],
    layers: &Layers,
    first: Location,
) -> Result<Option<(Location, Int)>, ParseError> {
    let mut next = Some(first);
    for _ in 0..MAX_SKIPPED {
        let Some(mut location) = next else { break };
        if carriage.version.is_before_2() {
            location = earlier::settle(carriage, bytes, location);
        }
        if location.header_type != HeaderType::Destination {
            return parse(bytes, layers, &location).map(|int| Some((location, int)));
        }
        next = carriage
            .with_code_points(|code_points| locate::following(bytes, layers, code_points, &location))?;
    }
    let first = if carriage.version.is_before_2() { earlier::settle(carriage, bytes, first) } else { first };
    if !is_announced(carriage, bytes, layers, &first) {
        return Ok(None);
    }
    parse(bytes, layers, &first).map(|int| Some((first, int)))
}

/// Whether a lone destination header counts: the code points of earlier versions mark other protocols too, so
/// behind those the header must be of an earlier version.
fn is_announced(carriage: &Carriage, bytes: &[u8], layers: &Layers, location: &Location) -> bool {
    if location.version.is_before_2() {
        return true;
    }
    match location.encapsulation {
        Encapsulation::Geneve => {
            bytes.get(location.shim..location.shim + 2) == Some(&carriage.geneve_class.to_be_bytes())
        }
        Encapsulation::VxlanGpe => {
            let next_protocol = layers.l4 + udp::HEADER_BYTES + VXLAN_NEXT_PROTOCOL_OFFSET;
            bytes.get(next_protocol) == Some(&carriage.vxlan_gpe_next_protocol)
        }
        _ => true,
    }
}

const VXLAN_NEXT_PROTOCOL_OFFSET: usize = 3;

/// Reads the INT header at `location`, whatever its dialect.
///
/// # Errors
/// Bytes that do not match their announced header.
#[inline]
pub(crate) fn read(bytes: &[u8], layers: &Layers, location: &Location) -> Result<Int, ParseError> {
    let int = parse(bytes, layers, location)?;
    Ok(match int {
        Int::Md(header) if location.deviations.contains(Deviation::LowFlags) => {
            Int::Md(header.with_raised_flags())
        }
        int => int,
    })
}

/// As [`read`], with the flags of INT-MD as they are on the wire.
#[inline]
fn parse(bytes: &[u8], layers: &Layers, location: &Location) -> Result<Int, ParseError> {
    if location.version.is_before_2() {
        return read_earlier(bytes, layers, location);
    }
    match location.header_type {
        HeaderType::Md => md::header(bytes, location).map(|header| Int::Md(*header)),
        HeaderType::Mx => Mx::parse(bytes, location).map(|mx| Int::Mx(*mx.header)),
        HeaderType::Destination => Ok(Int::Destination),
    }
}

#[cold]
fn read_earlier(bytes: &[u8], layers: &Layers, location: &Location) -> Result<Int, ParseError> {
    earlier::check_header(bytes, layers, location)?;
    let is_destination = location.header_type == HeaderType::Destination;
    Ok(if is_destination { Int::Destination } else { Int::Earlier })
}
