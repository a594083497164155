//! Header names for packets written as text.

use inband_wire::int::earlier::HopByHop;
use inband_wire::int::earlier::host_int::SEQUENCE_BYTES;
use inband_wire::int::earlier::recognise::HEADER_BYTES;
use inband_wire::int::{CodePoints, Encapsulation, HeaderType, Location, Md, md, mx};
use inband_wire::layers::{IpVersion, Transport};
use inband_wire::report::{AnyReport, group};
use inband_wire::udp::HEADER_BYTES as UDP_HEADER_BYTES;
use inband_wire::{Dissection, Layers, Link, Strictness, dissect, geneve, gre, vxlan};

/// Splits `packet` at the start of every recognized header, each part with its name.
pub(crate) fn annotate(link_type: u32, packet: &[u8]) -> Vec<(String, &[u8])> {
    let link = match link_type {
        1 => Link::Ethernet,
        101 | 228 | 229 => Link::Ip,
        _ => return vec![("Packet".to_owned(), packet)],
    };
    let mut starts = starts(link, packet);
    starts.sort_by_key(|(at, _)| *at);
    starts.dedup_by_key(|(at, _)| *at);
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([packet.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|((at, name), end)| Some((name.clone(), packet.get(*at..end)?)))
        .collect()
}

/// Offsets of headers, with their names; of several at one offset, the first counts.
fn starts(link: Link, packet: &[u8]) -> Vec<(usize, String)> {
    let dissection = dissect(link, packet, &CodePoints::DEFAULT, Strictness::Truncated);
    let first = if link == Link::Ethernet { "Ethernet" } else { "Packet" };
    let mut starts = of_int(packet, &dissection);
    for level in dissection.levels() {
        starts.extend(of_layers(packet, &level.layers));
    }
    starts.extend(dissection.int().map(|(_, location)| (location.end, "Behind INT".to_owned())));
    starts.push((0, first.to_owned()));
    starts
}

fn of_layers(packet: &[u8], layers: &Layers) -> Vec<(usize, String)> {
    let ip = match layers.ip {
        IpVersion::V4 => "IPv4",
        IpVersion::V6 => "IPv6",
    };
    let (l4, payload) = match layers.transport {
        Transport::Tcp { header_length } => ("TCP".to_owned(), Some(layers.l4 + header_length)),
        Transport::Udp => ("UDP".to_owned(), Some(layers.l4 + UDP_HEADER_BYTES)),
        Transport::Other if layers.protocol == gre::PROTOCOL => ("GRE".to_owned(), None),
        Transport::Other => (format!("Protocol {}", layers.protocol), None),
    };
    let mut starts = vec![(layers.l3, ip.to_owned()), (layers.l4, l4)];
    let port = layers.udp(packet).map(|udp| udp.destination_port.get());
    if let Some(at) = payload {
        starts.extend(match port {
            Some(REPORT_PORT) => of_reports(packet, at),
            Some(vxlan::PORT | vxlan::LINUX_PORT | vxlan::GPE_PORT) => vec![(at, "VXLAN".to_owned())],
            Some(geneve::PORT) => vec![(at, "Geneve".to_owned())],
            _ => vec![(at, "Payload".to_owned())],
        });
    }
    starts
}

fn of_int(packet: &[u8], dissection: &Dissection) -> Vec<(usize, String)> {
    dissection.int().flat_map(|(_, location)| of_location(packet, location)).collect()
}

fn of_location(packet: &[u8], location: &Location) -> Vec<(usize, String)> {
    let named = |name: &str, at| (at, name.to_owned());
    let shim = if location.encapsulation == Encapsulation::Geneve { "Geneve option" } else { "INT shim" };
    let mut starts = vec![named(shim, location.shim)];
    match location.header_type {
        HeaderType::Md if location.version.is_before_2() => starts.extend(of_hop_by_hop(packet, location)),
        HeaderType::Md => {
            starts.push(named("INT-MD header", location.header));
            let hops = Md::parse(packet, location, CodePoints::DEFAULT.domains)
                .map(|md| (md.stack.hop_count(), md.header.hop_ml().bytes()));
            let (count, hop_bytes) = hops.unwrap_or_default();
            let stack_at = location.header + md::HEADER_BYTES;
            starts.extend(
                (0..count).map(|index| (stack_at + index * hop_bytes, format!("Hop {}", count - index))),
            );
            let behind = stack_at + count * hop_bytes;
            if behind < location.end {
                starts.push(named("Source-only metadata", behind));
            }
        }
        HeaderType::Mx => {
            starts.push(named("INT-MX header", location.header));
            let inserted = location.header + mx::HEADER_BYTES;
            if inserted < location.end {
                starts.push(named("Source-inserted metadata", inserted));
            }
        }
        HeaderType::Destination => starts.push(named("Destination header", location.header)),
    }
    starts
}

fn of_hop_by_hop(packet: &[u8], location: &Location) -> Vec<(usize, String)> {
    let mut starts = vec![(location.header, "Hop-by-hop header".to_owned())];
    let Ok(int) = HopByHop::parse(packet, location) else { return starts };
    let (count, hop_bytes) = (int.hop_count(), int.hop_ml.bytes());
    let stack_at = location.header + HEADER_BYTES;
    starts.extend((0..count).map(|index| (stack_at + index * hop_bytes, format!("Hop {}", count - index))));
    let mut behind = stack_at + count * hop_bytes;
    if int.sequence.is_some() {
        starts.push((behind, "Sequence number".to_owned()));
        behind += SEQUENCE_BYTES;
    }
    if int.tail.is_some() {
        starts.push((behind, "Tail".to_owned()));
    }
    starts
}

fn of_reports(packet: &[u8], at: usize) -> Vec<(usize, String)> {
    let payload = packet.get(at..).unwrap_or_default();
    let group = match AnyReport::parse(payload) {
        Ok(AnyReport::Group(group)) => group,
        Ok(AnyReport::Single(report)) => {
            let header = format!("Report {}", report.version.name());
            return vec![(at, header), (at + report.packet_at, "Reported packet".to_owned())];
        }
        Err(_) => return vec![(at, "Report".to_owned())],
    };
    let mut starts = vec![(at, "Report group header".to_owned())];
    for (number, report) in (1..).zip(group.reports().flatten()) {
        starts.push((at + report.at, format!("Individual report {number}")));
        if !report.inner().is_empty() {
            starts.push((at + report.inner_at(), format!("Inner contents {number}")));
        }
    }
    starts.push((at + group::HEADER_BYTES, "Reports".to_owned()));
    starts
}

const REPORT_PORT: u16 = 32766;
