//! INT behind the existing UDP header, marked by its destination port.

use std::ops::Range;

use inband_wire::error::Header;
use inband_wire::int::Location;
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::shim::Shim;
use inband_wire::layers::{Layers, Transport};
use inband_wire::udp;
use inband_wire::view::view;

use super::carriage::Carriage;
use super::fields::{remove, set_destination_port};
use super::place::{Insertion, Place};
use crate::carrier::Change;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    let at = layers.l4 + udp::HEADER_BYTES;
    // A host's packet to INT's port would form one chain with this node's header, which the sink removes
    // whole.
    (layers.transport == Transport::Udp && !is_int_port(carriage, bytes, layers))
        .then_some(Place::behind(Encapsulation::UdpPort, at))
}

/// Whether the packet goes to the port that marks INT.
pub(super) fn is_int_port(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> bool {
    layers.udp(bytes).is_some_and(|header| header.destination_port.get() == carriage.udp_port)
}

// int-2.1/l4-06, int-2.1/l4-28: NPT 1, and the original port.
pub(super) fn shim(bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> Shim {
    let port = layers.udp(bytes).map_or(0, |header| header.destination_port.get());
    Shim::udp_payload(insertion.header_type.code(), insertion.int, port)
}

pub(super) fn mark(carriage: &Carriage, bytes: &mut [u8], layers: &Layers) -> Change {
    set_destination_port(bytes, layers, carriage.udp_port)
}

// int-2.1/l4-11
pub(super) fn strip(bytes: &mut [u8], layers: &Layers, location: &Location) -> Option<Range<usize>> {
    let shim: &Shim = view(bytes, location.shim, Header::Shim).ok()?;
    let port = shim.original_udp_port();
    let change = set_destination_port(bytes, layers, port);
    Some(remove(bytes, layers, location.shim..location.end, change))
}
