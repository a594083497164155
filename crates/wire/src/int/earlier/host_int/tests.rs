//! Only the bytes of a Host-INT source have its shape.

use inband_testkit::host_int;
use zerocopy::IntoBytes;

use super::{INSERTED_BYTES, is_source_shape, source_header};

#[test]
fn a_source_inserts_36_bytes_of_which_12_never_change() {
    // host-int-0.5/packet-05, host-int-0.5/packet-09
    let bytes = host_int().bytes();
    assert_eq!((bytes.len(), INSERTED_BYTES), (36, 36));
    assert_eq!(bytes[..12], [3, 0, 9, 0, 0, 4, 2, 1, 0xcc, 0, 0, 0]);
    assert_eq!(bytes[4..12], *source_header().as_bytes());
    assert!(is_source_shape(&bytes, 0));
}

#[test]
fn another_value_in_any_of_them_is_another_shape() {
    // host-int-0.5/packet-12: the second and fourth byte of the shim, three bits before Instruction Count,
    // and the last two bytes of the metadata header may be anything. C and E are flags, and a source may
    // allow more hops.
    for at in 0..12 {
        for value in 0..=u8::MAX {
            let mut bytes = host_int().bytes();
            let changed = bytes[at] != value;
            bytes[at] = value;
            let is_reserved = matches!(at, 1 | 3 | 10 | 11) || at == 5 && value & 0x1f == 4;
            let may_change = is_reserved || at == 4 && value <= 3 || at == 6 && value >= 1;
            assert_eq!(is_source_shape(&bytes, 0), !changed || may_change, "byte {at} is {value:#04x}");
        }
    }
}

#[test]
fn bytes_that_end_early_have_no_shape() {
    let bytes = host_int().bytes();
    for cut in 0..12 {
        assert!(!is_source_shape(&bytes[..cut], 0));
    }
    assert!(!is_source_shape(&bytes, usize::MAX - 4));
}
