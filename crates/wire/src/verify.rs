//! Verification of a packet's L4 checksum.

use core::net::IpAddr;

use crate::checksum::{Sum, pseudo_header};
use crate::error::Header;
use crate::gre;
use crate::int::location::{Encapsulation, Location};
use crate::ipv6;
use crate::layers::{Fragment, IpVersion, Layers, Transport};
use crate::tcp;
use crate::udp;
use crate::view::view;

/// The result of recomputing a checksum in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumState {
    /// Correct.
    Ok,
    /// Wrong.
    Bad,
    /// The packet has none: UDP with a zero checksum, GRE without one, another protocol.
    Absent,
    /// It covers bytes that are missing: a truncated packet or a fragment.
    Unverifiable,
}

impl ChecksumState {
    /// The name users read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Bad => "bad",
            Self::Absent => "absent",
            Self::Unverifiable => "unverifiable",
        }
    }
}

/// Recomputes the checksum of the TCP, UDP or GRE header of the packet that `layers` describes.
#[must_use]
pub fn l4_checksum(bytes: &[u8], layers: &Layers) -> ChecksumState {
    match layers.transport {
        Transport::Tcp { .. } => over(bytes, layers, tcp::PROTOCOL, layers.end - layers.l4),
        Transport::Udp => match layers.udp(bytes) {
            Some(header) if header.checksum.get() == 0 => ChecksumState::Absent,
            Some(header) => over(bytes, layers, udp::PROTOCOL, usize::from(header.length.get())),
            None => ChecksumState::Unverifiable,
        },
        Transport::Other if layers.protocol == gre::PROTOCOL => gre_checksum(bytes, layers),
        Transport::Other => ChecksumState::Absent,
    }
}

fn over(bytes: &[u8], layers: &Layers, protocol: u8, length: usize) -> ChecksumState {
    if layers.fragment != Fragment::Whole {
        return ChecksumState::Unverifiable;
    }
    all_ones(bytes, layers.l4, length, pseudo(bytes, layers, protocol, length))
}

fn pseudo(bytes: &[u8], layers: &Layers, protocol: u8, length: usize) -> Sum {
    let (source, destination) = layers.addresses(bytes);
    let last = match layers.ip {
        IpVersion::V4 => None,
        IpVersion::V6 => ipv6::final_destination(bytes, layers.l3).map(IpAddr::V6),
    };
    pseudo_header(source, last.unwrap_or(destination), protocol, length)
}

fn gre_checksum(bytes: &[u8], layers: &Layers) -> ChecksumState {
    match view::<gre::GreHeader>(bytes, layers.l4, Header::Gre) {
        Ok(header) if !header.has_checksum() => ChecksumState::Absent,
        Ok(_) if layers.fragment == Fragment::Whole => {
            all_ones(bytes, layers.l4, layers.end - layers.l4, Sum::ZERO)
        }
        _ => ChecksumState::Unverifiable,
    }
}

/// Whether the TCP or UDP checksum is the one the packet had before the INT at `location` was added.
#[must_use]
pub fn is_checksum_without(bytes: &[u8], layers: &Layers, location: &Location) -> bool {
    let is_behind_l4 = location.encapsulation == Encapsulation::Dscp;
    let Some((before, after)) = bytes.get(layers.l4..location.shim).zip(bytes.get(location.end..layers.end))
    else {
        return false;
    };
    if !is_behind_l4 || layers.fragment != Fragment::Whole || layers.transport == Transport::Other {
        return false;
    }
    let length = before.len() + after.len();
    let mut sum = Sum::of(before).plus(Sum::of(after));
    if let (Some(header), Ok(length)) = (layers.udp(bytes), u16::try_from(length)) {
        sum = sum.plus(Sum::word(!header.length.get())).plus(Sum::word(length));
    }
    sum.plus(pseudo(bytes, layers, layers.protocol, length)).fold() == 0xffff
}

/// Verifies that the covered bytes and the pseudo-header sum to all ones, as a correct checksum makes them.
fn all_ones(bytes: &[u8], at: usize, length: usize, pseudo: Sum) -> ChecksumState {
    match bytes.get(at..at + length) {
        None => ChecksumState::Unverifiable,
        Some(covered) if Sum::of(covered).plus(pseudo).fold() == 0xffff => ChecksumState::Ok,
        Some(_) => ChecksumState::Bad,
    }
}

#[cfg(test)]
mod tests;
