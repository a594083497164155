//! Host-INT latency reports.

use inband_wire::int::earlier::HopByHop;
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::{DscpMark, HopMetadata, Interfaces, Location, Original, Version};
use inband_wire::ipv4;
use inband_wire::layers::{IpVersion, Layers};
use inband_wire::report::earlier::LatencyDraft;
use inband_wire::{tcp, udp};

/// The headers of a Host-INT packet as received, both its hops, and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    headers: [u8; MAX_HEADER_BYTES],
    header_bytes: usize,
    sink: HopMetadata,
    source: HopMetadata,
    flow_sequence: u32,
}

/// An IPv4 header without options and one of TCP without options.
const MAX_HEADER_BYTES: usize = ipv4::HEADER_BYTES + tcp::HEADER_BYTES;
/// Where DSCP and ECN are in an IPv4 header.
const TOS_OFFSET: usize = 1;

impl Latency {
    // host-int-0.5/report-03
    /// Records the packet as received by the sink, whose own hop is `sink`; `None` if it is not Host-INT with
    /// its source's hop and number.
    pub(crate) fn of(
        bytes: &[u8],
        layers: &Layers,
        location: &Location,
        mark: DscpMark,
        sink: HopMetadata,
    ) -> Option<Self> {
        if location.version != Version::HostInt0_5 || layers.ip != IpVersion::V4 {
            return None;
        }
        let int = HopByHop::parse(bytes, location).ok()?;
        let source = int.hops().last()?.metadata().hop;
        let mut headers = [0; MAX_HEADER_BYTES];
        let (ip, l4) = headers.split_at_mut(ipv4::HEADER_BYTES);
        ip.copy_from_slice(bytes.get(layers.l3..layers.l3 + ipv4::HEADER_BYTES)?);
        let (protocol, l4_at) = match location.encapsulation {
            Encapsulation::Udp => (Original::read(bytes, location).ip_protocol?, location.end),
            _ => (layers.protocol, layers.l4),
        };
        if location.encapsulation == Encapsulation::Udp {
            // As if INT were behind the original L4 header; nothing else is corrected.
            *ip.get_mut(ipv4::PROTOCOL_OFFSET)? = protocol;
            let tos = ip.get_mut(TOS_OFFSET)?;
            *tos = mark.applied_to(*tos >> 2) << 2 | *tos & 3;
        }
        let l4_bytes = if protocol == tcp::PROTOCOL { tcp::HEADER_BYTES } else { udp::HEADER_BYTES };
        l4.get_mut(..l4_bytes)?.copy_from_slice(bytes.get(l4_at..l4_at + l4_bytes)?);
        let header_bytes = ipv4::HEADER_BYTES + l4_bytes;
        Some(Self { headers, header_bytes, sink: one_sided(sink), source, flow_sequence: int.sequence? })
    }

    /// The report with this number, created at `now`, nanoseconds since 1970.
    pub(crate) fn draft(&self, sequence: u32, now: u64, sink_node_id: Option<u32>) -> LatencyDraft<'_> {
        LatencyDraft {
            sequence,
            reported_at_s: u32::try_from(now / 1_000_000_000 % (1 << 32)).unwrap_or_default(),
            sink_node_id,
            headers: self.headers.get(..self.header_bytes).unwrap_or_default(),
            sink: self.sink,
            source: self.source,
            flow_sequence: self.flow_sequence,
        }
    }
}

/// The hop of a host, which has one interface and one timestamp per packet and reports each twice.
// host-int-0.5/packet-10
fn one_sided(hop: HopMetadata) -> HopMetadata {
    HopMetadata {
        interfaces: hop.interfaces.map(|ids| Interfaces { egress: ids.ingress, ..ids }),
        egress_timestamp: hop.ingress_timestamp,
        ..hop
    }
}
