//! The location of INT in a packet, and what is inserted or removed there.

use inband_wire::int::locate::{Encapsulation, HeaderType};
use inband_wire::int::shim::SHIM_BYTES;
use inband_wire::int::{Deviations, Location, Version};
use inband_wire::layers::Link;
use inband_wire::{FiveTuple, Words};

use crate::carrier::{Limits, MAX_LENGTH};

/// The location of INT in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The encapsulation of this packet.
    pub(crate) encapsulation: Encapsulation,
    /// Offset at which the gap opens.
    pub(crate) at: usize,
    /// Bytes of new headers, or of the marker, before the shim.
    pub(crate) outer: usize,
    /// The longest INT header and stack that can follow the shim.
    pub(crate) most: Words,
}

/// An insertion by a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insertion<'a> {
    pub(crate) place: Place,
    pub(crate) header_type: HeaderType,
    /// Length of INT header and what follows it, without the shim.
    pub(crate) int: Words,
    pub(crate) link: Link,
    pub(crate) flow: &'a FiveTuple,
}

impl Place {
    /// A place behind existing headers.
    pub(super) const fn behind(encapsulation: Encapsulation, at: usize) -> Self {
        Self { encapsulation, at, outer: 0, most: Words::MAX }
    }

    /// `limits` with those of the headers that the source adds: the new IPv4 header in front of GRE has 16
    /// bits for the length of the whole packet, also where that is IPv6.
    pub(crate) fn limits(&self, limits: Limits) -> Limits {
        if self.encapsulation == Encapsulation::Gre && self.outer > 0 {
            return Limits { around: limits.around.min(MAX_LENGTH), ..limits };
        }
        limits
    }
}

impl Insertion<'_> {
    /// Bytes the packet grows by.
    pub(crate) const fn growth(&self) -> usize {
        self.place.outer + SHIM_BYTES + self.int.bytes()
    }

    /// The location of INT after the gap is open.
    pub(crate) const fn location(&self) -> Location {
        let shim = self.place.at + self.place.outer;
        Location {
            encapsulation: self.place.encapsulation,
            header_type: self.header_type,
            version: Version::V2_1,
            deviations: Deviations::NONE,
            shim,
            header: shim + SHIM_BYTES,
            end: self.place.at + self.growth(),
        }
    }
}

/// The parameters for stripping a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stripping {
    pub(crate) link: Link,
    pub(crate) restore_dscp: bool,
}
