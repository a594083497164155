//! Location of INT after GRE and VXLAN-GPE.

use crate::error::{Header, ParseError};
use crate::gre::{self, GreHeader};
use crate::int::location::{Encapsulation, Location};
use crate::layers::Layers;
use crate::view::view;
use crate::vxlan::VxlanHeader;
use crate::{udp, vxlan};

use super::shim::{BEFORE_2_TYPES, before_2, behind_shim, has_version, inside, limit};

/// Next Protocol values that INT before 2.0 shares with other protocols, such as MPLS; bytes that do not
/// start with an INT type are taken as the other protocol.
const SHARED_NEXT_PROTOCOLS: [u8; 2] = [0x05, 0x08];

/// Reads the INT shim after a GRE header whose protocol type is one of `protocols`; `None` for other GRE,
/// readable or not.
///
/// # Errors
/// A GRE header or shim that is truncated or invalid.
pub fn in_gre(bytes: &[u8], layers: &Layers, protocols: &[u16]) -> Result<Option<Location>, ParseError> {
    // int-2.1/gre-06
    let inside = inside(bytes, layers.end);
    match view::<GreHeader>(inside, layers.l4, Header::Gre) {
        Ok(header) if protocols.contains(&header.protocol.get()) => {}
        _ => return Ok(None),
    }
    let (_, at) = gre::payload(inside, layers.l4)?;
    behind_shim(bytes, at, layers.end, Encapsulation::Gre).map(Some)
}

/// Reads the INT shim after a VXLAN-GPE header whose Next Protocol is one of `next_protocols`; `None` for
/// other packets to its port.
///
/// # Errors
/// A UDP header or shim that is truncated or invalid.
pub fn in_vxlan_gpe(
    bytes: &[u8],
    layers: &Layers,
    next_protocols: &[u8],
) -> Result<Option<Location>, ParseError> {
    let at = layers.l4 + udp::HEADER_BYTES;
    let limit = limit(bytes, layers);
    let inside = inside(bytes, limit.unwrap_or(layers.end));
    let next = view(inside, at, Header::Vxlan).ok().and_then(VxlanHeader::next_protocol);
    match next.filter(|next| next_protocols.contains(next)) {
        Some(next) => behind_next_protocol(bytes, at + vxlan::HEADER_BYTES, layers, limit?, next),
        None => Ok(None),
    }
}

/// Reads the shim at byte `at` that `next_protocol` of VXLAN-GPE announces.
// int-2016/vxlan-02
pub(in crate::int) fn behind_next_protocol(
    bytes: &[u8],
    at: usize,
    layers: &Layers,
    limit: usize,
    next_protocol: u8,
) -> Result<Option<Location>, ParseError> {
    let found = behind_shim(bytes, at, limit, Encapsulation::VxlanGpe)
        .or_else(|error| before_2(bytes, at, layers, limit, Encapsulation::VxlanGpe, error));
    if !SHARED_NEXT_PROTOCOLS.contains(&next_protocol) {
        return found.map(Some);
    }
    match found {
        Ok(location) if location.version.is_before_2() || has_version(bytes, &location) => Ok(Some(location)),
        Err(error) if bytes.get(at).is_some_and(|kind| BEFORE_2_TYPES.contains(kind)) => Err(error),
        _ => Ok(None),
    }
}
