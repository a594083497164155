//! The transit hop: adds metadata to an INT-MD stack, or marks the packet.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use inband_wire::Words;
use inband_wire::checksum::Sum;
use inband_wire::int::locate::{Encapsulation, HEADER_WORDS};
use inband_wire::int::md::{self, MdHeader};
use inband_wire::int::metadata::NOT_AVAILABLE;
use inband_wire::int::shim::Shim;
use inband_wire::int::{Deviation, Instructions, Location};
use inband_wire::layers::Layers;
use inband_wire::view::view_mut;

use crate::carrier::{self, Change, Growth, Limits};
use crate::config::{ChecksumUpdate, MtuAction, UnknownInstructions};
use crate::counters::Outcome;
use crate::domains::{KnownDomain, KnownDomains, ValueContext};
use crate::encapsulation::geneve;
use crate::frame::Frame;
use crate::passage::Hop;

/// The node's choices where the specification leaves one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    pub(crate) unknown_instructions: UnknownInstructions,
    pub(crate) checksum_update: ChecksumUpdate,
    pub(crate) mtu_action: MtuAction,
}

/// What one hop adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopContext<'a> {
    pub(crate) hop: &'a Hop<'a>,
    pub(crate) domains: &'a KnownDomains,
    pub(crate) values: &'a ValueContext,
    pub(crate) limits: Limits,
}

/// Shim and metadata header, which are adjacent.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct IntStart {
    shim: Shim,
    header: MdHeader,
}

/// The domain-specific part of what a hop adds.
enum DomainPart<'a> {
    Known(&'a KnownDomain, u16),
    Padding,
}

// int-2.1/modes-05: whether the packet is a copy, a probe or live makes no difference.
/// Adds this node's metadata on top of the stack, or marks the packet when none may be added.
///
/// `layers` and `location` follow the frame when it grows. Returns [`Outcome::Pushed`], or the reason why
/// nothing was pushed; `None` if the instructions request nothing.
#[inline]
pub(crate) fn push_hop(
    frame: &mut Frame<'_>,
    layers: &mut Layers,
    location: &mut Location,
    header: &MdHeader,
    hop: &HopContext<'_>,
    choices: Choices,
) -> Option<Outcome> {
    // int-2.1/md-07, int-2.1/md-03: no hop left, so nothing is pushed and E is set.
    let Some(left) = header.remaining_hop_count().checked_sub(1) else {
        exceed_hops(frame, layers, location);
        return Some(Outcome::HopsExceeded);
    };
    let hop_ml = header.hop_ml();
    if hop_ml == Words::default() {
        return None;
    }
    let domain = match domain_part(header, hop.domains, choices.unknown_instructions) {
        Ok(domain) => domain,
        Err(refusal) => return Some(refusal),
    };
    // int-2.1/md-28, int-2.1/md-29: a hop that cannot add Hop ML words leaves INT alone.
    let Some(length) = grown_length(frame.bytes(), layers, location, hop_ml) else {
        return Some(Outcome::StackFull);
    };
    let growth = hop_ml.bytes();
    match carrier::check_growth(frame.bytes(), layers, growth, hop.limits) {
        Growth::Fits => {}
        Growth::ExceedsMtu => {
            // int-2.1/mtu-05: hops can make room, if there are any and no capture truncated them.
            let can_make_room = choices.mtu_action == MtuAction::IntermediateReport
                && hops_bytes(header, location, hop.domains).is_some_and(|hops| hops > 0)
                && frame.bytes().len() >= location.end;
            if can_make_room {
                return Some(Outcome::IntermediateReport);
            }
            return Some(exceed_mtu(frame, layers, location));
        }
        Growth::ExceedsLength => return Some(Outcome::StackFull),
    }
    // int-2.1/transit-01, int-2.1/md-22: before the metadata of earlier nodes.
    let stack_at = location.header + md::HEADER_BYTES;
    let Some(bytes) = frame.open_gap(stack_at, growth) else {
        return Some(Outcome::NoHeadroom);
    };
    let (fixed, gap) = bytes
        .get_mut(location.shim..stack_at + growth)?
        .split_first_chunk_mut::<{ size_of::<IntStart>() }>()?;
    let start: &mut IntStart = zerocopy::transmute_mut!(fixed);
    // The two bytes that change are the low ones of their words. The words are not read again: a read right
    // after a shorter write waits for it.
    let (mut removed, mut added) = (low_byte(header.remaining_hop_count()), low_byte(left));
    if location.encapsulation != Encapsulation::Geneve {
        removed = removed.plus(low_byte(start.shim.length().count()));
        added = added.plus(low_byte(length.count()));
        start.shim.set_length(length);
    }
    // int-2.1/md-09, int-2.1/transit-02: decremented because metadata is added, and only then.
    // int-2.1/md-40, int-2.1/transit-05: the instructions stay as the source wrote them.
    start.header.set_remaining_hop_count(left);
    write_hop(header.instructions(), hop, &domain, gap);
    added = added.plus(Sum::of(gap));
    let mut change = Change { removed, added, grown: growth, shrunk: 0 };
    if location.encapsulation == Encapsulation::Geneve {
        lengthen_geneve(bytes, layers, location, length, &mut change);
    }
    keep_checksum(bytes, layers, header.instructions(), &change, stack_at + growth, choices);
    carrier::set_lengths(bytes, layers, &change);
    layers.end += growth;
    location.end += growth;
    Some(Outcome::Pushed)
}

/// The sum of a word whose high byte does not change.
const fn low_byte(byte: u8) -> Sum {
    Sum::word(byte as u16)
}

/// Sets E when no hop is left.
#[cold]
pub(crate) fn exceed_hops(frame: &mut Frame<'_>, layers: &Layers, location: &Location) {
    edit_header(frame.bytes_mut(), layers, location, MdHeader::set_max_hop_count_exceeded);
}

/// Adds nothing and sets M when the egress MTU leaves no room.
// int-2.1/mtu-05, int-2.1/md-05, int-2.1/mtu-09: nothing is fragmented either.
#[cold]
pub(crate) fn exceed_mtu(frame: &mut Frame<'_>, layers: &Layers, location: &Location) -> Outcome {
    edit_header(frame.bytes_mut(), layers, location, MdHeader::set_mtu_exceeded);
    Outcome::MtuExceeded
}

/// Length of the hops on the stack, without the source-only metadata below them; `None` if this node cannot
/// separate the two, because the domain is unknown.
#[cold]
fn hops_bytes(header: &MdHeader, location: &Location, domains: &KnownDomains) -> Option<usize> {
    let stack = location.end.checked_sub(location.header + md::HEADER_BYTES)?;
    let (id, bits) = (header.domain_specific_id(), header.ds_instruction());
    let source_only = match domains.get(id) {
        _ if id == 0 || bits == 0 => Words::default(),
        Some(domain) => domain.wire.source_only_words(bits)?,
        // A single instruction that every hop answers is not source-only.
        None if bits.is_power_of_two() && header.hop_ml() > header.instructions().words() => Words::default(),
        None => return None,
    };
    let hops = stack.checked_sub(source_only.bytes())?;
    hops.is_multiple_of(header.hop_ml().bytes().max(1)).then_some(hops)
}

/// Removes all hops from the packet after they were reported; source-only metadata, which DS Instruction
/// announces, stays.
///
/// `layers` and `location` follow the frame as it shrinks.
// int-2.1/mtu-05, int-2.1/mtu-06
#[cold]
pub(crate) fn remove_hops(
    frame: &mut Frame<'_>,
    layers: &mut Layers,
    location: &mut Location,
    header: &MdHeader,
    domains: &KnownDomains,
) {
    let Some(length) = hops_bytes(header, location, domains) else { return };
    let start = location.header + md::HEADER_BYTES;
    let hops = start..start + length;
    let left = u8::try_from((location.end - hops.end) / 4).map_or(Words::MAX, Words::new);
    let left = left.checked_add(HEADER_WORDS).unwrap_or(Words::MAX);
    let bytes = frame.bytes_mut();
    let mut change = Change {
        removed: bytes.get(hops.clone()).map_or(Sum::ZERO, Sum::of),
        shrunk: hops.len(),
        ..Change::default()
    };
    let shortened = if location.encapsulation == Encapsulation::Geneve {
        let option = geneve::set_option_length(bytes, location, left);
        option.and(&geneve::shorten(bytes, layers, hops.len()))
    } else {
        let counts_itself = location.deviations.contains(Deviation::LengthCountsShim);
        let shim = if counts_itself { Words::new(1) } else { Words::default() };
        set_shim_length(bytes, location, left.checked_add(shim).unwrap_or(left))
    };
    change = change.and(&shortened);
    carrier::correct_checksum(bytes, layers, &change);
    carrier::set_lengths(bytes, layers, &change);
    layers.end -= hops.len();
    location.end -= hops.len();
    frame.close_gap(hops);
}

fn set_shim_length(bytes: &mut [u8], location: &Location, length: Words) -> Change {
    let Some(shim) = view_mut::<Shim>(bytes, location.shim) else {
        return Change::default();
    };
    let removed = Sum::of(shim.as_bytes());
    shim.set_length(length);
    Change { removed, added: Sum::of(shim.as_bytes()), ..Change::default() }
}

/// Determines the domain-specific part of this hop's metadata.
#[inline]
fn domain_part<'a>(
    header: &MdHeader,
    domains: &'a KnownDomains,
    unknown: UnknownInstructions,
) -> Result<DomainPart<'a>, Outcome> {
    let skip = unknown == UnknownInstructions::Skip;
    // int-2.1/md-25, int-2.1/md-27: all ones for a reserved instruction, or no metadata at all.
    if skip && header.instructions().intersects(Instructions::RESERVED) {
        return Err(Outcome::ReservedInstruction);
    }
    let id = header.domain_specific_id();
    if id == 0 {
        return Ok(DomainPart::Padding);
    }
    // int-2.1/md-13, int-2.1/md-19: a known domain determines the length, which must agree with Hop ML.
    let length = header.hop_ml().checked_sub(header.instructions().words());
    match domains.get(id) {
        Some(domain) if domain.wire.hop_words(header.ds_instruction()) == length => {
            // int-2.1/md-17: only the source writes source-only metadata.
            Ok(DomainPart::Known(domain, header.ds_instruction() & !domain.wire.source_only))
        }
        // int-2.1/md-26: all ones for an unknown domain, or no metadata at all.
        _ if skip => Err(Outcome::UnknownDomain),
        _ => Ok(DomainPart::Padding),
    }
}

/// Writes one hop: baseline metadata, domain-specific metadata, and room for the checksum complement.
// int-2.1/md-23, int-2.1/md-24, int-2.1/checksum-05
#[inline]
fn write_hop(instructions: Instructions, hop: &HopContext<'_>, domain: &DomainPart<'_>, out: &mut [u8]) {
    let written = hop.hop.metadata().write(instructions, out);
    let rest = out.get_mut(written..).unwrap_or_default();
    let written = match domain {
        DomainPart::Known(domain, bits) => domain.write(*bits, hop.values, rest),
        DomainPart::Padding => 0,
    };
    // The rest is domain-specific metadata unknown to this node, and the checksum complement.
    for byte in rest.iter_mut().skip(written) {
        *byte = 0xff;
    }
}

/// Keeps the L4 checksum correct by the complement, if requested and configured, else by updating it.
///
/// `hop_end` is the offset after this hop's metadata, where its complement ends.
#[inline]
pub(crate) fn keep_checksum(
    bytes: &mut [u8],
    layers: &Layers,
    instructions: Instructions,
    change: &Change,
    hop_end: usize,
    choices: Choices,
) {
    if !uses_complement(instructions, choices) {
        // int-2.1/checksum-06: the complement, if requested, stays at all ones.
        return carrier::correct_checksum(bytes, layers, change);
    }
    // int-2.1/checksum-04: the sum was taken with all ones, which counts as zero.
    let complement = carrier::complement(bytes, layers, change).map_or(NOT_AVAILABLE, u32::from);
    if let Some(field) = bytes.get_mut(..hop_end).and_then(<[u8]>::last_chunk_mut::<4>) {
        *field = complement.to_be_bytes();
    }
}

/// Restores the L4 checksum `before`, which the packet had on arrival, and compensates in the complement of
/// the hop on top of the stack, if this node maintains checksums that way.
// int-2.1/checksum-04: the complement also compensates for the stack that made room.
#[cold]
pub(crate) fn restore_checksum(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    header: &MdHeader,
    before: u16,
    choices: Choices,
) {
    if !uses_complement(header.instructions(), choices) {
        return;
    }
    let Some(field) = carrier::l4_checksum_mut(bytes, layers) else {
        return;
    };
    let after = field.get();
    // A UDP checksum of 0 stays 0, and its complement is not used.
    if after == before {
        return;
    }
    field.set(before);
    let hop_end = location.header + md::HEADER_BYTES + header.hop_ml().bytes();
    if let Some(complement) = bytes.get_mut(..hop_end).and_then(<[u8]>::last_chunk_mut::<2>) {
        let old = u16::from_be_bytes(*complement);
        let negative = Sum::word(!old).plus(Sum::word(!after)).plus(Sum::word(before));
        *complement = negative.checksum().to_be_bytes();
    }
}

#[inline]
fn uses_complement(instructions: Instructions, choices: Choices) -> bool {
    choices.checksum_update == ChecksumUpdate::Complement
        && instructions.contains(Instructions::CHECKSUM_COMPLEMENT)
}

/// Changes flags of the metadata header and corrects the L4 checksum for it.
// int-2.1/md-39: a transit hop sets E, M and Remaining Hop Count; int-2.1/md-40: and nothing else.
#[cold]
pub(crate) fn edit_header(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    edit: impl FnOnce(&mut MdHeader),
) {
    let Some(header) = view_mut::<MdHeader>(bytes, location.header) else {
        return;
    };
    let removed = Sum::of(header.as_bytes());
    if location.deviations.contains(Deviation::LowFlags) {
        *header = header.with_raised_flags();
        edit(header);
        *header = header.with_lowered_flags();
    } else {
        edit(header);
    }
    let added = Sum::of(header.as_bytes());
    carrier::correct_checksum(bytes, layers, &Change { removed, added, ..Change::default() });
}

/// The length in the shim increased by `more` words; `None` if its field, or the Geneve header, is full.
#[inline]
fn grown_length(bytes: &[u8], layers: &Layers, location: &Location, more: Words) -> Option<Words> {
    if location.encapsulation == Encapsulation::Geneve {
        return geneve::grown_length(bytes, layers, location, more);
    }
    let [_, length, _, _] = bytes.get(location.shim..)?.first_chunk::<4>()?;
    Words::new(*length).checked_add(more)
}

/// Sets the lengths of the option and of the base header.
#[cold]
fn lengthen_geneve(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    length: Words,
    change: &mut Change,
) {
    let option = geneve::set_option_length(bytes, location, length);
    let base = geneve::lengthen(bytes, layers, change.grown);
    *change = change.and(&option).and(&base);
}
