//! The transit hop of a version before 2.0.

use inband_wire::Words;
use inband_wire::checksum::Sum;
use inband_wire::int::earlier::metadata::set_bottom_of_stack;
use inband_wire::int::earlier::recognise::HEADER_BYTES;
use inband_wire::int::earlier::{
    HeaderForm, HeaderV0_5, HeaderV1_0, HeaderV2016, InstructionSet, Layout, Metadata, Shim,
};
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::{HopMetadata, Location};
use inband_wire::layers::Layers;
use inband_wire::view::view_mut;

use crate::carrier::{self, Change, Growth, Limits};
use crate::config::UnknownInstructions;
use crate::counters::Outcome;
use crate::encapsulation::{Carriage, geneve, set_ip_length};
use crate::frame::Frame;
use crate::passage::Hop;
use crate::transit::{Choices, keep_checksum};

use super::flags::{Flag, edit};
use super::request::Request;

/// What adds a hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopContext<'a> {
    pub(crate) carriage: &'a Carriage,
    pub(crate) hop: &'a Hop<'a>,
    pub(crate) limits: Limits,
    pub(crate) choices: Choices,
}

/// Adds what the packet's header requests on top of the stack, or marks the packet when it may not be added.
///
/// `layers` and `location` follow the frame when it grows. Returns [`Outcome::Pushed`], or the reason why
/// nothing was pushed.
// int-2016/headers-02, int-2016/md-03, int-2016/md-05, int-2016/md-13
// int-0.5/md-08, int-1.0/md-05, int-1.0/md-06
#[cold]
pub(crate) fn push_hop(
    context: &HopContext<'_>,
    frame: &mut Frame<'_>,
    layers: &mut Layers,
    location: &mut Location,
) -> Option<Outcome> {
    let HopContext { carriage, hop, limits, choices } = *context;
    let request = Request::read(frame.bytes(), location)?;
    if request.left == 0 {
        edit(carriage, frame.bytes_mut(), layers, location, Flag::MaxHopCountExceeded);
        return Some(Outcome::HopsExceeded);
    }
    let is_reserved = request.bitmap & request.layout.reserved() != 0;
    if is_reserved && choices.unknown_instructions == UnknownInstructions::Skip {
        return Some(Outcome::ReservedInstruction);
    }
    // A hop adds all requested metadata, or none.
    let Some(length) = grown_length(frame.bytes(), layers, location, request.hop) else {
        return Some(Outcome::StackFull);
    };
    let growth = request.hop.bytes();
    match carrier::check_growth(frame.bytes(), layers, growth, limits) {
        Growth::Fits => {}
        Growth::ExceedsMtu => {
            if request.layout.instructions() == InstructionSet::V1_0 {
                edit(carriage, frame.bytes_mut(), layers, location, Flag::MtuExceeded);
            }
            return Some(Outcome::MtuExceeded);
        }
        Growth::ExceedsLength => return Some(Outcome::StackFull),
    }
    let stack_at = location.header + HEADER_BYTES;
    let Some(bytes) = frame.open_gap(stack_at, growth) else {
        return Some(Outcome::NoHeadroom);
    };
    let mut change = write(bytes, location, length, &request, hop)?;
    if location.encapsulation == Encapsulation::Geneve {
        change = change.and(&geneve::lengthen(bytes, layers, growth));
    }
    change.grown = growth;
    if carriage.keeps_l4(location) {
        keep_checksum(bytes, layers, request.complement(), &change, stack_at + growth, choices);
        carrier::set_lengths(bytes, layers, &change);
    } else {
        set_ip_length(bytes, layers, &change);
    }
    layers.end += growth;
    location.end += growth;
    Some(Outcome::Pushed)
}

/// Writes lengths, hop count and the hop into the open gap; returns the change of the sum.
fn write(
    bytes: &mut [u8],
    location: &Location,
    length: Words,
    request: &Request,
    hop: &Hop<'_>,
) -> Option<Change> {
    let stack_at = location.header + HEADER_BYTES;
    let fixed = location.shim..stack_at;
    let removed = Sum::of(bytes.get(fixed.clone())?);
    if location.encapsulation == Encapsulation::Geneve {
        geneve::set_option_length(bytes, location, length);
    } else {
        view_mut::<Shim>(bytes, location.shim)?.set_length(length);
    }
    count_hop(bytes, location)?;
    let gap = bytes.get_mut(stack_at..stack_at + request.hop.bytes())?;
    write_hop(request.layout, request.bitmap, hop.metadata(), request.is_first, gap);
    let added = Sum::of(gap).plus(Sum::of(bytes.get(fixed)?));
    Some(Change { removed, added, ..Change::default() })
}

/// Writes one hop: the requested metadata in bit order, all ones for what is reserved or not available.
pub(super) fn write_hop(layout: Layout, bitmap: u16, hop: HopMetadata, is_first: bool, out: &mut [u8]) {
    Metadata::from(hop).write(layout, bitmap, out);
    if layout == Layout::V2016 && is_first {
        set_bottom_of_stack(out);
    }
}

/// Counts one hop in the metadata header.
// int-2016/md-16, int-2016/md-18
// int-0.5/md-07, int-1.0/md-04
fn count_hop(bytes: &mut [u8], location: &Location) -> Option<()> {
    let at = location.header;
    match HeaderForm::of(location.version, location.deviations) {
        HeaderForm::V1_0 => {
            let header: &mut HeaderV1_0 = view_mut(bytes, at)?;
            header.set_remaining_hop_count(header.remaining_hop_count().saturating_sub(1));
        }
        HeaderForm::V0_5 => {
            let header: &mut HeaderV0_5 = view_mut(bytes, at)?;
            header.set_total_hop_count(header.total_hop_count().saturating_add(1));
        }
        HeaderForm::V2016 => {
            let header: &mut HeaderV2016 = view_mut(bytes, at)?;
            header.set_total_hop_count(header.total_hop_count().saturating_add(1));
        }
    }
    Some(())
}

/// The length in the shim or option increased by `more` words; `None` if its field, or the Geneve header, is
/// full.
// int-2016/geneve-03
fn grown_length(bytes: &[u8], layers: &Layers, location: &Location, more: Words) -> Option<Words> {
    if location.encapsulation == Encapsulation::Geneve {
        return geneve::grown_length(bytes, layers, location, more);
    }
    let [_, _, length, _] = bytes.get(location.shim..)?.first_chunk::<4>()?;
    Words::new(*length).checked_add(more)
}
