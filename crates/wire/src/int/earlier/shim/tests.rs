//! Shims of the versions before 2.0: every type, and the meaning of the fourth byte in each.

use zerocopy::{FromBytes, IntoBytes};

use crate::int::location::HeaderType;
use crate::words::Words;

use super::{HOST_INT, Shim};

#[test]
fn types_1_2_and_3_are_the_only_ones() {
    for kind in 0..=u8::MAX {
        let shim = Shim::read_from_bytes(&[kind, 0, 3, 0]).unwrap();
        let expected = match kind {
            1 | 3 => Some(HeaderType::Md),
            2 => Some(HeaderType::Destination),
            _ => None,
        };
        assert_eq!((shim.header_type(), shim.kind()), (expected, kind));
    }
}

#[test]
fn every_shim_is_written_as_it_is_drawn() {
    // int-0.5/l4-01, int-1.0/l4-01
    // int-2016/vxlan-03
    assert_eq!(Shim::with_dscp(1, Words::new(7), 0x2e).as_bytes(), [1, 0, 7, 0xb8]);
    assert_eq!(Shim::with_dscp(1, Words::new(7), 0xff).as_bytes(), [1, 0, 7, 0xfc], "6 bits are kept");
    assert_eq!(Shim::with_tail(HOST_INT, Words::new(9)).as_bytes(), [3, 0, 9, 0]);
    assert_eq!(Shim::vxlan_gpe(2, Words::MAX, 5).as_bytes(), [2, 0, 255, 5]);
}

#[test]
fn what_is_set_is_read() {
    let mut shim = Shim::vxlan_gpe(1, Words::new(3), 3);
    shim.set_length(Words::new(9));
    shim.set_next_protocol(5);
    shim.set_kind(2);
    assert_eq!(shim.as_bytes(), [2, 0, 9, 5]);
    assert_eq!((shim.length(), shim.next_protocol(), shim.original_dscp()), (Words::new(9), 5, 1));
    assert_eq!(Shim::with_dscp(1, Words::new(3), 0x2e).original_dscp(), 0x2e);
}
