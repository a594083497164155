//! The purposes of a certificate: its extension Extended Key Usage (RFC 5280, 4.2.1.12).

/// A DER element: tag and content.
type Element<'a> = (u8, &'a [u8]);

/// Whether a certificate may be a server's: it lists that purpose, or no purposes. Unreadable ones may not.
pub(super) fn may_serve(certificate: &[u8]) -> bool {
    let serves = |purposes: &[u8]| {
        elements(purposes).any(|(tag, oid)| tag == OID && (oid == SERVER_AUTH || oid == ANY_PURPOSE))
    };
    extensions(certificate).is_some_and(|extensions| {
        let mut found = elements(extensions).filter_map(|(_, extension)| purposes(extension));
        found.all(serves)
    })
}

/// The extensions of a certificate, empty if it has none; `None` if it cannot be read.
fn extensions(certificate: &[u8]) -> Option<&[u8]> {
    let (_, certificate) = element(certificate)?.0;
    let (_, signed) = element(certificate)?.0;
    let Some((_, extensions)) = elements(signed).find(|(tag, _)| *tag == EXTENSIONS) else {
        return Some(&[]);
    };
    Some(element(extensions)?.0.1)
}

/// The purposes, if this is the extension that lists them.
fn purposes(extension: &[u8]) -> Option<&[u8]> {
    let mut parts = elements(extension);
    let is_wanted = parts.next() == Some((OID, EXTENDED_KEY_USAGE));
    let (_, value) = parts.find(|(tag, _)| is_wanted && *tag == OCTET_STRING)?;
    Some(element(value)?.0.1)
}

/// Consecutive elements, up to the first that cannot be read.
fn elements(mut bytes: &[u8]) -> impl Iterator<Item = Element<'_>> {
    std::iter::from_fn(move || {
        let (first, rest) = element(bytes)?;
        bytes = rest;
        Some(first)
    })
}

/// The first DER element, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let [tag, length, rest @ ..] = bytes else { return None };
    let (length, rest) = match usize::from(*length) {
        short @ 0..0x80 => (short, rest),
        // The lower bits are the number of length bytes.
        long => {
            let (length, rest) =
                rest.split_at_checked(long & 0x7f).filter(|(length, _)| length.len() <= 4)?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some(((*tag, content), rest))
}

const OID: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
/// `[3]`, constructed: in the signed part of a certificate, only the extensions.
const EXTENSIONS: u8 = 0xa3;
/// 2.5.29.37
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// 2.5.29.37.0
const ANY_PURPOSE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
/// 1.3.6.1.5.5.7.3.1
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
