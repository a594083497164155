//! What of a packet's way through the network is worth a report when it changes?

use std::hash::{DefaultHasher, Hash, Hasher};

use inband_wire::int::earlier::HopByHop;
use inband_wire::int::{Domain, HeaderType, HopMetadata, Location, Md, Version};

use crate::passage::{DeviceMetadata, Hop};

/// A packet's way, as far as its flow is filtered by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Observation {
    pub(super) ingress: u16,
    pub(super) egress: u16,
    pub(super) queue: Option<u8>,
    /// Hop latency without the bits whose change does not count.
    pub(super) latency: Option<u32>,
    /// The same of all hops on the metadata stack, mixed; 0 where there is none.
    pub(super) upstream: u64,
}

impl Observation {
    /// What this node's `hop` and the stack at `location` say; `None` where the stack cannot be read.
    pub(super) fn new(
        bytes: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
        latency_mask: u32,
        domains: &[Domain],
    ) -> Option<Self> {
        let upstream = match location {
            Some(location) if location.header_type == HeaderType::Md => {
                upstream(bytes, location, latency_mask, domains)?
            }
            _ => 0,
        };
        Some(Self {
            ingress: hop.ingress.id,
            egress: hop.egress.id,
            queue: hop.device.queue.map(|queue| queue.id),
            latency: latency(hop.device).map(|latency| latency & latency_mask),
            upstream,
        })
    }
}

/// The time the packet spent in the device, nanoseconds.
pub(super) fn latency(device: &DeviceMetadata) -> Option<u32> {
    device.hop_latency.or_else(|| span(device.ingress_timestamp, device.egress_timestamp))
}

fn span(ingress: Option<u64>, egress: Option<u64>) -> Option<u32> {
    egress?.checked_sub(ingress?).map(|span| u32::try_from(span).unwrap_or(u32::MAX))
}

/// What the hops in front of this one say, and whether one of them could say nothing.
fn upstream(bytes: &[u8], location: &Location, latency_mask: u32, domains: &[Domain]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    if location.version == Version::V2_1 {
        let md = Md::parse(bytes, location, domains).ok()?;
        (md.header.max_hop_count_exceeded(), md.header.mtu_exceeded()).hash(&mut hasher);
        md.stack.hops().for_each(|hop| mix(&hop.metadata(), latency_mask, &mut hasher));
    } else {
        let int = HopByHop::parse(bytes, location).ok()?;
        (int.max_hop_count_exceeded, int.mtu_exceeded).hash(&mut hasher);
        int.hops().for_each(|hop| mix(&hop.metadata().hop, latency_mask, &mut hasher));
    }
    Some(hasher.finish())
}

fn mix(hop: &HopMetadata, latency_mask: u32, hasher: &mut DefaultHasher) {
    let latency = hop.hop_latency.or_else(|| span(hop.ingress_timestamp, hop.egress_timestamp));
    let interfaces = (hop.interfaces, hop.ingress_interface_level2, hop.egress_interface_level2);
    let queue = hop.queue.map(|queue| queue.id);
    (hop.node_id, interfaces, queue, latency.map(|latency| latency & latency_mask)).hash(hasher);
}
