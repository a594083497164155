//! Packets, nodes and paths for the tests of this crate.
#![allow(dead_code, unused_imports, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "these are the helpers of tests")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use inband_node::config::{
    DomainConfig, EncapsulationKind, InterfaceConfig, Mode, NodeConfig, SourceDomain, WatchEntry,
};
use inband_node::{DeviceMetadata, Frame, Node, Passage, Verdict};
pub(crate) use inband_testkit::path::{next_packet, next_report};
use inband_wire::dissect;
use inband_wire::int::{CodePoints, Location, Md, MdHeader, Queue};
use inband_wire::layers::{Layers, Link, Strictness};
use inband_wire::report::{IndividualReport, ReportGroup};
use inband_wire::verify::{ChecksumState, l4_checksum};

/// Sums big-endian words one by one, independent of the code under test.
pub(crate) fn slow_checksum(parts: &[&[u8]]) -> u16 {
    let bytes: Vec<u8> = parts.concat();
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap()
}

/// An Ethernet frame around `payload`.
pub(crate) fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(ethertype.to_be_bytes());
    frame.extend(payload);
    frame
}

pub(crate) const SOURCE_V4: Ipv4Addr = Ipv4Addr::new(10, 1, 1, 1);
pub(crate) const DESTINATION_V4: Ipv4Addr = Ipv4Addr::new(10, 2, 2, 2);
pub(crate) const SOURCE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
pub(crate) const DESTINATION_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, 2);

/// An IPv4 packet with DSCP 10, DF and TTL 61 around `payload`.
pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + payload.len()).unwrap();
    let mut header = vec![0x45, 10 << 2 | 1];
    header.extend(length.to_be_bytes());
    header.extend([0x12, 0x34, 0x40, 0, 61, protocol, 0, 0]);
    header.extend(SOURCE_V4.octets());
    header.extend(DESTINATION_V4.octets());
    let checksum = slow_checksum(&[&header]);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header.extend(payload);
    header
}

/// An IPv6 packet around `payload`.
pub(crate) fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap();
    let mut header = vec![0x62, 0x80, 0x00, 0x07];
    header.extend(length.to_be_bytes());
    header.extend([next_header, 61]);
    header.extend(SOURCE_V6.octets());
    header.extend(DESTINATION_V6.octets());
    header.extend(payload);
    header
}

fn pseudo_header(v6: bool, protocol: u8, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if v6 {
        bytes.extend(SOURCE_V6.octets());
        bytes.extend(DESTINATION_V6.octets());
    } else {
        bytes.extend(SOURCE_V4.octets());
        bytes.extend(DESTINATION_V4.octets());
    }
    bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
    bytes.extend([0, 0, 0, protocol]);
    bytes
}

/// A TCP segment with `options` (whole words) and a correct checksum.
pub(crate) fn tcp(v6: bool, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let offset = u8::try_from(5 + options.len() / 4).unwrap() << 4;
    let mut segment =
        vec![0x9c, 0x40, 0, 80, 0, 0, 0x10, 0, 0, 0, 0x20, 0, offset, 0x18, 0x20, 0, 0, 0, 0, 0];
    segment.extend(options);
    segment.extend(payload);
    let checksum = slow_checksum(&[&pseudo_header(v6, 6, segment.len()), &segment]);
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
    segment
}

/// A UDP datagram to `port` with a correct checksum.
pub(crate) fn udp(v6: bool, port: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let mut datagram = vec![0xab, 0xcd];
    datagram.extend(port.to_be_bytes());
    datagram.extend(length.to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    let checksum = match slow_checksum(&[&pseudo_header(v6, 17, datagram.len()), &datagram]) {
        0 => 0xffff,
        other => other,
    };
    datagram[6..8].copy_from_slice(&checksum.to_be_bytes());
    datagram
}

/// A frame with an IP packet of `protocol`.
pub(crate) fn frame(v6: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    if v6 { ethernet(0x86dd, &ipv6(protocol, payload)) } else { ethernet(0x0800, &ipv4(protocol, payload)) }
}

/// A frame with a TCP segment.
pub(crate) fn tcp_frame(payload: &[u8]) -> Vec<u8> {
    frame(false, 6, &tcp(false, &[], payload))
}

/// A node with interface 1 towards the start of the path and 2 towards its end, that watches everything.
pub(crate) fn node_config(id: u32, edges: (bool, bool), kind: EncapsulationKind, mode: Mode) -> NodeConfig {
    let mut config = NodeConfig::new(id);
    let interface = |id, edge| InterfaceConfig { edge, mtu: 9000, ..InterfaceConfig::new(id) };
    config.interfaces = vec![interface(1, edges.0), interface(2, edges.1)];
    config.encapsulation.kind = Some(kind);
    config.source.mode = mode;
    config.watchlist = vec![WatchEntry::default()];
    config
}

/// Source, transit hops and sink, with node ids from 1.
pub(crate) fn path(length: u32, kind: EncapsulationKind, mode: Mode) -> Vec<Node> {
    (1..=length).map(|id| Node::new(&node_config(id, (id == 1, id == length), kind, mode)).unwrap()).collect()
}

/// The device's measurements in these tests.
pub(crate) fn passage() -> Passage {
    let metadata = DeviceMetadata {
        ingress_timestamp: Some(1_700_000_000_000_000_000),
        egress_timestamp: Some(1_700_000_000_000_001_000),
        hop_latency: Some(1000),
        queue: Some(Queue { id: 3, occupancy: 258 }),
        buffer: None,
        egress_utilization: Some(42),
        counters: None,
    };
    Passage { ingress: 1, egress: 2, metadata }
}

/// Runs `frame` through `node` and returns the result; `None` if the node consumed it.
pub(crate) fn through(node: &mut Node, frame: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = vec![0xa5; 1100];
    buffer.extend(frame);
    let end = buffer.len();
    let mut frame = Frame::new(&mut buffer, 1100..end).unwrap();
    match node.handle_frame(Link::Ethernet, &mut frame, &passage()) {
        Verdict::Forward => Some(frame.bytes().to_vec()),
        Verdict::Consume | Verdict::Drop => None,
    }
}

/// The headers of a whole frame.
pub(crate) fn layers(frame: &[u8]) -> Layers {
    Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap()
}

/// The default code points, without DSCP if another mark is used.
pub(crate) fn code_points(kind: EncapsulationKind) -> CodePoints<'static> {
    let dscp = if kind == EncapsulationKind::Dscp { CodePoints::DEFAULT.dscp } else { &[] };
    CodePoints { dscp, ..CodePoints::DEFAULT }
}

/// Whether the IPv4 header checksum, if there is one, is correct.
pub(crate) fn ip_checksum_is_right(frame: &[u8]) -> bool {
    let layers = layers(frame);
    frame[layers.l3] >> 4 == 6 || slow_checksum(&[&frame[layers.l3..layers.l3 + 20]]) == 0
}

/// The addresses of the test packets as `IpAddr`.
pub(crate) fn addresses(v6: bool) -> (IpAddr, IpAddr) {
    if v6 { (SOURCE_V6.into(), DESTINATION_V6.into()) } else { (SOURCE_V4.into(), DESTINATION_V4.into()) }
}

/// The INT-MD header of a frame marked by DSCP, with its location.
pub(crate) fn md(frame: &[u8]) -> (MdHeader, Location) {
    let location = locate(frame, EncapsulationKind::Dscp);
    (Md::parse(frame, &location, &[]).unwrap().header, location)
}

/// The location of the first INT header.
pub(crate) fn locate(frame: &[u8], kind: EncapsulationKind) -> Location {
    let dissection = dissect(Link::Ethernet, frame, &code_points(kind), Strictness::Whole);
    assert_eq!(dissection.error, None);
    *dissection.int().next().unwrap().1
}

/// The metadata stack of a frame marked by DSCP, as bytes.
pub(crate) fn stack(frame: &[u8]) -> &[u8] {
    let (_, location) = md(frame);
    &frame[location.header + 12..location.end]
}

/// Overwrites bytes of the INT header and corrects the TCP checksum.
pub(crate) fn with_header(frame: &[u8], offset: usize, bytes: &[u8]) -> Vec<u8> {
    let location = locate(frame, EncapsulationKind::Dscp);
    let mut frame = frame.to_vec();
    frame[location.header + offset..location.header + offset + bytes.len()].copy_from_slice(bytes);
    repair_tcp_checksum(&mut frame);
    frame
}

/// Recomputes the TCP checksum of an IPv4 frame.
pub(crate) fn repair_tcp_checksum(frame: &mut [u8]) {
    let layers = layers(frame);
    let at = layers.l4 + 16;
    frame[at..at + 2].fill(0);
    let length = layers.end - layers.l4;
    let checksum = slow_checksum(&[&pseudo_header(false, 6, length), &frame[layers.l4..layers.end]]);
    frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Whether the TCP or UDP checksum is correct by recomputation.
pub(crate) fn checksum_is_right(frame: &[u8]) -> bool {
    let layers = layers(frame);
    l4_checksum(frame, &layers) == ChecksumState::Ok
}

/// The reports a node has queued, as datagrams.
pub(crate) fn reports(node: &mut Node) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| next_report(node)).collect()
}

/// The only report of a node's only datagram, passed to `check`.
pub(crate) fn with_report(node: &mut Node, check: impl FnOnce(&IndividualReport<'_>)) {
    let datagrams = reports(node);
    assert_eq!(datagrams.len(), 1, "datagrams");
    let group = ReportGroup::parse(&datagrams[0]).unwrap();
    let mut individual = group.reports();
    check(&individual.next().unwrap().unwrap());
    assert!(individual.next().is_none());
}

/// A domain with one metadata; an empty `value` is not available.
pub(crate) fn domain(id: u16, bit: u8, words: u8, placement: &str, value: &str) -> DomainConfig {
    let value = if value.is_empty() { String::new() } else { format!("value = \"{value}\"") };
    let text = format!(
        "id = {id}\n[[metadata]]\nbit = {bit}\nwords = {words}\nplacement = \"{placement}\"\n{value}\n"
    );
    toml::from_str(&text).unwrap()
}

/// The domain-specific instructions a source requests.
pub(crate) fn source_domain(id: u16, instructions: &[u8]) -> SourceDomain {
    SourceDomain { id, instructions: instructions.to_vec(), flags: 0 }
}

/// Recomputes the header checksum of an IPv4 frame.
pub(crate) fn repair_ip_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let checksum = slow_checksum(&[&frame[14..34]]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
}
