//! The location of an INT header: encapsulation, type, version, offsets.

use crate::int::dialect::{Deviation, Deviations};
use crate::int::version::Version;
use crate::words::Words;

/// The version field of the INT-MD and INT-MX headers that are read and written.
pub const VERSION: u8 = 2;
/// Length of an INT-MD or INT-MX header.
pub const HEADER_WORDS: Words = Words::new(3);

/// How a packet carries INT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// After TCP or UDP, marked by DSCP.
    Dscp,
    /// After UDP, marked by the destination port; the shim keeps the original one. In 0.5 also after TCP.
    UdpPort,
    /// After a new UDP header before the original L4 header.
    Udp,
    /// After TCP or UDP, marked by a 64-bit probe marker.
    ProbeMarker,
    /// After a GRE header.
    Gre,
    /// After a VXLAN-GPE header.
    VxlanGpe,
    /// In a Geneve option.
    Geneve,
}

impl Encapsulation {
    /// The name that users read and write.
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

    /// The type for a value on the wire; `None` for an undefined value.
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

/// The location of one INT header in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The encapsulation.
    pub encapsulation: Encapsulation,
    /// Its type.
    pub header_type: HeaderType,
    /// The version of its format.
    pub version: Version,
    /// Its deviations from that format; empty in a strict reading.
    pub deviations: Deviations,
    /// Offset of the shim, or of the Geneve option's header.
    pub shim: usize,
    /// Offset of the INT header.
    pub header: usize,
    /// Offset of the first byte after the INT header and stack, and after the tail of versions that have one.
    pub end: usize,
}

impl Location {
    /// Width of its hops' timestamps, bits; those narrower than 64 bits wrap within seconds.
    #[must_use]
    pub const fn timestamp_bits(&self) -> u32 {
        if self.deviations.contains(Deviation::WideTimestamps) { 64 } else { self.version.timestamp_bits() }
    }
}
