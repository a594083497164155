//! Changes to a packet's domain-specific fields after its source.

use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::Sum;
use inband_wire::int::Location;
use inband_wire::int::domain::set_bits;
use inband_wire::int::mx;
use inband_wire::layers::Layers;
use inband_wire::view::view_mut;

use crate::carrier::{self, Change};
use crate::domains::{KnownDomain, ValueContext};

/// Sets the DS Flags that this node is configured to set in the header of an INT-MD or INT-MX packet.
// int-2.1/transit-04, int-2.1/mx-34, int-2.1/md-39
pub(crate) fn set_flags(bytes: &mut [u8], layers: &Layers, location: &Location, domain: &KnownDomain) {
    let Some(field) = view_mut::<U16>(bytes, location.header + DS_FLAGS_OFFSET) else {
        return;
    };
    let old = field.get();
    let new = old | domain.set_flags;
    *field = U16::new(new);
    correct(bytes, layers, Sum::word(old), Sum::word(new));
}

/// Replaces the cumulative source-inserted metadata of an INT-MX packet for which this node has a value.
// int-2.1/mx-15; int-2.1/mx-14: the rest stays as the source wrote it.
pub(crate) fn accumulate(
    bytes: &mut [u8],
    layers: &Layers,
    location: &Location,
    domain: &KnownDomain,
    ds_instruction: u16,
    values: &ValueContext,
) {
    let start = location.header + mx::HEADER_BYTES;
    let length = location.end.saturating_sub(start);
    for bit in set_bits(domain.available(ds_instruction & domain.cumulative, values)) {
        let Some(range) = domain.inserted_range(ds_instruction, bit, length) else { continue };
        let Some(metadata) = bytes.get_mut(start + range.start..start + range.end) else { continue };
        let removed = Sum::of(metadata);
        domain.write(0x8000 >> bit, values, metadata);
        let added = Sum::of(metadata);
        correct(bytes, layers, removed, added);
    }
}

fn correct(bytes: &mut [u8], layers: &Layers, removed: Sum, added: Sum) {
    carrier::correct_checksum(bytes, layers, &Change { removed, added, ..Change::default() });
}

/// Offset of DS Flags in the INT-MD and in the INT-MX header.
const DS_FLAGS_OFFSET: usize = 10;
