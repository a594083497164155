//! What is said about the place of an INT header: how it is carried, its type, its bytes?

use crate::int::dialect::{Deviation, Deviations};
use crate::int::version::Version;
use crate::words::Words;

/// The version of the INT-MD and INT-MX headers that are read and written.
pub const VERSION: u8 = 2;
/// Length of an INT-MD or INT-MX header.
pub const HEADER_WORDS: Words = Words::new(3);

/// How a packet carries INT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// Behind TCP or UDP, marked by DSCP.
    Dscp,
    /// Behind UDP, marked by the destination port; the shim keeps the original one. In 0.5 also behind TCP.
    UdpPort,
    /// Behind a new UDP header in front of the original L4 header.
    Udp,
    /// Behind TCP or UDP, marked by a 64-bit probe marker.
    ProbeMarker,
    /// Behind a GRE header.
    Gre,
    /// Behind a VXLAN-GPE header.
    VxlanGpe,
    /// In a Geneve option.
    Geneve,
}

impl Encapsulation {
    /// The name users write and read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dscp => "dscp",
            Self::UdpPort => "udp-port",
            Self::Udp => "udp",
            Self::ProbeMarker => "probe-marker",
            Self::Gre => "gre",
            Self::VxlanGpe => "vxlan-gpe",
            Self::Geneve => "geneve",
        }
    }
}

/// The type of an INT header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderType {
    /// 1: INT-MD; hop-by-hop in the versions before 2.0.
    Md,
    /// 2: destination; only the sink reads it.
    Destination,
    /// 3: INT-MX.
    Mx,
}

impl HeaderType {
    /// The value on the wire, 4 bits in a shim.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Md => 1,
            Self::Destination => 2,
            Self::Mx => 3,
        }
    }

    /// The type of a value on the wire; `None` for a value without a meaning.
    #[inline]
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Md),
            2 => Some(Self::Destination),
            3 => Some(Self::Mx),
            _ => None,
        }
    }
}

/// The place of one INT header in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// How the packet carries it.
    pub encapsulation: Encapsulation,
    /// Its type.
    pub header_type: HeaderType,
    /// The version of its format.
    pub version: Version,
    /// How it departs from that format; nothing in a strict reading.
    pub deviations: Deviations,
    /// Offset of the shim, or of the Geneve option's header.
    pub shim: usize,
    /// Offset of the INT header.
    pub header: usize,
    /// Offset of the first byte behind INT header and stack, and behind the tail of versions that have one.
    pub end: usize,
}

impl Location {
    /// Width of the timestamps of its hops, bits: those of less than 64 wrap within seconds.
    #[must_use]
    pub const fn timestamp_bits(&self) -> u32 {
        if self.deviations.contains(Deviation::WideTimestamps) { 64 } else { self.version.timestamp_bits() }
    }
}
