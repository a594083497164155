//! The parts of one hop.

use inband_testkit::int_md;

use crate::int::dialect::Deviations;
use crate::int::locate::{Encapsulation, HeaderType, Location};
use crate::int::md::Md;
use crate::int::version::Version;

fn with_md(words: &[u32], bitmap: u16, hop_ml: u8, domain: u16, check: impl FnOnce(Md<'_>)) {
    let bytes = int_md().bitmap(bitmap).domain(domain, 0x8000, 0).hop_ml(hop_ml).words(words).bytes();
    let (encapsulation, header_type) = (Encapsulation::Dscp, HeaderType::Md);
    let location = Location {
        encapsulation,
        header_type,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end: bytes.len(),
    };
    check(Md::parse(&bytes, &location, &[]).unwrap());
}

#[test]
fn domain_specific_metadata_stands_between_baseline_and_checksum_complement() {
    // int-2.1/md-16, int-2.1/md-23, int-2.1/checksum-05
    with_md(&[7, 0xd0, 0xd1, 0x0000_beef], 0x8001, 4, 9, |md| {
        let hop = md.stack.hops().next().unwrap();
        assert_eq!(hop.metadata().node_id, Some(7));
        assert_eq!(hop.domain(), [0, 0, 0, 0xd0, 0, 0, 0, 0xd1]);
        assert_eq!(hop.metadata().checksum_complement, Some(0xbeef));
    });
}

#[test]
fn a_complement_of_all_ones_was_not_used() {
    // int-2.1/checksum-06
    with_md(&[7, u32::MAX], 0x8001, 2, 0, |md| {
        let hop = md.stack.hops().next().unwrap();
        assert_eq!(hop.metadata().checksum_complement, None);
        assert!(hop.domain().is_empty());
    });
}

#[test]
fn reserved_instructions_are_a_word_each_with_their_bit() {
    // int-2.1/md-25
    with_md(&[7, 1, u32::MAX, 3, 0xcc], 0x804b, 5, 0, |md| {
        let hop = md.stack.hops().next().unwrap();
        assert!(hop.reserved().eq([(9, Some(1)), (12, None), (14, Some(3))]));
        assert_eq!(hop.metadata().node_id, Some(7));
        assert_eq!(hop.metadata().checksum_complement, Some(0xcc));
        assert_eq!(hop.instructions().0, 0x804b);
    });
}

#[test]
fn source_only_metadata_ends_with_the_visible_bytes() {
    let bytes = int_md().bitmap(0x8000).domain(9, 1, 0).hop_ml(2).words(&[1, 2, 3]).bytes();
    let (encapsulation, header_type) = (Encapsulation::Dscp, HeaderType::Md);
    let location = Location {
        encapsulation,
        header_type,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end: bytes.len(),
    };
    for cut in 0..=4 {
        let md = Md::parse(&bytes[..bytes.len() - cut], &location, &[]).unwrap();
        assert_eq!((md.stack.source_only().len(), md.stack.is_cut()), (4 - cut, false));
    }
}
