//! The observed properties of a packet's path whose changes are reported.

use std::hash::{DefaultHasher, Hash, Hasher};

use inband_wire::int::earlier::{self, HopByHop};
use inband_wire::int::{Domain, HeaderType, HopMetadata, Location, Md, Version};

use crate::passage::{DeviceMetadata, Hop};

use super::latency::{Latencies, Sensitivity};

/// One packet of a flow, as seen by the flow filter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observation<'a> {
    pub(super) way: Way,
    pub(super) latencies: Latencies,
    /// Latencies of the hops on the metadata stack that give one, last hop first. Empty if `way` includes
    /// them.
    pub(super) upstream: &'a [u32],
}

/// Properties of which any change is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) ingress: u16,
    pub(super) egress: u16,
    pub(super) queue: Option<u8>,
    /// Whether this node knows the packet's hop latency, and its one-way latency.
    pub(super) is_known: [bool; 2],
    /// A hash of all hops on the metadata stack; 0 if there is none.
    pub(super) upstream: u64,
}

impl<'a> Observation<'a> {
    /// The observation from this node's `hop` and the stack at `location`; `None` if the stack cannot be
    /// read.
    ///
    /// `upstream` is a buffer for the latencies of the stack's hops.
    pub(super) fn new(
        bytes: &[u8],
        location: Option<&Location>,
        hop: &Hop<'_>,
        sensitivity: Sensitivity,
        domains: &[Domain],
        upstream: &'a mut Vec<u32>,
    ) -> Option<Self> {
        upstream.clear();
        let stack = match location {
            Some(location) if location.header_type == HeaderType::Md => {
                Stack::new(bytes, location, sensitivity, domains, upstream)?
            }
            _ => Stack::default(),
        };
        let hop_latency = latency(hop.device).map(|latency| sensitivity.hop.kept(latency));
        let one_way = stack.one_way(hop.device).map(|latency| sensitivity.one_way.kept(latency));
        Some(Self {
            way: Way {
                ingress: hop.ingress.id,
                egress: hop.egress.id,
                queue: hop.device.queue.map(|queue| queue.id),
                is_known: [hop_latency.is_some(), one_way.is_some()],
                upstream: stack.hash,
            },
            latencies: Latencies {
                hop: hop_latency.unwrap_or_default(),
                one_way: one_way.unwrap_or_default(),
            },
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

/// The observation of the hops before this one.
#[derive(Clone, Copy, Default)]
struct Stack {
    /// A hash of all hops, including whether a value was not available.
    hash: u64,
    /// Whether a hop gives its latency explicitly, beyond two timestamps.
    has_hop_latency: bool,
    /// When the packet was at the first hop, in the bits of its timestamp.
    first_seen_at: Option<u64>,
    /// How many of the top bits of 32 a timestamp lacks.
    missing_bits: u32,
}

impl Stack {
    /// Reads the stack at `location`, and puts the latencies of its hops into `upstream`; `None` if it cannot
    /// be read.
    fn new(
        bytes: &[u8],
        location: &Location,
        sensitivity: Sensitivity,
        domains: &[Domain],
        upstream: &mut Vec<u32>,
    ) -> Option<Self> {
        let mut this = Self::default();
        let mut hasher = DefaultHasher::new();
        if location.version == Version::V2_1 {
            let md = Md::parse(bytes, location, domains).ok()?;
            (md.header.max_hop_count_exceeded(), md.header.mtu_exceeded()).hash(&mut hasher);
            for hop in md.stack.hops() {
                this.take(&hop.metadata(), sensitivity, &mut hasher, upstream);
            }
        } else {
            let int = HopByHop::parse(bytes, location).ok()?;
            (int.max_hop_count_exceeded, int.mtu_exceeded).hash(&mut hasher);
            for hop in int.hops() {
                let metadata = hop.metadata();
                ports(&metadata).hash(&mut hasher);
                this.take(&metadata.hop, sensitivity, &mut hasher, upstream);
            }
            this.missing_bits = u32::from(location.version == Version::V2016);
        }
        this.hash = hasher.finish();
        Some(this)
    }

    /// Adds one hop; the last one added is the first of the packet's path.
    fn take(
        &mut self,
        hop: &HopMetadata,
        sensitivity: Sensitivity,
        hasher: &mut DefaultHasher,
        upstream: &mut Vec<u32>,
    ) {
        let latency = hop.hop_latency.or_else(|| span(hop.ingress_timestamp, hop.egress_timestamp));
        let interfaces = (hop.interfaces, hop.ingress_interface_level2, hop.egress_interface_level2);
        let queue = hop.queue.map(|queue| queue.id);
        (hop.node_id, interfaces, queue).hash(hasher);
        if sensitivity.hop.is_quantum() {
            latency.map(|latency| sensitivity.hop.kept(latency)).hash(hasher);
        } else {
            latency.is_some().hash(hasher);
            upstream.extend(latency);
        }
        self.has_hop_latency |= hop.hop_latency.is_some();
        self.first_seen_at = hop.ingress_timestamp.or(hop.egress_timestamp);
    }

    /// The time between the first hop's timestamp and that of `device`, modulo 2^32.
    ///
    /// Used for hosts, whose hops have one timestamp each; if hops give latencies, those are compared.
    // host-int-0.5/report-02
    fn one_way(&self, device: &DeviceMetadata) -> Option<u32> {
        let since = self.first_seen_at.filter(|_| !self.has_hop_latency)?;
        let here = device.ingress_timestamp.or(device.egress_timestamp)?;
        let passed = u32::try_from(here.wrapping_sub(since) & u64::from(u32::MAX)).unwrap_or_default();
        // 31 bits are read as a signed number, so that a clock slightly behind gives a small negative value.
        let signed = (passed << self.missing_bits).cast_signed() >> self.missing_bits;
        Some(signed.cast_unsigned())
    }
}

/// Ports of a version before 2.0 that do not form a pair of interfaces: 2016 requests each separately.
fn ports(metadata: &earlier::Metadata) -> Option<(Option<u32>, Option<u32>)> {
    let ports = (metadata.ingress_port, metadata.egress_port);
    (metadata.hop.interfaces.is_none() && ports != (None, None)).then_some(ports)
}
