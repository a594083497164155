//! INT behind the existing TCP or UDP header, marked by the DSCP.

use std::ops::Range;

use inband_wire::error::Header;
use inband_wire::int::Location;
use inband_wire::int::locate::{self, Encapsulation};
use inband_wire::int::shim::Shim;
use inband_wire::layers::{Layers, Transport};
use inband_wire::view::view;

use super::carriage::Carriage;
use super::fields::{remove, set_dscp};
use super::place::{Insertion, Place};
use crate::carrier::Change;

pub(super) fn place(carriage: &Carriage, layers: &Layers) -> Option<Place> {
    // int-2.1/l4-01, int-2.1/l4-02: the position relative to the TCP options is the same in the whole domain.
    let at = locate::payload_at(layers, carriage.tcp_options);
    (layers.transport != Transport::Other).then_some(Place::behind(Encapsulation::Dscp, at))
}

// int-2.1/l4-13, int-2.1/l4-27, int-2.1/l4-32: NPT 0, and the original DSCP.
pub(super) fn shim(bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> Shim {
    Shim::payload(insertion.header_type.code(), insertion.int, layers.dscp(bytes))
}

// int-2.1/l4-12
pub(super) fn mark(carriage: &Carriage, bytes: &mut [u8], layers: &Layers) -> Change {
    set_dscp(bytes, layers, carriage.mark.applied_to(layers.dscp(bytes)));
    Change::default()
}

// int-2.1/l4-14: the original DSCP is restored, or the bits that mark INT are cleared.
pub(super) fn strip(
    carriage: &Carriage,
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    restore: bool,
) -> Option<Range<usize>> {
    let shim: &Shim = view(bytes, location.shim, Header::Shim).ok()?;
    let dscp = if restore { shim.original_dscp() } else { carriage.mark.removed_from(layers.dscp(bytes)) };
    set_dscp(bytes, layers, dscp);
    Some(remove(bytes, layers, location.shim..location.end, Change::default()))
}
