//! Every instruction bit of every layout, values that are not available, and values that do not fit.

use std::vec::Vec;

use proptest::prelude::*;

use crate::int::dialect::Dialect;
use crate::int::earlier::layout::Layout;
use crate::int::metadata::{HopMetadata, Interfaces, Queue};
use crate::int::version::Version;

use super::{Metadata, QueueCongestion, set_bottom_of_stack};

const ALL: [Layout; 3] = [Layout::V1_0, Layout::V0_5, Layout::V2016];

const GEANT: [Layout; 2] = [
    Layout::of_dialect(Version::V1_0, Dialect::Geant.deviations(Version::V1_0)).unwrap(),
    Layout::of_dialect(Version::V0_5, Dialect::Geant.deviations(Version::V0_5)).unwrap(),
];

fn full() -> Metadata {
    Metadata {
        hop: HopMetadata {
            node_id: Some(0x0102_0304),
            interfaces: Some(Interfaces { ingress: 0x1112, egress: 0x1314 }),
            hop_latency: Some(0x2122_2324),
            queue: Some(Queue { id: 0x31, occupancy: 0x32_3334 }),
            ingress_timestamp: Some(0x4142_4344),
            egress_timestamp: Some(0x5152_5354),
            ingress_interface_level2: Some(0x6162_6364),
            egress_interface_level2: Some(0x6566_6768),
            egress_utilization: Some(0x7172_7374),
            checksum_complement: Some(0x1516),
            ..HopMetadata::default()
        },
        ingress_port: Some(0x1a1b_1c1d),
        egress_port: Some(0x5a5b_5c5d),
        queue_congestion: Some(QueueCongestion { queue_id: Some(0x66), status: 0x67_6869 }),
    }
}

fn written(metadata: &Metadata, layout: Layout, bitmap: u16) -> Vec<u8> {
    let mut out = [0xa5; 80];
    let length = metadata.write(layout, bitmap, &mut out);
    assert!(out[length..].iter().all(|byte| *byte == 0xa5));
    out[..length].to_vec()
}

#[test]
fn every_bit_has_its_own_place_in_every_layout() {
    // int-0.5/md-02, int-1.0/md-02, int-2016/md-02: each bit gives the value of its name, reserved bits none.
    let common = [(0, 0x0102_0304), (2, 0x2122_2324), (4, 0x4142_4344), (7, 0x7172_7374)];
    let of_1_0 = [(1, 0x1112_1314), (3, 0x3132_3334), (5, 0x5152_5354), (15, 0x1516), (8, 0xffff_ffff)];
    let of_0_5 = [(1, 0x1112_1314), (3, 0x3132_3334), (5, 0x5152_5354), (6, 0x6667_6869), (15, 0xffff_ffff)];
    let of_2016 = [(1, 0x1a1b_1c1d), (3, 0x0032_3334), (5, 0x5a5b_5c5d), (6, 0x0067_6869), (8, 0x7fff_ffff)];
    for (layout, own) in ALL.into_iter().zip([of_1_0, of_0_5, of_2016]) {
        for (bit, word) in common.into_iter().chain(own) {
            let bytes = written(&full(), layout, 0x8000 >> bit);
            assert_eq!(bytes, u32::to_be_bytes(word), "bit {bit} of {layout:?}");
        }
    }
    let level2 = written(&full(), Layout::V1_0, 0x0200);
    assert_eq!(level2, [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68]);
}

#[test]
fn what_is_not_available_is_all_ones() {
    // int-0.5/md-04, int-1.0/md-08
    // int-2016/md-04
    let none = Metadata::default();
    for bitmap in (0..16).map(|bit| 0x8000_u16 >> bit) {
        for layout in ALL {
            let bytes = written(&none, layout, bitmap);
            let first = if layout == Layout::V2016 { 0x7f } else { 0xff };
            assert_eq!((bytes[0], &bytes[1..4]), (first, &[0xff; 3][..]));
            assert_eq!(bytes.len(), layout.hop_words(bitmap).bytes());
            assert_eq!(Metadata::read(layout, bitmap, &bytes), none);
        }
    }
}

#[test]
fn geant_writes_whole_timestamps_and_both_level_2_ports_in_one_word() {
    let [geant, older] = GEANT;
    let time = [0, 0, 0, 7, 0x12, 0x34, 0x56, 0x78];
    let metadata = Metadata {
        hop: HopMetadata {
            ingress_timestamp: Some(0x0000_0007_1234_5678),
            egress_timestamp: Some(u64::MAX),
            ingress_interface_level2: Some(0x0102),
            egress_interface_level2: Some(0x0001_0000),
            ..HopMetadata::default()
        },
        ..Metadata::default()
    };
    for layout in [geant, older] {
        assert_eq!(written(&metadata, layout, 0x0800), time);
        assert_eq!(written(&metadata, layout, 0x0400), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(written(&Metadata::default(), layout, 0x0c00), [0xff; 16]);
    }
    let ports = written(&metadata, geant, 0x0200);
    assert_eq!(ports, [1, 2, 0xff, 0xff], "the second does not fit");
    let read = Metadata::read(geant, 0x0a00, &[&time[..], &ports].concat()).hop;
    assert_eq!(read.ingress_timestamp, metadata.hop.ingress_timestamp);
    assert_eq!((read.ingress_interface_level2, read.egress_interface_level2), (Some(0x0102), None));
}

#[test]
fn what_does_not_fit_is_the_most_or_not_available() {
    let metadata = Metadata {
        hop: HopMetadata {
            node_id: Some(0x8000_0000),
            hop_latency: Some(u32::MAX),
            queue: Some(Queue { id: 3, occupancy: u32::MAX }),
            ingress_timestamp: Some(0x0000_0007_ffff_ffff),
            egress_timestamp: Some(0x0000_0007_1234_5678),
            ..HopMetadata::default()
        },
        egress_port: Some(0x7fff_ffff),
        ..Metadata::default()
    };
    let words = |layout, bitmap| written(&metadata, layout, bitmap);
    assert_eq!(words(Layout::V1_0, 0xb800)[..8], [0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(words(Layout::V1_0, 0xb800)[8..], [3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(words(Layout::V0_5, 0x0400), [0x12, 0x34, 0x56, 0x78]);
    assert_eq!(words(Layout::V2016, 0xa000), [0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xfe]);
    assert_eq!(words(Layout::V2016, 0x1800), [0x7f, 0xff, 0xff, 0xfe, 0x7f, 0xff, 0xff, 0xfe]);
    assert_eq!(words(Layout::V2016, 0x0400), [0x7f, 0xff, 0xff, 0xff]);
}

#[test]
fn the_bottom_of_the_stack_is_its_last_word_and_no_part_of_a_value() {
    let mut stack = written(&full(), Layout::V2016, 0xa000);
    set_bottom_of_stack(&mut stack);
    assert_eq!(stack, [0x01, 0x02, 0x03, 0x04, 0xa1, 0x22, 0x23, 0x24]);
    let hop = Metadata::read(Layout::V2016, 0xa000, &stack).hop;
    assert_eq!((hop.node_id, hop.hop_latency), (Some(0x0102_0304), Some(0x2122_2324)));
    set_bottom_of_stack(&mut []);
}

#[test]
fn ports_of_2016_are_interfaces_where_both_are_known_and_fit() {
    let read = |ingress: u32, egress: u32| {
        let bytes = [ingress.to_be_bytes(), egress.to_be_bytes()].concat();
        Metadata::read(Layout::V2016, 0x4400, &bytes)
    };
    let both = read(3, 0x8000_0004);
    assert_eq!(both.hop.interfaces, Some(Interfaces { ingress: 3, egress: 4 }));
    assert_eq!((both.ingress_port, both.egress_port), (Some(3), Some(4)));
    assert_eq!(
        (read(3, 0x0001_0000).hop.interfaces, read(3, 0x0001_0000).egress_port),
        (None, Some(0x0001_0000))
    );
    assert_eq!(read(0x7fff_ffff, 4).hop.interfaces, None);
    assert_eq!(Metadata::from(both.hop), both);
}

#[test]
fn metadata_that_is_cut_gives_what_is_there() {
    let bytes = written(&full(), Layout::V1_0, 0xf000);
    let cut = Metadata::read(Layout::V1_0, 0xf000, &bytes[..11]).hop;
    assert_eq!((cut.node_id, cut.interfaces.is_some(), cut.hop_latency), (Some(0x0102_0304), true, None));
    let mut small = [0xa5; 6];
    assert_eq!((full().write(Layout::V0_5, 0xf000, &mut small), small[4..].to_vec()), (4, vec_of(0xa5, 2)));
}

fn vec_of(byte: u8, count: usize) -> Vec<u8> {
    std::vec![byte; count]
}

proptest! {
    #[test]
    fn any_hop_is_read_as_it_was_written(
        bitmap in any::<u16>(),
        bytes in prop::collection::vec(any::<u8>(), 72),
    ) {
        for layout in ALL.into_iter().chain(GEANT) {
            let length = layout.hop_words(bitmap).bytes();
            let metadata = Metadata::read(layout, bitmap, &bytes[..length]);
            let again = written(&metadata, layout, bitmap);
            prop_assert_eq!(again.len(), length);
            prop_assert_eq!(Metadata::read(layout, bitmap, &again), metadata);
        }
    }
}
