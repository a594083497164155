//! Flags in a header of a version before 2.0, and its conversion to the header of a follow-up.

use inband_wire::checksum::Sum;
use inband_wire::int::earlier::recognise::HEADER_BYTES;
use inband_wire::int::earlier::{HeaderForm, HeaderV0_5, HeaderV1_0, HeaderV2016, Shim};
use inband_wire::int::locate::{Encapsulation, HeaderType};
use inband_wire::int::{Location, Version};
use inband_wire::layers::Layers;
use inband_wire::view::view_mut;

use crate::carrier::{self, Change};
use crate::encapsulation::{Carriage, geneve};
use crate::frame::Frame;

/// A flag that a node sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flag {
    /// C: the packet is a copy.
    Copy,
    /// E: no hop is left.
    MaxHopCountExceeded,
    /// M: the egress MTU leaves no room; only 1.0 has it.
    MtuExceeded,
}

/// Marks the packet as a copy, which the sink discards.
// int-2016/md-11
pub(crate) fn mark_copy(carriage: &Carriage, frame: &mut Frame<'_>, layers: &Layers, location: &Location) {
    edit(carriage, frame.bytes_mut(), layers, location, Flag::Copy);
}

/// Turns a hop-by-hop header into one that only the sink reads; `false` if the version has no such type.
// int-2016/headers-05, int-2016/handling-03, int-2016/handling-04, int-2016/handling-05
pub(crate) fn exempt(
    carriage: &Carriage,
    frame: &mut Frame<'_>,
    layers: &Layers,
    location: &Location,
) -> bool {
    if location.version == Version::HostInt0_5 {
        return false;
    }
    let bytes = frame.bytes_mut();
    let kind = HeaderType::Destination.code();
    let start = location.shim..location.header;
    let sum = |bytes: &[u8]| bytes.get(start.clone()).map_or(Sum::ZERO, Sum::of);
    let removed = sum(bytes);
    match location.encapsulation {
        Encapsulation::Geneve => geneve::set_option_kind(bytes, location, kind),
        _ => {
            if let Some(shim) = view_mut::<Shim>(bytes, location.shim) {
                shim.set_kind(kind);
            }
        }
    }
    let change = Change { removed, added: sum(bytes), ..Change::default() };
    if carriage.keeps_l4(location) {
        carrier::correct_checksum(bytes, layers, &change);
    }
    true
}

/// Sets a flag of the metadata header and corrects the L4 checksum for it.
pub(super) fn edit(carriage: &Carriage, bytes: &mut [u8], layers: &Layers, location: &Location, flag: Flag) {
    let header = location.header..location.header + HEADER_BYTES;
    let sum = |bytes: &[u8]| bytes.get(header.clone()).map_or(Sum::ZERO, Sum::of);
    let removed = sum(bytes);
    set(bytes, location, flag);
    let change = Change { removed, added: sum(bytes), ..Change::default() };
    if carriage.keeps_l4(location) {
        carrier::correct_checksum(bytes, layers, &change);
    }
}

fn set(bytes: &mut [u8], location: &Location, flag: Flag) {
    let at = location.header;
    match HeaderForm::of(location.version, location.deviations) {
        HeaderForm::V1_0 => {
            if let Some(header) = view_mut::<HeaderV1_0>(bytes, at) {
                match flag {
                    Flag::Copy => header.set_copy(),
                    Flag::MaxHopCountExceeded => header.set_max_hop_count_exceeded(),
                    Flag::MtuExceeded => header.set_mtu_exceeded(),
                }
            }
        }
        HeaderForm::V0_5 => {
            if let Some(header) = view_mut::<HeaderV0_5>(bytes, at) {
                match flag {
                    Flag::Copy => header.set_copy(),
                    Flag::MaxHopCountExceeded => header.set_max_hop_count_exceeded(),
                    Flag::MtuExceeded => {}
                }
            }
        }
        HeaderForm::V2016 => {
            if let Some(header) = view_mut::<HeaderV2016>(bytes, at) {
                match flag {
                    Flag::Copy => header.set_copy(),
                    Flag::MaxHopCountExceeded => header.set_max_hop_count_exceeded(),
                    Flag::MtuExceeded => {}
                }
            }
        }
    }
}
