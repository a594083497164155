//! INT behind a VXLAN-GPE header, which the source converts from a VXLAN header if necessary.

use std::ops::Range;

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::int::Location;
use inband_wire::int::locate::{self, Encapsulation};
use inband_wire::int::shim::Shim;
use inband_wire::layers::{Layers, Transport};
use inband_wire::udp;
use inband_wire::view::{view, view_mut};
use inband_wire::vxlan::{self, VxlanHeader};

use super::carriage::Carriage;
use super::fields::{remove, set_destination_port};
use super::place::{Insertion, Place};
use crate::carrier::Change;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    // A host's INT would form one chain with this node's header, which the sink removes whole.
    next_protocol(bytes, layers).filter(|next| *next != carriage.vxlan_gpe_next_protocol)?;
    if locate::in_vxlan_gpe(bytes, layers, &carriage.vxlan_gpe_next_protocols) != Ok(None) {
        return None;
    }
    let at = header_at(layers) + vxlan::HEADER_BYTES;
    Some(Place::behind(Encapsulation::VxlanGpe, at))
}

// int-2.1/vxlan-03, int-2.1/vxlan-05, int-2.1/vxlan-07
pub(super) fn shim(bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> Shim {
    let next_protocol = next_protocol(bytes, layers).unwrap_or(vxlan::NEXT_ETHERNET);
    let was_vxlan = port(bytes, layers) == Some(vxlan::PORT);
    Shim::vxlan_gpe(insertion.header_type.code(), insertion.int, was_vxlan, next_protocol)
}

// int-2.1/vxlan-01, int-2.1/vxlan-02
pub(super) fn mark(carriage: &Carriage, bytes: &mut [u8], layers: &Layers) -> Change {
    let change = match port(bytes, layers) {
        Some(vxlan::PORT) => set_destination_port(bytes, layers, vxlan::GPE_PORT),
        _ => Change::default(),
    };
    edit(bytes, layers, change, |header| header.set_next_protocol(carriage.vxlan_gpe_next_protocol))
}

// int-2.1/vxlan-08: G means that the original was plain VXLAN.
pub(super) fn strip(
    carriage: &Carriage,
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
) -> Option<Range<usize>> {
    let first = header_at(layers) + vxlan::HEADER_BYTES;
    let last = carriage.last_of_chain(bytes, layers, location).filter(|last| last.end <= bytes.len())?;
    let shim = *view::<Shim>(bytes, last.shim, Header::Shim).ok()?;
    // The versions before 2.0 have no G; Next Protocol is in the same place as in 2.1.
    let change = if shim.was_vxlan() && !last.version.is_before_2() {
        let change = set_destination_port(bytes, layers, vxlan::PORT);
        edit(bytes, layers, change, VxlanHeader::clear_next_protocol)
    } else {
        edit(bytes, layers, Change::default(), |header| header.set_next_protocol(shim.next_protocol()))
    };
    Some(remove(bytes, layers, first..last.end, change))
}

/// The protocol behind the VXLAN header; `None` if INT cannot be inserted there and removed again without a
/// trace: another port, no next protocol in GPE, or bits that a plain VXLAN header leaves at zero.
pub(super) fn next_protocol(bytes: &[u8], layers: &Layers) -> Option<u8> {
    let header: &VxlanHeader = view(bytes, header_at(layers), Header::Vxlan).ok()?;
    match port(bytes, layers)? {
        vxlan::PORT => header.is_plain().then_some(vxlan::NEXT_ETHERNET),
        vxlan::GPE_PORT => header.next_protocol(),
        _ => None,
    }
}

const fn header_at(layers: &Layers) -> usize {
    layers.l4 + udp::HEADER_BYTES
}

fn port(bytes: &[u8], layers: &Layers) -> Option<u16> {
    match layers.transport {
        Transport::Udp => layers.udp(bytes).map(|header| header.destination_port.get()),
        Transport::Tcp { .. } | Transport::Other => None,
    }
}

/// Changes the VXLAN header and adds the effect on the sum to `change`.
fn edit(bytes: &mut [u8], layers: &Layers, change: Change, edit: impl FnOnce(&mut VxlanHeader)) -> Change {
    let Some(header) = view_mut::<VxlanHeader>(bytes, header_at(layers)) else {
        return change;
    };
    let removed = header.sum();
    edit(header);
    let added: Sum = header.sum();
    change.and(&Change { removed, added, ..Change::default() })
}
