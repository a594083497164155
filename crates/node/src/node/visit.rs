//! Per-packet state.

use std::cell::Cell;

use inband_wire::FiveTuple;
use inband_wire::dissect::flow_before_int;
use inband_wire::int::mx::Mx;
use inband_wire::int::{HeaderType, Location};
use inband_wire::layers::{Layers, Link};

use crate::carrier::Limits;
use crate::domains::ValueContext;
use crate::inside::Inside;
use crate::latency::Latency;
use crate::passage::Hop;
use crate::reported::Inserted;

/// One packet in the node.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub(super) link: Link,
    pub(super) layers: Layers,
    pub(super) hop: Hop<'a>,
    /// Sequence number of a packet this node starts INT in.
    pub(super) sequence_number: Option<u32>,
    /// Flow sequence number, if this node starts INT with one.
    pub(super) flow_sequence: Option<u32>,
    /// The INT that this node started without its own metadata, because of the egress MTU.
    pub(super) cut_short: Option<Location>,
    /// Whether the sink discards the packet; `None`: as the source is configured.
    pub(super) discard: Option<bool>,
    /// The enclosing tunnel, if INT is in the inner layer; `layers` are then those of the innermost packet.
    pub(super) inside: Option<&'a Inside>,
    /// Whether the packet met a congested queue that is not yet reported; `None` if queues are not watched.
    /// Copies of the visit share it: one report is enough.
    pub(super) congested: Option<&'a Cell<bool>>,
    /// The Host-INT latency report of the packet, if this node is its sink.
    pub(super) latency: Option<&'a Latency>,
}

impl<'a> Visit<'a> {
    /// Creates the initial visit of a packet.
    #[inline]
    pub(super) const fn new(link: Link, layers: Layers, hop: Hop<'a>) -> Self {
        Self {
            link,
            layers,
            hop,
            sequence_number: None,
            flow_sequence: None,
            cut_short: None,
            discard: None,
            inside: None,
            congested: None,
            latency: None,
        }
    }

    /// Whether the next report must include the congested queue; later reports do not.
    #[inline]
    pub(super) fn take_congested(&self) -> bool {
        self.congested.is_some_and(Cell::take)
    }

    /// The inputs of domain-specific values for an INT packet.
    pub(super) fn values(&self, bytes: &[u8], location: &Location) -> ValueContext {
        self.values_of(bytes, flow_before_int(bytes, &self.layers, location))
    }

    /// The source-inserted metadata of an INT-MX packet.
    pub(super) fn inserted<'b>(&self, bytes: &'b [u8], location: &Location) -> Inserted<'b> {
        let metadata = match (location.header_type, Mx::parse(bytes, location)) {
            (HeaderType::Mx, Ok(mx)) => mx.source_inserted,
            _ => return Inserted::default(),
        };
        Inserted { metadata, end: location.end, is_sink: self.hop.egress.edge }
    }

    /// The limits of the packet's length on its way out of this node.
    #[inline]
    pub(super) fn limits(&self) -> Limits {
        Limits {
            // A packet that is stripped before it leaves cannot exceed the egress MTU.
            mtu: if self.hop.egress.edge { usize::MAX } else { self.hop.egress.mtu },
            around: self.inside.map_or(usize::MAX, Inside::most_bytes),
        }
    }

    /// The headers of the outermost packet, as received.
    pub(super) fn outermost(&self) -> &Layers {
        self.inside.map_or(&self.layers, |inside| &inside.outermost)
    }

    /// What the packet that carries INT starts with: in a tunnel never the frame's Ethernet header.
    pub(super) const fn carrier_link(&self) -> Link {
        if self.inside.is_some() { Link::Ip } else { self.link }
    }

    pub(super) fn values_of(&self, bytes: &[u8], flow: FiveTuple) -> ValueContext {
        let ethernet = match (self.inside, self.link) {
            (Some(inside), _) => inside.ethernet,
            (None, Link::Ethernet) => Some(0),
            (None, Link::Ip) => None,
        };
        let address = ethernet.and_then(|at| bytes.get(at + 6..at + 12));
        let ethernet_source = address.and_then(<[u8]>::first_chunk).copied();
        ValueContext {
            ethernet_source,
            sequence_number: self.sequence_number,
            flow_sequence: self.flow_sequence,
            node_id: self.hop.identity.node_id,
            flow,
            counters: self.hop.device.counters.unwrap_or_default(),
        }
    }
}
