//! Location of INT among the options of Geneve.

use crate::error::{ErrorKind, Header, ParseError};
use crate::geneve::{self, GeneveHeader, OptionHeader};
use crate::int::dialect::Deviations;
use crate::int::earlier::recognise;
use crate::int::location::{Encapsulation, HeaderType, Location, VERSION};
use crate::int::version::Version;
use crate::layers::Layers;
use crate::udp;
use crate::view::view;

use super::shim::{inside, least_words, limit};

/// Finds the first INT option of a Geneve header, an option of one of `classes` with type 1, 2 or 3; `None`
/// where no such option begins.
///
/// # Errors
/// A Geneve header with an INT option that is truncated or invalid.
pub fn in_geneve(bytes: &[u8], layers: &Layers, classes: &[u16]) -> Result<Option<Location>, ParseError> {
    let found = options(bytes, layers).and_then(|options| first(bytes, options, classes));
    match found {
        Err(_) if !names_int(bytes, layers, classes) => Ok(None),
        found => found,
    }
}

/// Whether an INT option begins among the options that can be read.
#[cold]
fn names_int(bytes: &[u8], layers: &Layers, classes: &[u16]) -> bool {
    let bytes = inside(bytes, layers.end);
    let at = layers.l4 + udp::HEADER_BYTES;
    let Ok(header) = view::<GeneveHeader>(bytes, at, Header::Geneve) else { return false };
    let options = at + geneve::HEADER_BYTES;
    let mut at = options;
    while header.version() == 0
        && at < options + header.options_length()
        && let Ok(option) = view::<OptionHeader>(bytes, at, Header::GeneveOption)
    {
        if classes.contains(&option.class.get()) && HeaderType::from_code(option.kind()).is_some() {
            return true;
        }
        at += geneve::OPTION_HEADER_BYTES + usize::from(option.words()) * 4;
    }
    false
}

/// Finds the first INT option after byte `end`, where the previous one ends.
pub(super) fn behind(
    bytes: &[u8],
    layers: &Layers,
    classes: &[u16],
    end: usize,
) -> Result<Option<Location>, ParseError> {
    first(bytes, options(bytes, layers)?.behind(end), classes)
}

fn options<'a>(bytes: &'a [u8], layers: &Layers) -> Result<geneve::Options<'a>, ParseError> {
    let (_, options, _) = geneve::parse(inside(bytes, limit(bytes, layers)?), layers.l4 + udp::HEADER_BYTES)?;
    Ok(options)
}

fn first(
    bytes: &[u8],
    mut options: geneve::Options<'_>,
    classes: &[u16],
) -> Result<Option<Location>, ParseError> {
    options
        .find_map(|option| {
            let option = match option {
                Ok(option) => option,
                Err(error) => return Some(Err(error)),
            };
            if !classes.contains(&option.header.class.get()) {
                return None;
            }
            let header_type = HeaderType::from_code(option.header.kind())?;
            let header = option.at + geneve::OPTION_HEADER_BYTES;
            let end = header + usize::from(option.header.words()) * 4;
            let version = version_in_geneve(bytes, header, end, header_type);
            let (encapsulation, shim) = (Encapsulation::Geneve, option.at);
            let location = Location {
                encapsulation,
                header_type,
                version,
                deviations: Deviations::NONE,
                shim,
                header,
                end,
            };
            if version.is_before_2() {
                return Some(Ok(location));
            }
            let least = least_words(header_type).count();
            if option.header.words() < least {
                let (found, least) = (usize::from(option.header.words()), usize::from(least));
                let kind = ErrorKind::TooSmall { field: "Length", found, least };
                return Some(Err(ParseError::new(option.at, Header::GeneveOption, kind)));
            }
            Some(Ok(location))
        })
        .transpose()
}

/// The version of the header in a Geneve option, which has no shim: 2.1 unless the header shows otherwise.
// int-2016/geneve-02
fn version_in_geneve(bytes: &[u8], header: usize, end: usize, header_type: HeaderType) -> Version {
    // 2016 has Rep where 2.1 has its version, but counts instructions where 2.1 has reserved bits.
    let is_2_1 = match bytes.get(header..header + 2) {
        Some([first, second]) => first >> 4 == VERSION && second & 0x1f == 0,
        _ => true,
    };
    if is_2_1 || header_type == HeaderType::Mx || !recognise::is_before_2(bytes, header, end) {
        return Version::V2_1;
    }
    recognise::in_tunnel(bytes, header, end).unwrap_or_default()
}
