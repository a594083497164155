//! The rules that tell the versions apart, one by one.

use std::vec::Vec;

use inband_testkit::{EarlierInt, int_1_0, int_in_tunnel};
use proptest::prelude::*;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::version::Version;

use super::{behind_l4, in_tunnel, is_before_2};

/// The version of a header in a tunnel.
fn of(int: &EarlierInt) -> Version {
    let bytes = int.header();
    in_tunnel(&bytes, 0, bytes.len()).unwrap()
}

/// A hop of 2016, with node id and queue occupancy, at the bottom of the stack.
fn bottom(int: EarlierInt, node_id: u32, occupancy: u32) -> EarlierInt {
    int.words(&[node_id, 0x8000_0000 | occupancy])
}

#[test]
fn behind_tcp_and_udp_the_version_field_decides() {
    for first in 0..=u8::MAX {
        let header = [first, 0, 0, 0, 0, 0, 0, 0];
        let expected = match first >> 4 {
            0 => Ok(Version::V0_5),
            1 => Ok(Version::V1_0),
            found => {
                let kind = ErrorKind::Version { found, expected: 1 };
                Err(ParseError::new(0, Header::IntMetadata, kind))
            }
        };
        assert_eq!(behind_l4(&header, 0), expected);
    }
    let short = ErrorKind::Short { needed: 8, left: 7 };
    assert_eq!(behind_l4(&[0; 7], 0), Err(ParseError::new(0, Header::IntMetadata, short)));
}

#[test]
fn bottom_of_stack_in_the_last_word_alone_is_2016() {
    let two_hops = bottom(int_in_tunnel().words(&[2, 20]), 1, 10);
    assert_eq!(of(&two_hops), Version::V2016);
    let nowhere = int_in_tunnel().words(&[2, 20, 1, 10]);
    assert_eq!(of(&nowhere), Version::V0_5);
    let also_above = bottom(int_in_tunnel().words(&[2, 0x8000_0014]), 1, 10);
    assert_eq!(of(&also_above), Version::V0_5);
    let not_last = int_in_tunnel().words(&[0x8000_0002, 20]);
    assert_eq!(of(&not_last), Version::V0_5);
}

#[test]
fn a_value_too_large_for_its_instruction_is_0_5() {
    // Queue id and occupancy; ingress and egress port; egress timestamp: the first bit is set by chance.
    for (bitmap, most) in [(0x1000, 0x00ff_ffff), (0x4000, 0xffff), (0x0400, 0xffff)] {
        let last = |value: u32| int_in_tunnel().bitmap(bitmap).words(&[0x8000_0000 | value]);
        assert_eq!(of(&last(most)), Version::V2016, "{bitmap:#06x}");
        assert_eq!(of(&last(most + 1)), Version::V0_5, "{bitmap:#06x}");
        assert_eq!(of(&last(0x7fff_ffff)), Version::V2016, "not available");
    }
}

#[test]
fn flags_that_2016_reserves_are_0_5() {
    for (flags, version) in [
        (0x00, Version::V2016),
        (0x04, Version::V2016), // E of 2016, Rep of 0.5.
        (0x08, Version::V2016),
        (0x01, Version::V0_5), // E of 0.5.
        (0x02, Version::V0_5),
    ] {
        assert_eq!(of(&bottom(int_in_tunnel().flags(flags), 1, 10)), version, "{flags:#04x}");
    }
}

#[test]
fn replication_of_2016_is_not_taken_for_a_version() {
    for replication in 1..4 {
        let int = bottom(int_in_tunnel().flags(replication << 4), 1, 10);
        assert_eq!(of(&int), Version::V2016, "Rep {replication}");
    }
    let other = int_in_tunnel().flags(0x30).words(&[1, 10]).header();
    let kind = ErrorKind::Version { found: 3, expected: 1 };
    assert_eq!(in_tunnel(&other, 0, other.len()), Err(ParseError::new(0, Header::IntMetadata, kind)));
}

#[test]
fn an_empty_stack_is_called_2016() {
    assert_eq!(of(&int_in_tunnel()), Version::V2016);
    assert_eq!(of(&int_in_tunnel().total_hops(1)), Version::V0_5, "which then is an error");
    assert_eq!(of(&int_in_tunnel().max_hops(0).total_hops(0)), Version::V2016);
}

#[test]
fn version_1_with_lengths_that_agree_is_1_0() {
    assert_eq!(of(&int_1_0()), Version::V1_0);
    assert_eq!(of(&int_1_0().hop(2).hop(1)), Version::V1_0);
    assert_eq!(of(&int_1_0().hop_words(3).words(&[1, 2, 3])), Version::V1_0, "which then is an error");
}

#[test]
fn a_geneve_option_is_before_2_only_with_lengths_that_agree() {
    let is = |int: &EarlierInt| {
        let bytes = int.header();
        is_before_2(&bytes, 0, bytes.len())
    };
    assert!(is(&int_1_0().hop(1)) && is(&int_in_tunnel().hop(1)) && is(&int_in_tunnel()));
    assert!(!is(&int_1_0().hop_words(1).hop(1)));
    assert!(!is(&int_in_tunnel().total_hops(2).hop(1)));
    assert!(!is(&int_in_tunnel().bitmap(0)), "no instruction");
    assert!(!is_before_2(&[0; 7], 0, 7));
}

proptest! {
    #[test]
    fn every_stack_of_2016_is_recognised(
        bitmap in 1..=u16::MAX,
        hops in 1..5_usize,
        values in prop::collection::vec(0..=0x7fff_ffff_u32, 80),
    ) {
        let most = |bit: usize| match bit { 1 | 5 => 0xffff, 3 => 0x00ff_ffff, _ => 0x7fff_ffff };
        let bits: Vec<usize> = (0..16).filter(|bit| bitmap & 0x8000 >> bit != 0).collect();
        let mut words: Vec<u32> =
            (0..hops).flat_map(|_| bits.clone()).zip(&values).map(|(bit, value)| value % (most(bit) + 1)).collect();
        *words.last_mut().unwrap() |= 0x8000_0000;
        prop_assert_eq!(of(&int_in_tunnel().bitmap(bitmap).words(&words)), Version::V2016);
    }

    #[test]
    fn arbitrary_headers_have_a_version_or_none(bytes in prop::collection::vec(any::<u8>(), 0..64), end in 0..80_usize) {
        let version = in_tunnel(&bytes, 0, end);
        prop_assert!(bytes.len() >= 8 || version.is_err());
        if is_before_2(&bytes, 0, end) {
            prop_assert!(version.is_ok_and(Version::is_before_2));
        }
    }
}
