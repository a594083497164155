//! Datagrams of a sink's reports on packets with INT-MD: Telemetry Report 2.0, as received by a collector.

use std::net::IpAddr;

use inband_model::HopRecord;

use super::HOPS;
use crate::{int_report, md_frame, packet, report_group};

/// Writes reports as datagrams, by patching a template.
#[derive(Debug, Clone)]
pub struct Encoder {
    tcp: Template,
    udp: Template,
}

/// A datagram, and the offsets of its variable fields.
#[derive(Debug, Clone)]
struct Template {
    bytes: Vec<u8>,
    flags: usize,
    /// The sink's own metadata.
    own: usize,
    addresses: usize,
    ports: usize,
    /// The metadata of the other nodes, last hop first.
    stack: usize,
}

impl Encoder {
    /// Writes a report; `None` if it has no IPv4 flow, or its hops hold more metadata than the template.
    pub fn datagram(&mut self, hops: &[HopRecord; HOPS]) -> Option<&[u8]> {
        let last = hops.last()?;
        let flow = last.flow?;
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (flow.source, flow.destination) else {
            return None;
        };
        let template = if flow.protocol == UDP { &mut self.udp } else { &mut self.tcp };
        let bytes = &mut template.bytes;
        let mut put = |at: usize, part: &[u8]| bytes[at..][..part.len()].copy_from_slice(part);
        let first = 2 << 28 | u32::from(last.hw_id) << 22 | last.sequence & 0x003f_ffff;
        put(0, &first.to_be_bytes());
        put(4, &last.reporter.0.to_be_bytes());
        put(template.flags, &[TRACKED | if last.congested_queue { CONGESTED } else { 0 }]);
        put(template.addresses, &source.octets());
        put(template.addresses + 4, &destination.octets());
        put(template.ports, &flow.source_port.to_be_bytes());
        put(template.ports + 2, &flow.destination_port.to_be_bytes());
        let mut at = template.stack;
        put(template.own, &metadata(last)?);
        for hop in hops[..HOPS - 1].iter().rev() {
            put(at, &hop.node_id.0.to_be_bytes());
            put(at + 4, &metadata(hop)?);
            at += 4 + METADATA_BYTES;
        }
        Some(&template.bytes)
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self { tcp: Template::new(false), udp: Template::new(true) }
    }
}

impl Template {
    fn new(is_udp: bool) -> Self {
        let over = packet().addresses(&SOURCE, &[10, 0, 0, 2]);
        let over = if is_udp { over.udp(SOURCE_PORT, 1) } else { over.tcp(SOURCE_PORT, 1) };
        let (own, stack) = (OWN.to_be_bytes(), STACK.to_be_bytes());
        let mut words = [0; (HOPS - 1) * (1 + METADATA_BYTES / 4)];
        words[0] = STACK;
        let frame =
            md_frame().with(|int| int.bitmap(INSTRUCTIONS).words(&words)).over(over).payload(b"in").build();
        let mut of_sink = [0; METADATA_BYTES / 4];
        of_sink[0] = OWN;
        let report = int_report(INSTRUCTIONS & 0x7fff).words(&of_sink).inner(ETHERNET, &frame);
        let bytes = report_group(0).with(report).build();
        let find = |part: &[u8]| bytes.windows(part.len()).position(|window| window == part).unwrap_or(0);
        let addresses = find(&SOURCE);
        // After the group header: version and types, length, length of metadata, flags.
        let flags = GROUP_BYTES + 3;
        Self { flags, own: find(&own), addresses, ports: addresses + 8, stack: find(&stack), bytes }
    }
}

/// A node's metadata of a hop, without its id.
fn metadata(hop: &HopRecord) -> Option<[u8; METADATA_BYTES]> {
    let mut bytes = [0; METADATA_BYTES];
    let queue = u32::from(hop.queue_id?) << 24 | hop.queue_occupancy? & 0x00ff_ffff;
    bytes[0..2].copy_from_slice(&hop.ingress_interface?.to_be_bytes());
    bytes[2..4].copy_from_slice(&hop.egress_interface?.to_be_bytes());
    bytes[4..8].copy_from_slice(&u32::try_from(hop.latency?.0).ok()?.to_be_bytes());
    bytes[8..12].copy_from_slice(&queue.to_be_bytes());
    bytes[12..20].copy_from_slice(&hop.ingress_timestamp?.to_be_bytes());
    bytes[20..28].copy_from_slice(&hop.egress_timestamp?.to_be_bytes());
    Some(bytes)
}

/// Node id, interfaces, latency, queue and both timestamps.
const INSTRUCTIONS: u16 = 0xfc00;
/// Length of a hop without its node id, bytes.
const METADATA_BYTES: usize = 28;
/// Length of a group header, bytes.
const GROUP_BYTES: usize = 8;
/// The report contains an Ethernet frame.
const ETHERNET: u8 = 3;
/// F and Q of a report.
const TRACKED: u8 = 0x20;
const CONGESTED: u8 = 0x40;
const UDP: u8 = 17;
/// Values that occur nowhere else in a template.
const SOURCE: [u8; 4] = [0xa5, 0x5a, 0xc3, 0x3c];
const SOURCE_PORT: u16 = 0xa55a;
const OWN: u32 = 0xa1b2_c3d4;
const STACK: u32 = 0xd4c3_b2a1;
