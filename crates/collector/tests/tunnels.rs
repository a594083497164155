//! The flow is that of the innermost packet, also where the report has cut it short.

mod support;

use inband_model::{EventKind, Flow, Nanos};
use inband_wire::report::{Draft, InnerType};

use support::{
    Lab, MdPacket, flow, hop, hops, later_fragment, node_report, nodes, packet, plain_packet, sink_report,
};

/// A tunnel with this name, what the reported packet starts with, and its bytes around the inner packet.
type Tunnel = (&'static str, InnerType, fn(&[u8]) -> Vec<u8>);

const TUNNELS: &[Tunnel] = &[
    ("none", InnerType::Ipv4, <[u8]>::to_vec),
    ("Ethernet", InnerType::Ethernet, |inner| ethernet(&[0x08, 0x00], inner)),
    ("VLAN", InnerType::Ethernet, |inner| ethernet(&[0x81, 0, 0, 7, 0x08, 0x00], inner)),
    ("two VLANs", InnerType::Ethernet, |inner| {
        ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 0x08, 0x00], inner)
    }),
    ("MPLS", InnerType::Ethernet, |inner| ethernet(&[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], inner)),
    ("GRE", InnerType::Ipv4, |inner| outer(47, 0, &[&[0, 0, 0x08, 0x00], inner].concat())),
    ("VXLAN", InnerType::Ipv4, |inner| udp(4789, &[8, 0, 0, 0, 0, 0, 7, 0], &ethernet(&[0x08, 0x00], inner))),
    ("Geneve", InnerType::Ipv4, |inner| {
        udp(6081, &[0, 0, 0x65, 0x58, 0, 0, 7, 0], &ethernet(&[0x08, 0x00], inner))
    }),
    ("GTP-U", InnerType::Ipv4, |inner| {
        let length = u8::try_from(inner.len()).expect("inner packets of tests are short");
        udp(2152, &[0x30, 0xff, 0, length, 0, 0, 0, 9], inner)
    }),
];

#[test]
fn a_flow_is_that_of_the_innermost_packet() {
    for (name, inner_type, around) in TUNNELS {
        let bytes = around(&plain_packet(&flow(3), 64));
        assert_eq!(flows(*inner_type, &bytes), [flow(3)], "{name}");
    }
}

#[test]
fn a_flow_is_known_where_the_report_ends_with_the_inner_headers() {
    for (name, inner_type, around) in TUNNELS {
        let bytes = around(&plain_packet(&flow(3), 64));
        // The UDP header of the inner packet is followed by 8 bytes of payload.
        let cut = &bytes[..bytes.len() - 8];
        assert_eq!(flows(*inner_type, cut), [flow(3)], "{name}");
    }
}

#[test]
fn a_tunnel_whose_inner_packet_is_cut_off_is_a_flow_of_its_own() {
    let bytes = udp(4789, &[8, 0, 0, 0, 0, 0, 7, 0], &ethernet(&[0x08, 0x00], &plain_packet(&flow(3), 64)));

    let cut = flows(InnerType::Ipv4, &bytes[..20 + 8 + 8 + 14 + 10]);

    assert_eq!(cut, [Flow { destination_port: 4789, ..flow(9) }]);
}

#[test]
fn a_later_fragment_belongs_to_the_flow_of_its_tunnel() {
    let fragment = later_fragment(plain_packet(&flow(3), 64));
    let tunnel = Flow { destination_port: 4789, ..flow(9) };
    let mut lab = Lab::new();

    lab.report(3, &sink_report(&in_vxlan(&[1, 2, 3], &fragment)));

    assert_eq!(lab.only_flow().flow, tunnel);
    assert_eq!(lab.paths(), [[1, 2, 3]]);
    assert_eq!(flows(InnerType::Ipv4, &in_vxlan(&[], &fragment)), [tunnel], "without INT as well");
    assert_eq!(flows(InnerType::Ipv4, &fragment), [], "and without a tunnel there is none");
}

#[test]
fn int_inside_and_outside_of_a_tunnel_are_paths_of_two_flows() {
    // int-2.1/l4-04
    let (inside, outside) = (flow(3), Flow { destination_port: 4789, ..flow(9) });
    let both = in_vxlan(&[11, 21, 12], &md(&inside, &[1]));
    let inner = in_vxlan(&[], &md(&inside, &[1, 2]));
    let mut lab = Lab::new();
    for _ in 0..3 {
        lab.report(12, &sink_report(&both));
        lab.report(2, &sink_report(&inner));
        lab.wait(Nanos(100_000_000));
    }
    assert_eq!(paths(&mut lab), [(inside, vec![1, 2]), (outside, vec![11, 21, 12])]);
    assert_eq!(lab.events(EventKind::PathChange), []);
}

#[test]
fn the_sink_of_an_inner_domain_within_an_outer_one_reports_the_inner_stack() {
    // int-2.1/l4-04
    let packet = in_vxlan(&[11, 21], &md(&flow(3), &[1, 2]));
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&packet));
    lab.wait(Nanos(100_000_000));
    assert_eq!(paths(&mut lab), [(flow(3), vec![1, 2])]);
}

#[test]
fn a_stack_around_a_packet_without_int_is_the_path_of_the_flow_inside() {
    let packet = in_vxlan(&[11, 21, 12], &plain_packet(&flow(3), 64));
    let mut lab = Lab::new();
    lab.report(12, &sink_report(&packet));
    lab.wait(Nanos(100_000_000));
    assert_eq!(paths(&mut lab), [(flow(3), vec![11, 21, 12])]);
}

/// The flows with a path, and the nodes on it.
fn paths(lab: &mut Lab) -> Vec<(Flow, Vec<u32>)> {
    let mut paths: Vec<_> = lab.path_observations().iter().map(|path| (path.flow, nodes(path))).collect();
    paths.sort_by_key(|(flow, _)| flow.source);
    paths
}

/// A packet of the flow with INT-MD and the hops of these nodes, first hop first.
fn md(of: &Flow, node_ids: &[u32]) -> Vec<u8> {
    MdPacket { flow: *of, ..MdPacket::new(&hops(node_ids)) }.bytes()
}

/// `inner` in a packet of VXLAN, with INT-MD of these nodes, if any, between the UDP header and the VXLAN
/// header.
fn in_vxlan(node_ids: &[u32], inner: &[u8]) -> Vec<u8> {
    let outer = Flow { destination_port: 4789, ..flow(9) };
    let vxlan = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &ethernet(&[0x08, 0x00], inner)].concat();
    if node_ids.is_empty() {
        return packet(&outer, 64, 0, &vxlan);
    }
    let int = md(&outer, node_ids);
    packet(&outer, 64, 0x17, &[&int[28..], &vxlan].concat())
}

fn flows(inner_type: InnerType, bytes: &[u8]) -> Vec<Flow> {
    let mut lab = Lab::new();
    lab.report(5, &Draft { inner_type, ..node_report(bytes, hop(5, 900, 0)) });
    lab.collector.flows().map(|view| view.flow).collect()
}

fn ethernet(behind_addresses: &[u8], inner: &[u8]) -> Vec<u8> {
    [&[2; 12], behind_addresses, inner].concat()
}

fn udp(port: u16, header: &[u8], inner: &[u8]) -> Vec<u8> {
    packet(&Flow { destination_port: port, ..flow(9) }, 64, 0, &[header, inner].concat())
}

/// An outer IPv4 packet of a protocol without ports.
fn outer(protocol: u8, dscp: u8, inner: &[u8]) -> Vec<u8> {
    let mut bytes = packet(&Flow { protocol, ..flow(9) }, 64, dscp, inner);
    bytes.drain(20..28);
    bytes
}
