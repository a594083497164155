//! INT headers of any type and version.

use crate::error::ParseError;
use crate::int::dialect::{Deviation, Deviations};
use crate::int::domain::Domain;
use crate::int::earlier::layout::{LEVEL2_PORTS, TIMESTAMPS};
use crate::int::earlier::{self, HopByHop};
use crate::int::location::{HeaderType, Location};
use crate::int::md::Md;
use crate::int::metadata::HopMetadata;
use crate::int::mx::Mx;
use crate::int::stack;
use crate::words::Words;

/// An INT header of any type and version, with what follows it.
#[derive(Clone, Copy, Debug)]
pub enum AnyHeader<'a> {
    /// INT-MD of 2.1.
    Md(Md<'a>),
    /// INT-MX of 2.1.
    Mx(Mx<'a>),
    /// The hop-by-hop header of a version before 2.0.
    HopByHop(HopByHop<'a>),
    /// A destination header, whose contents are not defined.
    Destination(&'a [u8]),
}

/// One hop of a metadata stack of any version.
#[derive(Clone, Copy, Debug)]
pub enum AnyHop<'a> {
    /// A hop of INT-MD 2.1.
    Md(stack::Hop<'a>),
    /// A hop of a version before 2.0.
    HopByHop(earlier::Hop<'a>),
}

impl<'a> AnyHeader<'a> {
    /// Reads the header at `location`.
    ///
    /// # Errors
    /// Bytes that cannot be the announced header.
    // Inlined: the result is large, and a call would copy it to the caller.
    #[inline(always)]
    pub fn parse(bytes: &'a [u8], location: &Location, domains: &[Domain]) -> Result<Self, ParseError> {
        match location.header_type {
            HeaderType::Destination => {
                let end = location.end.min(bytes.len());
                Ok(Self::Destination(bytes.get(location.header..end).unwrap_or_default()))
            }
            HeaderType::Md | HeaderType::Mx if location.version.is_before_2() => {
                HopByHop::parse(bytes, location).map(Self::HopByHop)
            }
            HeaderType::Md => Md::parse(bytes, location, domains).map(Self::Md),
            HeaderType::Mx => Mx::parse(bytes, location).map(Self::Mx),
        }
    }

    /// The deviations among `possible`, which its bytes allow for, that this header shows.
    ///
    /// The 64-bit timestamps of a dialect do not show in a header that asks for no timestamp.
    #[must_use]
    pub fn deviations(&self, possible: Deviations) -> Deviations {
        let shown = |deviation: &Deviation| match (self, deviation) {
            (Self::Md(md), Deviation::LowFlags) => {
                md.header.discard() || md.header.max_hop_count_exceeded() || md.header.mtu_exceeded()
            }
            (Self::HopByHop(int), Deviation::ShortVersion) => {
                int.replication != 0 || int.copy || int.max_hop_count_exceeded
            }
            (Self::HopByHop(int), Deviation::WideTimestamps) => int.instruction_bitmap & TIMESTAMPS != 0,
            (Self::HopByHop(int), Deviation::ShortLevel2Ports) => int.instruction_bitmap & LEVEL2_PORTS != 0,
            (Self::HopByHop(int), Deviation::NumberInReserved) => {
                int.sequence.is_some_and(|number| number != 0)
            }
            _ => true,
        };
        possible.iter().filter(shown).fold(Deviations::NONE, Deviations::with)
    }

    /// The completely visible hops of the stack, the last hop of the path first; none without a stack.
    pub fn hops(&self) -> impl Iterator<Item = AnyHop<'a>> + use<'a> {
        let (md, hop_by_hop) = match self {
            Self::Md(md) => (Some(md.stack.hops()), None),
            Self::HopByHop(earlier) => (None, Some(earlier.hops())),
            Self::Mx(_) | Self::Destination(_) => (None, None),
        };
        let md = md.into_iter().flatten().map(AnyHop::Md);
        md.chain(hop_by_hop.into_iter().flatten().map(AnyHop::HopByHop))
    }

    /// Number of hops the packet carries, visible or not.
    #[must_use]
    pub const fn hop_count(&self) -> usize {
        match self {
            Self::Md(md) => md.stack.hop_count(),
            Self::HopByHop(earlier) => earlier.hop_count(),
            Self::Mx(_) | Self::Destination(_) => 0,
        }
    }

    /// Whether some of the hops are not visible.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Md(md) => md.stack.is_cut(),
            Self::HopByHop(earlier) => earlier.is_cut(),
            Self::Mx(_) | Self::Destination(_) => false,
        }
    }

    /// Length of the metadata each hop adds; `None` where hops add nothing to the packet.
    #[must_use]
    pub const fn hop_ml(&self) -> Option<Words> {
        match self {
            Self::Md(md) => Some(md.header.hop_ml()),
            Self::HopByHop(earlier) => Some(earlier.hop_ml),
            Self::Mx(_) | Self::Destination(_) => None,
        }
    }

    /// Number of further hops that may add metadata; `None` where hops add nothing to the packet.
    #[must_use]
    pub const fn remaining_hop_count(&self) -> Option<u8> {
        match self {
            Self::Md(md) => Some(md.header.remaining_hop_count()),
            Self::HopByHop(earlier) => Some(earlier.remaining_hop_count()),
            Self::Mx(_) | Self::Destination(_) => None,
        }
    }

    /// E: a node could not add metadata because no hop was left; `None` where the flag does not exist.
    #[must_use]
    pub const fn max_hop_count_exceeded(&self) -> Option<bool> {
        match self {
            Self::Md(md) => Some(md.header.max_hop_count_exceeded()),
            Self::HopByHop(earlier) => Some(earlier.max_hop_count_exceeded),
            Self::Mx(_) | Self::Destination(_) => None,
        }
    }

    /// M: a node could not add metadata because of its egress MTU; `None` where the flag does not exist.
    #[must_use]
    pub const fn mtu_exceeded(&self) -> Option<bool> {
        match self {
            Self::Md(md) => Some(md.header.mtu_exceeded()),
            Self::HopByHop(earlier) => earlier.mtu_exceeded,
            Self::Mx(_) | Self::Destination(_) => None,
        }
    }
}

impl AnyHop<'_> {
    /// The hop's metadata; [`Location::timestamp_bits`] is the width of its timestamps.
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        match self {
            Self::Md(hop) => hop.metadata(),
            Self::HopByHop(hop) => hop.metadata().hop,
        }
    }
}

#[cfg(test)]
mod tests;
