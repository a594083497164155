//! The fields of the drop header.

use zerocopy::{FromBytes, IntoBytes};

use crate::int::metadata::Interfaces;

use super::DropHeader;

#[test]
fn a_drop_header_is_written_as_it_is_drawn() {
    // report-0.5/local-01
    let interfaces = Interfaces { ingress: 0x0102, egress: 0x0304 };
    let header = DropHeader::new(0x0a0b_0c0d, Some(interfaces), 5, 71);
    assert_eq!(header.as_bytes(), [0x0a, 0x0b, 0x0c, 0x0d, 1, 2, 3, 4, 5, 71, 0, 0]);
    assert_eq!((header.node_id(), header.interfaces()), (0x0a0b_0c0d, Some(interfaces)));
    let unknown = DropHeader::new(1, None, 0, 0);
    assert_eq!((&unknown.as_bytes()[4..8], unknown.interfaces()), (&[0xff; 4][..], None));
}

#[test]
fn one_known_interface_is_enough() {
    let header = DropHeader::read_from_bytes(&[0, 0, 0, 1, 0, 1, 0xff, 0xff, 0, 0, 0xaa, 0xbb]).unwrap();
    assert_eq!(header.interfaces(), Some(Interfaces { ingress: 1, egress: u16::MAX }));
}
