//! Location of INT headers in a packet.

use crate::error::{Header, ParseError};
use crate::int::code_points::{CodePoints, TcpOptions};
use crate::int::earlier::place;
use crate::int::shim::Shim;
use crate::layers::{Fragment, Layers, Transport};
use crate::udp::{self, UdpHeader};
use crate::view::view;
use crate::{geneve, gre, gtpu, vxlan};

use self::shim::has_version;

mod l4;
mod option;
mod shim;
mod tunnel;

pub use self::l4::{
    PROBE_MARKER_BYTES, behind_dscp, behind_probe_marker, behind_udp_port, host_int_before_options,
    payload_at,
};
pub use self::option::in_geneve;
pub(super) use self::shim::behind_shim;
pub use self::shim::{is_shim_exact, limit};
pub(super) use self::tunnel::behind_next_protocol;
pub use self::tunnel::{in_gre, in_vxlan_gpe};
pub use crate::int::location::{Encapsulation, HEADER_WORDS, HeaderType, Location, VERSION};

// int-2.1/l4-05
/// Finds the first INT header of the packet that `layers` describes; `None` when nothing marks INT.
///
/// # Errors
/// A packet that is marked but whose shim or option is invalid.
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
    // Other protocols use the same marker, so an unreadable header is not INT.
    let markers = code_points.probe_markers;
    if let Ok(Some(found)) = behind_probe_marker(bytes, layers, markers, code_points.tcp_options) {
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
    // A tunnel endpoint copies the inner DSCP outward, and a port may have two meanings: then a shim counts
    // only with an INT header after it.
    if announced.is_err() || is_tunnel(bytes, layers) {
        let is_int = |location: &Location| {
            let is_shim = location.version.is_before_2() || is_shim_exact(bytes, location);
            has_version(bytes, location) && (is_shim || !may_be_tunnel_header(bytes, layers))
        };
        return match marked() {
            Ok(location) if is_int(&location) => Ok(Some(location)),
            _ => announced,
        };
    }
    // Host-INT precedes the TCP options, whatever the domain uses; a node id in it may look like a shim.
    if let Some(found) = host_int_before_options(bytes, layers) {
        return Ok(Some(found));
    }
    match marked() {
        Ok(location) => Ok(Some(location)),
        Err(error) => host_int(bytes, layers).map(Some).ok_or(error),
    }
}

/// Finds INT after a weak mark, where it must follow the format exactly: the single DSCP bit of Host-INT, and
/// a TCP port, which may mark INT in 0.5.
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

/// Finds the INT header that a port or a tunnel header announces.
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

/// Whether the header of the tunnel to whose UDP port the packet goes may begin like a shim of INT: Geneve by
/// the length of its options, GTP-U always. The headers of VXLAN do not.
#[inline]
#[must_use]
pub fn may_be_tunnel_header(bytes: &[u8], layers: &Layers) -> bool {
    layers.udp(bytes).is_some_and(|header| matches!(header.destination_port.get(), geneve::PORT | gtpu::PORT))
}

#[inline]
fn is_tunnel(bytes: &[u8], layers: &Layers) -> bool {
    layers.udp(bytes).is_some_and(|header| {
        let port = header.destination_port.get();
        matches!(port, vxlan::PORT | vxlan::LINUX_PORT | vxlan::GPE_PORT | geneve::PORT | gtpu::PORT)
    })
}

/// Finds the INT header that follows `location` in the same packet: the next Geneve option, or the shim after
/// one whose Next Protocol, original port or original UDP header is INT's. A DSCP or probe marker has one.
///
/// # Errors
/// A following header that is truncated or invalid.
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
        Encapsulation::Geneve => option::behind(bytes, layers, code_points.geneve_classes, location.end),
        Encapsulation::Gre => {
            let shim: &Shim = view(bytes, location.shim, Header::Shim)?;
            if !code_points.gre_protocols.contains(&shim.ethertype()) {
                return Ok(None);
            }
            behind_shim(bytes, location.end, layers.end, Encapsulation::Gre).map(Some)
        }
        Encapsulation::UdpPort | Encapsulation::Udp if location.version.is_before_2() => Ok(None),
        Encapsulation::UdpPort => {
            let shim: &Shim = view(bytes, location.shim, Header::Shim)?;
            if !code_points.udp_ports.contains(&shim.original_udp_port()) {
                return Ok(None);
            }
            self::l4::behind_udp_header(bytes, layers, location.end).map(Some)
        }
        Encapsulation::Udp => {
            let shim: &Shim = view(bytes, location.shim, Header::Shim)?;
            let is_udp = shim.original_ip_protocol() == udp::PROTOCOL;
            let header = view::<UdpHeader>(bytes, location.end, Header::Udp).ok().filter(|_| is_udp);
            if !header.is_some_and(|header| code_points.udp_ports.contains(&header.destination_port.get())) {
                return Ok(None);
            }
            self::l4::behind_udp_header(bytes, layers, location.end + udp::HEADER_BYTES).map(Some)
        }
        Encapsulation::Dscp | Encapsulation::ProbeMarker => Ok(None),
    }
}

#[cfg(test)]
mod tests;
