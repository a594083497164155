//! The fields of the switch-local header.

use zerocopy::IntoBytes;

use crate::int::metadata::{HopMetadata, Interfaces, Queue};

use super::{LocalHeader, low_32_bits};

#[test]
fn a_switch_local_header_is_written_as_it_is_drawn() {
    // report-0.5/local-02
    let metadata = HopMetadata {
        interfaces: Some(Interfaces { ingress: 0x0102, egress: 0x0304 }),
        queue: Some(Queue { id: 5, occupancy: 0x06_0708 }),
        egress_timestamp: Some(0x090a_0b0c),
        ..HopMetadata::default()
    };
    let header = LocalHeader::new(7, &metadata);
    assert_eq!(header.as_bytes(), [0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!((header.node_id(), header.metadata()), (7, metadata));
}

#[test]
fn what_is_not_available_is_all_ones() {
    let header = LocalHeader::new(7, &HopMetadata::default());
    assert_eq!(header.as_bytes()[4..], [0xff; 12]);
    assert_eq!(header.metadata(), HopMetadata::default());
}

#[test]
fn what_does_not_fit_is_cut() {
    // report-0.5/header-06
    let metadata = HopMetadata {
        queue: Some(Queue { id: 1, occupancy: 0x0100_0000 }),
        egress_timestamp: Some(0x0000_0001_0000_0002),
        ..HopMetadata::default()
    };
    let header = LocalHeader::new(7, &metadata);
    assert_eq!(header.as_bytes()[8..], [1, 0xff, 0xff, 0xff, 0, 0, 0, 2]);
    assert_eq!((low_32_bits(0xffff_ffff), low_32_bits(0xffff_fffe)), (0xffff_fffe, 0xffff_fffe));
}
