//! INT of the versions before 2.0 in each of their encapsulations.

use inband_wire::Words;
use inband_wire::int::earlier::tail::TAIL_BYTES;
use inband_wire::int::earlier::{Shim, shim};
use inband_wire::int::locate::{self, Encapsulation, HeaderType};
use inband_wire::int::{Location, Original, Version};
use inband_wire::ipv4;
use inband_wire::layers::{IpVersion, Layers, Transport};
use inband_wire::{tcp, udp, vxlan};

use super::carriage::Carriage;
use super::fields::{put, remove, set_destination_port, set_dscp, set_ip_length, set_protocol};
use super::place::{Insertion, Place, Stripping};
use super::{geneve, vxlan_gpe};
use crate::carrier::Change;
use crate::config::EncapsulationKind;
use crate::frame::Frame;

/// Where INT of this domain's version goes in a packet; `None` if its protocol cannot carry it.
// int-2016/geneve-01, host-int-0.5/packet-01, host-int-0.5/packet-08
// int-0.5/l4-04
pub(crate) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    let is_host_int = carriage.version == Version::HostInt0_5;
    let has_l4 = layers.transport != Transport::Other;
    // Host-INT supports IPv4 without options, and TCP and UDP in it.
    if is_host_int && !(has_l4 && layers.ip == IpVersion::V4 && layers.l4 == layers.l3 + ipv4::HEADER_BYTES) {
        return None;
    }
    let place = match carriage.kind {
        // 0.5 marks TCP by its port, as it does UDP.
        EncapsulationKind::UdpPort if has_l4 => {
            locate::limit(bytes, layers).ok()?;
            Place::behind(Encapsulation::UdpPort, locate::payload_at(layers, carriage.tcp_options))
        }
        // No shim before 2.0 can record that a packet was plain VXLAN, so plain VXLAN is not converted.
        EncapsulationKind::VxlanGpe if layers.udp(bytes)?.destination_port.get() != vxlan::GPE_PORT => {
            return None;
        }
        _ => carriage.place(bytes, layers)?,
    };
    // The shim's Length includes the shim.
    let most = match place.encapsulation {
        Encapsulation::Geneve => place.most,
        _ => place.most.checked_sub(Words::new(1))?,
    };
    Some(Place { most, ..place })
}

/// The 4 bytes before the metadata header.
// int-0.5/tunnel-01, int-1.0/tunnel-01
pub(crate) fn shim(
    carriage: &Carriage,
    bytes: &[u8],
    layers: &Layers,
    insertion: &Insertion<'_>,
) -> [u8; shim::SHIM_BYTES] {
    let kind = HeaderType::Md.code();
    let length = insertion.int.checked_add(Words::new(1)).unwrap_or(Words::MAX);
    let shim = match (insertion.place.encapsulation, carriage.version) {
        (Encapsulation::Geneve, _) => return geneve::option_header(carriage, insertion),
        (Encapsulation::VxlanGpe, _) => {
            let next = vxlan_gpe::next_protocol(bytes, layers).unwrap_or(vxlan::NEXT_ETHERNET);
            Shim::vxlan_gpe(kind, length, next)
        }
        (_, Version::HostInt0_5) => Shim::with_tail(shim::HOST_INT, length),
        (_, Version::V0_5) => Shim::with_tail(kind, length),
        _ => Shim::with_dscp(kind, length, layers.dscp(bytes)),
    };
    zerocopy::transmute!(shim)
}

/// Marks the packet whose gap is open and filled, and corrects its lengths.
///
/// `layers` become those of the packet that carries INT. Returns the change under its L4 checksum, which the
/// caller corrects; `None` if that checksum stays unchanged.
// host-int-0.5/packet-02
// int-0.5/l4-03
pub(crate) fn start(
    carriage: &Carriage,
    bytes: &mut [u8],
    layers: &mut Layers,
    insertion: &Insertion<'_>,
) -> Option<Change> {
    let location = Location { version: carriage.version, ..insertion.location() };
    if !carriage.keeps_l4(&location) {
        let mut ip_only = Layers { transport: Transport::Other, ..*layers };
        carriage.start(bytes, &mut ip_only, insertion);
        layers.end = ip_only.end;
        return None;
    }
    let change = carriage.start(bytes, layers, insertion);
    if insertion.place.encapsulation == Encapsulation::Udp {
        // Host-INT's new UDP header takes the source port of the header it precedes.
        let source_port = insertion.flow.source_port.to_be_bytes();
        put(bytes, layers.l4, &source_port);
    }
    change
}

/// Removes all INT from the packet and restores what the source changed.
///
/// Returns `false`, and leaves the packet unchanged, if the source's tail is missing.
// int-2016/roles-01, host-int-0.5/packet-04
#[cold]
pub(super) fn strip(
    carriage: &Carriage,
    frame: &mut Frame<'_>,
    layers: &Layers,
    location: &Location,
    stripping: Stripping,
) -> bool {
    match location.encapsulation {
        Encapsulation::Geneve => return geneve::strip(carriage, frame, layers),
        Encapsulation::VxlanGpe => {
            let gap = vxlan_gpe::strip(carriage, frame.bytes_mut(), layers, location);
            return gap.map(|gap| frame.close_gap(gap)).is_some();
        }
        _ => {}
    }
    let original = Original::read(frame.bytes(), location);
    let mut gap = location.shim..location.end;
    let bytes = frame.bytes_mut();
    let mut change = Change::default();
    match location.encapsulation {
        Encapsulation::Dscp => {
            let plain = carriage.mark.removed_from(layers.dscp(bytes));
            let dscp = original.dscp.filter(|_| stripping.restore_dscp).unwrap_or(plain);
            set_dscp(bytes, layers, dscp);
        }
        Encapsulation::ProbeMarker => {
            let Some(marker) = gap.start.checked_sub(locate::PROBE_MARKER_BYTES) else { return false };
            gap.start = marker;
        }
        Encapsulation::UdpPort => {
            let Some(port) = original.destination_port else { return false };
            change = set_destination_port(bytes, layers, port);
        }
        Encapsulation::Udp => {
            let Some(protocol @ (tcp::PROTOCOL | udp::PROTOCOL)) = original.ip_protocol else { return false };
            set_protocol(bytes, layers, protocol);
            gap.start = layers.l4;
            set_ip_length(bytes, layers, &Change { shrunk: gap.len(), ..change });
            frame.close_gap(gap);
            return true;
        }
        Encapsulation::Gre | Encapsulation::VxlanGpe | Encapsulation::Geneve => return false,
    }
    if location.version == Version::HostInt0_5 {
        leave_out_tail(bytes, location);
    }
    if carriage.keeps_l4(location) {
        gap = remove(bytes, layers, gap, change);
    } else {
        set_ip_length(bytes, layers, &Change { shrunk: gap.len(), ..change });
    }
    frame.close_gap(gap);
    true
}

/// Excludes what devices on the path wrote into the tail of Host-INT from the checksum: its source summed
/// zeros.
fn leave_out_tail(bytes: &mut [u8], location: &Location) {
    if let Some(tail) = bytes.get_mut(..location.end).and_then(<[u8]>::last_chunk_mut::<TAIL_BYTES>) {
        tail.fill(0);
    }
}
