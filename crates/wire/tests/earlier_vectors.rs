//! Whole packets of the versions before 2.0 are read as their builders labelled them.

use inband_testkit::hex;
use inband_wire::int::earlier::{HopByHop, HopCounts};
use inband_wire::int::{
    AnyHeader, CodePoints, Deviations, Encapsulation, HeaderType, Location, Original, Queue, Version,
};
use inband_wire::{Dissection, Layers, Link, Strictness, dissect};

macro_rules! vector {
    ($name:literal) => {
        hex(include_str!(concat!("../../../testdata/packets/", $name, ".hex")))
    };
}

fn read(frame: &[u8]) -> Dissection {
    let found = dissect(Link::Ethernet, frame, &CodePoints::DEFAULT, Strictness::Whole);
    assert_eq!(found.error, None);
    found
}

fn places(found: &Dissection) -> Vec<Location> {
    found.int().map(|(_, location)| *location).collect()
}

fn only(frame: &[u8]) -> Location {
    let places = places(&read(frame));
    assert_eq!(places.len(), 1);
    places[0]
}

fn hop_by_hop<'a>(frame: &'a [u8], location: &Location) -> HopByHop<'a> {
    match AnyHeader::parse(frame, location, &[]).expect("the vector is valid") {
        AnyHeader::HopByHop(int) => int,
        other => panic!("{other:?}"),
    }
}

/// Node id, queue and occupancy of every hop.
fn queues(int: &HopByHop<'_>) -> Vec<(u32, u8, u32)> {
    let of = |hop: inband_wire::int::HopMetadata| {
        let Queue { id, occupancy } = hop.queue.expect("the bitmap asks for it");
        (hop.node_id.unwrap_or_default(), id, occupancy)
    };
    int.hops().map(|hop| of(hop.metadata().hop)).collect()
}

const SPEC_HOPS: [(u32, u8, u32); 3] =
    [(0x3333_3333, 2, 0xaa), (0x2222_2222, 3, 0x102), (0x1111_1111, 1, 0x203)];

fn place(
    encapsulation: Encapsulation,
    header_type: HeaderType,
    version: Version,
    shim: usize,
    end: usize,
) -> Location {
    Location {
        encapsulation,
        header_type,
        version,
        deviations: Deviations::NONE,
        shim,
        header: shim + 4,
        end,
    }
}

#[test]
fn int_1_0_behind_tcp() {
    let frame = vector!("int-1.0-tcp-dscp17-hbh");
    let location = only(&frame);
    assert_eq!(location, place(Encapsulation::Dscp, HeaderType::Md, Version::V1_0, 54, 82));
    let int = hop_by_hop(&frame, &location);
    assert_eq!((queues(&int), int.hop_counts), (SPEC_HOPS[1..].to_vec(), HopCounts::Remaining(6)));
    assert_eq!((int.mtu_exceeded, int.max_hop_count_exceeded), (Some(false), false));
    assert_eq!(Original::read(&frame, &location), Original { dscp: Some(0), ..Original::default() });
    assert_eq!(read(&frame).flow.unwrap().destination_port, 80);
}

#[test]
fn int_1_0_in_vxlan_gpe_and_geneve() {
    for (frame, encapsulation) in [
        (vector!("int-1.0-vxlan-gpe-hbh"), Encapsulation::VxlanGpe),
        (vector!("int-1.0-geneve-hbh"), Encapsulation::Geneve),
    ] {
        let location = only(&frame);
        assert_eq!(location, place(encapsulation, HeaderType::Md, Version::V1_0, 50, 86));
        let int = hop_by_hop(&frame, &location);
        assert_eq!((queues(&int), int.hop_counts), (SPEC_HOPS.to_vec(), HopCounts::Remaining(5)));
        assert_eq!(read(&frame).flow.unwrap().destination_port, 4321, "the inner packet's flow");
    }
}

#[test]
fn int_0_5_behind_tcp_has_a_tail() {
    let frame = vector!("int-0.5-tcp-dscp17-hbh");
    let location = only(&frame);
    assert_eq!(location, place(Encapsulation::Dscp, HeaderType::Md, Version::V0_5, 54, 86));
    let int = hop_by_hop(&frame, &location);
    assert_eq!(queues(&int), SPEC_HOPS[1..]);
    assert_eq!((int.hop_counts, int.mtu_exceeded), (HopCounts::Total { most: 16, total: 2 }, None));
    let tail = int.tail.unwrap();
    assert_eq!((tail.protocol, tail.destination_port(), tail.dscp()), (6, 22, Some(0)));
    let original =
        Original { dscp: Some(0), destination_port: Some(22), ip_protocol: Some(6), ..Original::default() };
    assert_eq!(Original::read(&frame, &location), original);
}

#[test]
fn int_0_5_in_tunnels_is_followed_by_a_destination_header() {
    for (frame, encapsulation) in [
        (vector!("int-0.5-vxlan-gpe-hbh-plus-dest"), Encapsulation::VxlanGpe),
        (vector!("int-0.5-geneve-hbh-plus-dest"), Encapsulation::Geneve),
    ] {
        let places = places(&read(&frame));
        let expected = [
            place(encapsulation, HeaderType::Md, Version::V0_5, 50, 86),
            place(encapsulation, HeaderType::Destination, Version::V0_5, 86, 110),
        ];
        assert_eq!(places, expected);
        let int = hop_by_hop(&frame, &places[0]);
        assert_eq!((queues(&int), int.tail), (SPEC_HOPS.to_vec(), None));
        assert!(matches!(AnyHeader::parse(&frame, &places[1], &[]), Ok(AnyHeader::Destination(data))
            if data == &frame[90..110]));
        assert_eq!(read(&frame).flow.unwrap().destination_port, 4321);
    }
}

#[test]
fn int_2016_before_and_behind_its_first_hop() {
    let frame = vector!("int-2016-transit-1hop-in");
    let location = only(&frame);
    assert_eq!(location, place(Encapsulation::VxlanGpe, HeaderType::Md, Version::V2016, 50, 62));
    let int = hop_by_hop(&frame, &location);
    assert_eq!((int.hop_count(), int.hop_counts), (0, HopCounts::Total { most: 32, total: 0 }));

    let frame = vector!("int-2016-transit-1hop-out");
    let location = only(&frame);
    assert_eq!(location, place(Encapsulation::VxlanGpe, HeaderType::Md, Version::V2016, 50, 66));
    let int = hop_by_hop(&frame, &location);
    assert_eq!(int.hops().map(|hop| hop.metadata().hop.node_id).collect::<Vec<_>>(), [Some(0x1111_1111)]);
    assert_eq!((int.remaining_hop_count(), read(&frame).flow.unwrap().destination_port), (31, 80));
}

#[test]
fn two_headers_of_2016_follow_one_another() {
    let frame = vector!("int-2016-two-int-headers-vxlan");
    let places = places(&read(&frame));
    let expected = [
        place(Encapsulation::VxlanGpe, HeaderType::Md, Version::V2016, 50, 86),
        place(Encapsulation::VxlanGpe, HeaderType::Md, Version::V2016, 86, 122),
    ];
    assert_eq!(places, expected);
    let first = queues(&hop_by_hop(&frame, &places[0]));
    assert_eq!(first, [(0x3003, 0, 0x62), (0x3002, 0, 0x280), (0x3001, 0, 0x505)]);
    let second = hop_by_hop(&frame, &places[1]);
    let timestamps: Vec<_> = second.hops().map(|hop| hop.metadata().hop.ingress_timestamp).collect();
    assert_eq!(timestamps, [Some(0x0010_d012), Some(0x0010_e010), Some(0x0010_e21a)]);
}

#[test]
fn host_int_is_found_by_its_dscp_bit_and_its_shape() {
    for (frame, shim) in
        [(vector!("host-int-over-tcp-udp-udp"), 42), (vector!("host-int-over-tcp-udp-tcp"), 54)]
    {
        let location = only(&frame);
        assert_eq!(
            location,
            place(Encapsulation::Dscp, HeaderType::Md, Version::HostInt0_5, shim, shim + 36)
        );
        assert_host_int_source(&frame, &location);
        assert_eq!(Original::read(&frame, &location), Original::default());
        let flow = read(&frame).flow.unwrap();
        assert_eq!((flow.source_port, flow.destination_port), (40001, 5001));
    }
}

#[test]
fn a_timestamp_of_host_int_is_no_destination_header() {
    let mut frame = vector!("host-int-over-tcp-udp-tcp").to_vec();
    // The mark of 2.1, and options up to the ingress timestamp, which starts like a shim.
    frame[15] = 0x17 << 2;
    frame[34 + 12] = 0xa0;
    frame[74..76].copy_from_slice(&[0x27, 2]);
    let location = only(&frame);
    assert_eq!(location, place(Encapsulation::Dscp, HeaderType::Md, Version::HostInt0_5, 54, 90));
}

#[test]
fn host_int_behind_a_new_udp_header_gives_the_flow_behind_it() {
    for (frame, protocol) in
        [(vector!("host-int-extension-udp-udp"), 17), (vector!("host-int-extension-udp-tcp"), 6)]
    {
        let location = only(&frame);
        assert_eq!(location, place(Encapsulation::Udp, HeaderType::Md, Version::HostInt0_5, 42, 78));
        assert_host_int_source(&frame, &location);
        let original = Original { ip_protocol: Some(protocol), ..Original::default() };
        assert_eq!(Original::read(&frame, &location), original);
        let flow = read(&frame).flow.unwrap();
        assert_eq!((flow.protocol, flow.source_port, flow.destination_port), (protocol, 40001, 5001));
    }
}

fn assert_host_int_source(frame: &[u8], location: &Location) {
    let int = hop_by_hop(frame, location);
    assert_eq!((int.sequence, int.hop_count()), (Some(1), 1));
    assert_eq!((int.tail.is_some(), int.hop_counts), (true, HopCounts::Total { most: 2, total: 1 }));
    let hop = int.hops().next().expect("a source adds its hop").metadata().hop;
    assert_eq!((hop.node_id, hop.interfaces.map(|ids| (ids.ingress, ids.egress))), (Some(2), Some((4, 4))));
    assert_eq!((hop.ingress_timestamp, hop.egress_timestamp), (Some(0x5968_2f00), Some(0x5968_2f00)));
}

#[test]
fn any_header_speaks_for_all_versions() {
    let all = [
        (vector!("int-2.1-tcp-dscp17-md"), 2, Some(6)),
        (vector!("int-1.0-tcp-dscp17-hbh"), 2, Some(6)),
        (vector!("int-0.5-tcp-dscp17-hbh"), 2, Some(14)),
        (vector!("int-2016-two-int-headers-vxlan"), 3, Some(13)),
        (vector!("host-int-over-tcp-udp-tcp"), 1, Some(1)),
    ];
    for (frame, hops, remaining) in all {
        let found = read(&frame);
        let (_, location) = found.int().next().unwrap();
        let header = AnyHeader::parse(&frame, location, &[]).unwrap();
        assert_eq!((header.hops().count(), header.hop_count()), (hops, hops), "{location:?}");
        assert!(header.hops().all(|hop| hop.metadata().node_id.is_some()));
        assert_eq!((header.remaining_hop_count(), header.max_hop_count_exceeded()), (remaining, Some(false)));
    }
}

#[test]
fn every_cut_of_every_vector_is_an_error_or_fewer_hops() {
    let all = [
        vector!("int-1.0-tcp-dscp17-hbh"),
        vector!("int-1.0-vxlan-gpe-hbh"),
        vector!("int-1.0-geneve-hbh"),
        vector!("int-0.5-tcp-dscp17-hbh"),
        vector!("int-0.5-vxlan-gpe-hbh-plus-dest"),
        vector!("int-0.5-geneve-hbh-plus-dest"),
        vector!("int-2016-transit-1hop-in"),
        vector!("int-2016-transit-1hop-out"),
        vector!("int-2016-two-int-headers-vxlan"),
        vector!("host-int-over-tcp-udp-udp"),
        vector!("host-int-over-tcp-udp-tcp"),
        vector!("host-int-extension-udp-udp"),
        vector!("host-int-extension-udp-tcp"),
    ];
    for frame in all {
        let whole = hops(&frame, Strictness::Whole).unwrap();
        let mut before = 0;
        for cut in 0..frame.len() {
            if let Some(hops) = hops(&frame[..cut], Strictness::Truncated) {
                assert!(hops >= before && hops <= whole, "{hops} hops in {cut} bytes");
                before = hops;
            }
        }
        assert_eq!(before, whole);
    }
}

/// Number of visible hops in all headers; `None` when the packet cannot be read.
fn hops(frame: &[u8], strictness: Strictness) -> Option<usize> {
    let found = dissect(Link::Ethernet, frame, &CodePoints::DEFAULT, strictness);
    let visible = |(_, location): (&Layers, &Location)| {
        Some(AnyHeader::parse(frame, location, &[]).ok()?.hops().count())
    };
    found.int().map(visible).sum()
}
