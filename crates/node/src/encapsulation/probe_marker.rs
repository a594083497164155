//! INT behind the existing TCP or UDP header, marked by a probe marker before the shim.

use std::ops::Range;

use inband_wire::checksum::Sum;
use inband_wire::int::Location;
use inband_wire::int::locate::{Encapsulation, PROBE_MARKER_BYTES};
use inband_wire::layers::Layers;

use super::carriage::Carriage;
use super::dscp;
use super::fields::{put, remove};
use super::place::{Insertion, Place};
use crate::carrier::Change;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    let place = dscp::place(carriage, layers).filter(|_| carriage.has_marker_ports(bytes, layers))?;
    Some(Place { encapsulation: Encapsulation::ProbeMarker, outer: PROBE_MARKER_BYTES, ..place })
}

// int-2.1/l4-20
pub(super) fn mark(carriage: &Carriage, bytes: &mut [u8], insertion: &Insertion<'_>) -> Change {
    let marker = carriage.probe_marker.to_be_bytes();
    put(bytes, insertion.place.at, &marker);
    Change { added: Sum::of(&marker), ..Change::default() }
}

pub(super) fn strip(bytes: &mut [u8], layers: &Layers, location: &Location) -> Option<Range<usize>> {
    let marker = location.shim.checked_sub(PROBE_MARKER_BYTES)?;
    Some(remove(bytes, layers, marker..location.end, Change::default()))
}
