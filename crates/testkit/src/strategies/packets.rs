//! Arbitrary packets of hosts, INT packets and reports.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::payload;
use crate::int::{Int, IntFrame, int_md, int_mx, md_frame, words_of};
use crate::oracle;
use crate::packet::{Checksum, Packet, packet};
use crate::report::{Individual, ReportGroup, inner_only, int_report, report_group};

/// Destination ports with a meaning to some header, and any other.
pub const ARBITRARY_PORTS: [u16; 6] = [80, 4789, 4790, 6081, 32766, 33122];

/// Packets as hosts send them: IPv4 and IPv6, options and extension headers, VLAN tags, every fragment, TCP,
/// UDP and other protocols, payloads of 0 to `most` bytes, correct, wrong and missing checksums, Ethernet
/// padding.
///
/// What follows the L4 header never looks like an INT shim.
pub fn ip_packet(most: usize) -> impl Strategy<Value = Packet> {
    let link = vec((prop_oneof![Just(0x8100_u16), Just(0x88a8)], any::<u16>()), 0..3);
    (link, ip(), l4(), checksum(), payload(most), padding()).prop_map(
        |(tags, ip, l4, checksum, payload, padding)| {
            let tagged = tags.into_iter().fold(packet(), |packet, (kind, id)| packet.tag(kind, id));
            let (l4, tunnel) = l4;
            let behind = not_int([tunnel, payload].concat());
            l4.apply(ip.apply(tagged)).checksum(checksum).payload(&behind).padding(&padding)
        },
    )
}

/// Packets as tunnel endpoints send them: one or two tunnels around a packet of a host.
pub fn nested_packet(most: usize) -> impl Strategy<Value = Packet> {
    ip_packet(most).prop_flat_map(
        |inner| prop_oneof![3 => around(inner.clone()), 1 => around(inner).prop_flat_map(around)],
    )
}

/// A tunnel around a packet: VXLAN, VXLAN-GPE, Geneve, GRE with its optional fields, GTP-U, or IP in IP.
fn around(inner: Packet) -> impl Strategy<Value = Packet> {
    let options = vec((any::<u16>(), any::<u8>(), vec(any::<[u8; 4]>(), 0..3)), 0..3);
    (0..8_u8, ip(), checksum(), options).prop_map(move |(kind, ip, checksum, options)| {
        let bare = inner.clone().untagged().without_ethernet().unpadded().build();
        let framed = inner.clone().unpadded().build();
        let is_v4 = bare.first().is_some_and(|first| first >> 4 == 4);
        let (l4, payload) = match kind {
            0 | 1 => (L4::Udp(7, 4789), [&[8, 0, 0, 0, 0, 0, 9, 0][..], &framed].concat()),
            2 => (L4::Udp(7, 4790), [&[12, 0, 0, if is_v4 { 1 } else { 2 }, 0, 0, 9, 0][..], &bare].concat()),
            3 => (L4::Udp(7, 6081), [geneve(&options), framed].concat()),
            4 => (
                L4::Raw(47),
                [&[0, 0][..], if is_v4 { &[0x08, 0x00] } else { &[0x86, 0xdd] }, &bare].concat(),
            ),
            5 => (L4::Raw(47), gre_with_checksum(&framed)),
            6 => {
                let length = u16::try_from(bare.len()).unwrap_or_default().to_be_bytes();
                (L4::Udp(7, 2152), [&[0x30, 255, length[0], length[1], 0, 0, 0, 5][..], &bare].concat())
            }
            _ => (L4::Raw(if is_v4 { 4 } else { 41 }), bare),
        };
        let whole = Ip { fragment: None, ..ip };
        l4.apply(whole.apply(packet())).checksum(checksum).payload(&payload)
    })
}

fn gre_with_checksum(framed: &[u8]) -> Vec<u8> {
    let mut gre = [&[0xb0, 0, 0x65, 0x58, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9][..], framed].concat();
    let checksum = oracle::checksum(&[&gre]).to_be_bytes();
    gre[4..6].copy_from_slice(&checksum);
    gre
}

/// Types of INT are 1 to 3, in the upper half of the first byte after the L4 header.
fn not_int(mut payload: Vec<u8>) -> Vec<u8> {
    if let Some(first) = payload.first_mut().filter(|first| (0x10..0x40).contains(*first)) {
        *first |= 0x40;
    }
    payload
}

#[derive(Clone, Debug)]
struct Ip {
    v6: bool,
    dscp: u8,
    ecn: u8,
    options: Vec<u8>,
    checksum: Checksum,
    extensions: Vec<(u8, Vec<u8>)>,
    fragment: Option<(u16, bool)>,
}

impl Ip {
    fn apply(self, packet: Packet) -> Packet {
        let packet = packet.dscp(self.dscp).ecn(self.ecn).ip_checksum(self.checksum);
        let packet = match self.fragment {
            Some((offset, more)) => packet.fragment(offset, more),
            None => packet,
        };
        if !self.v6 {
            return packet.ipv4().options(&self.options);
        }
        self.extensions.iter().fold(packet.ipv6(), |packet, (kind, body)| packet.extension(*kind, body))
    }
}

fn ip() -> impl Strategy<Value = Ip> {
    let options = prop_oneof![2 => Just(Vec::new()), 1 => vec(any::<u8>(), 0..=40)];
    let extension = (prop_oneof![Just(0_u8), Just(60), Just(43)], vec(any::<u8>(), 0..=30));
    let extensions = prop_oneof![2 => Just(Vec::new()), 1 => vec(extension, 1..=3)];
    let fragment = prop_oneof![
        6 => Just(None),
        1 => Just(Some((0, true))),
        1 => Just(Some((0, false))),
        1 => (1..8000_u16, any::<bool>()).prop_map(Some),
    ];
    let checksum = prop_oneof![8 => Just(Checksum::Right), 1 => checksum()];
    (any::<bool>(), 0..64_u8, 0..4_u8, options, checksum, extensions, fragment).prop_map(
        |(v6, dscp, ecn, options, checksum, extensions, fragment)| Ip {
            v6,
            dscp,
            ecn,
            options,
            checksum,
            extensions,
            fragment,
        },
    )
}

#[derive(Clone, Debug)]
enum L4 {
    Tcp(u16, u16, Vec<u8>),
    Udp(u16, u16),
    Raw(u8),
}

impl L4 {
    fn apply(self, packet: Packet) -> Packet {
        match self {
            Self::Tcp(source, destination, options) => packet.tcp(source, destination).options(&options),
            Self::Udp(source, destination) => packet.udp(source, destination),
            Self::Raw(protocol) => packet.protocol(protocol),
        }
    }
}

/// The L4 header, and a tunnel header after it.
fn l4() -> impl Strategy<Value = (L4, Vec<u8>)> {
    let port = || prop_oneof![2 => any::<u16>(), 1 => proptest::sample::select(&ARBITRARY_PORTS[..])];
    let options = prop_oneof![2 => Just(Vec::new()), 1 => vec(any::<u8>(), 0..=40).prop_map(not_int)];
    // Protocols without headers this project reads; TCP, UDP, GRE and IP in IP need a header, not a payload.
    let other = prop_oneof![Just(1), Just(50), Just(51), Just(59), Just(132), Just(253)];
    prop_oneof![
        4 => (any::<u16>(), port(), options)
            .prop_map(|(source, to, options)| (L4::Tcp(source, to, options), Vec::new())),
        4 => (any::<u16>(), port()).prop_map(|(source, to)| (L4::Udp(source, to), Vec::new())),
        1 => other.prop_map(|protocol| (L4::Raw(protocol), Vec::new())),
        3 => tunnel(),
    ]
}

/// Headers of VXLAN, VXLAN-GPE, Geneve and GRE with arbitrary fields.
fn tunnel() -> impl Strategy<Value = (L4, Vec<u8>)> {
    let vni = any::<[u8; 3]>;
    let gpe = (prop_oneof![Just(1_u8), Just(3), any::<u8>()], vni());
    let options = vec((any::<u16>(), any::<u8>(), vec(any::<[u8; 4]>(), 0..3)), 0..3);
    let gre = (
        any::<u8>(),
        prop_oneof![Just([0x08, 0x00]), Just([0x65, 0x58]), any::<[u8; 2]>()],
        vec(any::<u8>(), 12),
    );
    prop_oneof![
        vni().prop_map(|[a, b, c]| (L4::Udp(7, 4789), vec![8, 0, 0, 0, a, b, c, 0])),
        gpe.prop_map(|(next, [a, b, c])| (L4::Udp(7, 4790), vec![12, 0, 0, next, a, b, c, 0])),
        options.prop_map(|options| (L4::Udp(7, 6081), geneve(&options))),
        gre.prop_map(|(flags, protocol, optional)| {
            (L4::Raw(47), [&[flags & 0xb0, 0][..], &protocol, &optional].concat())
        }),
    ]
}

/// A Geneve header with options of class, type and data.
fn geneve(options: &[(u16, u8, Vec<[u8; 4]>)]) -> Vec<u8> {
    let length = |words: usize| u8::try_from(words).expect("a few words");
    let option = |(class, kind, data): &(u16, u8, Vec<[u8; 4]>)| {
        [&class.to_be_bytes()[..], &[*kind, length(data.len())], &data.concat()].concat()
    };
    let options = options.iter().flat_map(option).collect::<Vec<u8>>();
    [&[length(options.len() / 4), 0, 0x65, 0x58, 0, 0, 7, 0][..], &options].concat()
}

/// Mostly correct checksums; wrong ones, and the special values 0 and 0xffff.
fn checksum() -> impl Strategy<Value = Checksum> {
    prop_oneof![
        6 => Just(Checksum::Right),
        2 => any::<u16>().prop_map(Checksum::WrongBy),
        1 => Just(Checksum::Field(0)),
        1 => Just(Checksum::Field(0xffff)),
    ]
}

fn padding() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => Just(Vec::new()), 1 => vec(any::<u8>(), 0..46)]
}

/// Frames with INT-MD or INT-MX behind TCP or UDP, marked by DSCP 0x17; whole stacks of 0 to 8 hops.
pub fn int_packet() -> impl Strategy<Value = IntFrame> {
    let carrier =
        prop_oneof![Just(packet().tcp(1, 2)), Just(packet().ipv6().udp(1, 2)), Just(packet().udp(1, 2))];
    (carrier, int(), payload(64))
        .prop_map(|(carrier, int, payload)| md_frame().over(carrier).with(|_| int).payload(&payload))
}

fn int() -> impl Strategy<Value = Int> {
    let md =
        (any::<u16>(), 0..16_u8, any::<u8>(), 0..=8_usize).prop_flat_map(|(bitmap, flags, left, hops)| {
            let words = usize::from(words_of(bitmap)) * hops;
            vec(any::<u32>(), words.min(252)).prop_map(move |stack| {
                let whole = if usize::from(words_of(bitmap)) * hops > 252 { Vec::new() } else { stack };
                int_md().bitmap(bitmap).flags(flags & 0x0e).remaining_hop_count(left).words(&whole)
            })
        });
    let mx =
        (any::<u16>(), option::of(vec(any::<u32>(), 0..9))).prop_map(|(bitmap, inserted)| match inserted {
            Some(words) => int_mx().bitmap(bitmap).domain(0x5454, 0x0040, 0).words(&words),
            None => int_mx().bitmap(bitmap),
        });
    prop_oneof![2 => md, 1 => mx]
}

/// Datagrams of 1 to 4 reports that follow the format strictly.
pub fn report_datagram() -> impl Strategy<Value = ReportGroup> {
    (0..64_u8, 0..1_u32 << 22, any::<u32>(), vec(individual(), 1..=4)).prop_map(
        |(hw_id, sequence, node_id, reports)| {
            let group = report_group(node_id).hw_id(hw_id).sequence(sequence);
            reports.into_iter().fold(group, ReportGroup::with)
        },
    )
}

fn individual() -> impl Strategy<Value = Individual> {
    let inner = (0..6_u8, vec(any::<[u8; 4]>(), 0..20)).prop_map(|(kind, words)| match kind {
        0 | 1 => (0, Vec::new()),
        kind => (kind, words.concat()),
    });
    let int = (any::<u16>(), any::<u8>(), vec(any::<u32>(), 19), inner.clone()).prop_map(
        |(bits, flags, words, (kind, inner))| {
            let bits = bits & 0x7fff;
            int_report(bits).words(&words[..usize::from(words_of(bits))]).flags(flags).inner(kind, &inner)
        },
    );
    let only =
        (any::<u8>(), inner).prop_map(|(flags, (kind, inner))| inner_only().flags(flags).inner(kind, &inner));
    prop_oneof![3 => int, 1 => only]
}
