//! The bytes of a packet that are INT and are removed by its sink.

use std::ops::Range;

use inband_wire::error::Header;
use inband_wire::int::locate::{self, Encapsulation, PROBE_MARKER_BYTES};
use inband_wire::int::shim::Shim;
use inband_wire::int::{Location, Original};
use inband_wire::ipv4::{IN_IP, IPV6_IN_IP};
use inband_wire::layers::Layers;
use inband_wire::view::view;
use inband_wire::{ethernet, gre, udp, vxlan};

use super::carriage::Carriage;

/// How many bytes of a packet are INT, including the headers that a source added for it, and where they end.
///
/// A report keeps them in addition to the requested bytes of the original packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntSpan {
    /// How many bytes a sink removes.
    pub(crate) bytes: usize,
    /// Offset behind the last of them.
    pub(crate) end: usize,
}

impl Carriage {
    /// The span that a sink removes from the packet whose INT header, or one of several, is at `location`.
    #[inline]
    pub(crate) fn int_span(&self, bytes: &[u8], layers: &Layers, location: &Location) -> IntSpan {
        match location.encapsulation {
            Encapsulation::Dscp => one(location.shim..location.end),
            Encapsulation::ProbeMarker => one(location.shim.saturating_sub(PROBE_MARKER_BYTES)..location.end),
            Encapsulation::Geneve => self.options(bytes, layers),
            _ => self.chain(bytes, layers, location),
        }
    }

    /// A chain of headers, the first after the header that announces it.
    #[cold]
    fn chain(&self, bytes: &[u8], layers: &Layers, location: &Location) -> IntSpan {
        let last = self.last_of_chain(bytes, layers, location).unwrap_or(*location);
        let added_by_gre = || {
            let shim: &Shim = view(bytes, last.shim, Header::Shim).ok()?;
            shim.gre_added().then_some(if shim.ethertype() == ethernet::BRIDGED_ETHERNET {
                0
            } else {
                layers.l3
            })
        };
        let start = match location.encapsulation {
            Encapsulation::Gre => added_by_gre()
                .or_else(|| gre::payload(bytes, layers.l4).ok().map(|(_, at)| at))
                .unwrap_or(location.shim),
            Encapsulation::VxlanGpe => layers.l4 + udp::HEADER_BYTES + vxlan::HEADER_BYTES,
            Encapsulation::Udp => match Original::read(bytes, &last).ip_protocol {
                Some(IN_IP | IPV6_IN_IP) => layers.l3,
                _ => layers.l4,
            },
            _ => layers.l4 + udp::HEADER_BYTES,
        };
        one(start.min(location.shim)..last.end)
    }

    /// Every INT option of a Geneve header.
    #[cold]
    fn options(&self, bytes: &[u8], layers: &Layers) -> IntSpan {
        let mut span = IntSpan::default();
        let mut next = locate::in_geneve(bytes, layers, &self.geneve_classes);
        while let Ok(Some(location)) = next {
            span.bytes += location.end - location.shim;
            span.end = location.end;
            next = self.with_code_points(|points| locate::following(bytes, layers, points, &location));
        }
        span
    }

    /// The last header of the chain of INT headers that contains `first`; `None` if one cannot be read, or
    /// there are more than a sink removes.
    pub(super) fn last_of_chain(&self, bytes: &[u8], layers: &Layers, first: &Location) -> Option<Location> {
        self.with_code_points(|code_points| {
            let mut last = *first;
            for _ in 0..MAX_HEADERS {
                match locate::following(bytes, layers, code_points, &last).ok()? {
                    Some(location) => last = location,
                    None => return Some(last),
                }
            }
            None
        })
    }
}

const fn one(range: Range<usize>) -> IntSpan {
    IntSpan { bytes: range.end - range.start, end: range.end }
}

/// Maximum number of INT headers that a sink removes from one packet.
const MAX_HEADERS: usize = 8;
