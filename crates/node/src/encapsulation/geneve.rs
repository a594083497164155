//! INT in an option of a Geneve header.

use inband_wire::Words;
use inband_wire::checksum::Sum;
use inband_wire::geneve::{self, GeneveHeader, OPTION_HEADER_BYTES, OptionHeader};
use inband_wire::int::Location;
use inband_wire::int::locate::{self, Encapsulation};
use inband_wire::layers::{Layers, Transport};
use inband_wire::udp;
use inband_wire::view::view_mut;

use super::carriage::Carriage;
use super::fields::remove;
use super::place::{Insertion, Place};
use crate::carrier::Change;
use crate::frame::Frame;

pub(super) fn place(carriage: &Carriage, bytes: &[u8], layers: &Layers) -> Option<Place> {
    if layers.transport != Transport::Udp || layers.udp(bytes)?.destination_port.get() != geneve::PORT {
        return None;
    }
    let (header, options, at) = geneve::parse(bytes, header_at(layers)).ok()?;
    if options.into_iter().any(|option| option.is_err()) {
        return None;
    }
    // The sink removes every INT option, including one sent by a host.
    if locate::in_geneve(bytes, layers, &carriage.geneve_classes) != Ok(None) {
        return None;
    }
    // The new option follows the existing ones, within the option's own limit and the base header's.
    let free = geneve::MAX_OPTION_BYTES - header.options_length();
    let words = (free.checked_sub(OPTION_HEADER_BYTES)? / 4).min(usize::from(geneve::MAX_OPTION_WORDS));
    let most = Words::new(u8::try_from(words).ok()?);
    Some(Place { encapsulation: Encapsulation::Geneve, at, outer: 0, most })
}

// int-2.1/geneve-01, int-2.1/geneve-02, int-2.1/geneve-03, int-2.1/geneve-05
pub(super) fn option_header(carriage: &Carriage, insertion: &Insertion<'_>) -> [u8; OPTION_HEADER_BYTES] {
    let kind = insertion.header_type.code();
    zerocopy::transmute!(OptionHeader::new(carriage.geneve_class, kind, insertion.int))
}

/// Adds `growth` bytes of options to the base header; returns the change of the sum.
pub(crate) fn lengthen(bytes: &mut [u8], layers: &Layers, growth: usize) -> Change {
    resize(bytes, layers, |length| length + growth)
}

/// Subtracts `shrinkage` bytes of options from the base header; returns the change of the sum.
pub(crate) fn shorten(bytes: &mut [u8], layers: &Layers, shrinkage: usize) -> Change {
    resize(bytes, layers, |length| length.saturating_sub(shrinkage))
}

/// The length of the INT option at `location` with `more` words; `None` beyond its own limit or the base
/// header's.
pub(crate) fn grown_length(bytes: &[u8], layers: &Layers, location: &Location, more: Words) -> Option<Words> {
    let (header, _, _) = geneve::parse(bytes, header_at(layers)).ok()?;
    let words = (location.end - location.header) / 4 + usize::from(more.count());
    let fits = words <= usize::from(geneve::MAX_OPTION_WORDS)
        && header.options_length() + more.bytes() <= geneve::MAX_OPTION_BYTES;
    if fits { u8::try_from(words).ok().map(Words::new) } else { None }
}

/// Removes every INT option in order.
pub(super) fn strip(carriage: &Carriage, frame: &mut Frame<'_>, layers: &Layers) -> bool {
    let mut layers = *layers;
    for stripped in 0..MAX_OPTIONS {
        let bytes = frame.bytes_mut();
        let location = match locate::in_geneve(bytes, &layers, &carriage.geneve_classes) {
            Ok(Some(location)) => location,
            Ok(None) => return stripped > 0,
            Err(_) => return false,
        };
        let gap = location.shim..location.end;
        let change = shorten(bytes, &layers, gap.len());
        layers.end -= gap.len();
        let gap = remove(bytes, &layers, gap, change);
        frame.close_gap(gap);
    }
    true
}

/// Maximum number of options in 63 words.
const MAX_OPTIONS: usize = 63;

const fn header_at(layers: &Layers) -> usize {
    layers.l4 + udp::HEADER_BYTES
}

fn resize(bytes: &mut [u8], layers: &Layers, length: impl FnOnce(usize) -> usize) -> Change {
    let Some(header) = view_mut::<GeneveHeader>(bytes, header_at(layers)) else {
        return Change::default();
    };
    let removed = header.sum();
    header.set_options_length(length(header.options_length()));
    Change { removed, added: header.sum(), ..Change::default() }
}

/// The header of an INT option of `words` length, and the change of the sum.
pub(crate) fn set_option_length(bytes: &mut [u8], location: &Location, words: Words) -> Change {
    let Some(header) = view_mut::<OptionHeader>(bytes, location.shim) else {
        return Change::default();
    };
    let removed: Sum = header.sum();
    header.set_words(words);
    Change { removed, added: header.sum(), ..Change::default() }
}

/// Sets the type of an INT option; the caller corrects the sum.
pub(crate) fn set_option_kind(bytes: &mut [u8], location: &Location, kind: u8) {
    if let Some(header) = view_mut::<OptionHeader>(bytes, location.shim) {
        header.set_kind(kind);
    }
}
