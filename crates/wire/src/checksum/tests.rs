//! Checksums against full recomputation by plain loops.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::vec::Vec;

use inband_testkit::oracle;
use proptest::prelude::*;

use super::{Sum, corrected, corrected_udp, pseudo_header};

/// Words that exercise carries and the two zeros of ones' complement.
const CORNERS: [u16; 9] = [0, 1, 2, 0x00ff, 0x7fff, 0x8000, 0xff00, 0xfffe, 0xffff];

#[test]
fn sum_of_nothing_is_zero_and_only_zeros_fold_to_zero() {
    assert_eq!(Sum::of(&[]), Sum::ZERO);
    assert_eq!(Sum::of(&[0; 7]).fold(), 0);
    assert_eq!(Sum::of(&[0xff; 2]).fold(), 0xffff);
    assert_eq!(Sum::word(0x8000).plus(Sum::word(0x7fff)).fold(), 0xffff);
    assert_eq!(Sum::word(0xffff).plus(Sum::word(0xffff)).fold(), 0xffff);
}

#[test]
fn example_of_rfc_1071_sums_to_ddf2() {
    let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!((Sum::of(&bytes).fold(), Sum::of(&bytes).checksum()), (0xddf2, 0x220d));
}

#[test]
fn example_of_rfc_1624_gives_zero_and_not_all_ones() {
    // Section 4: HC = 0xdd2f, m = 0x5555 becomes 0x3285; equation 2 would give 0xffff.
    assert_eq!(corrected(0xdd2f, Sum::word(0x5555), Sum::word(0x3285)), 0x0000);
}

#[test]
fn correcting_any_corner_equals_full_recomputation() {
    // int-2.1/checksum-03
    for rest in CORNERS {
        for old in CORNERS {
            for new in CORNERS {
                if rest == 0 && (old == 0 || new == 0) {
                    continue; // A packet of only zeros has no checksum to correct.
                }
                let field = checksum_of(&[rest, old]);
                let expected = checksum_of(&[rest, new]);
                let found = corrected(field, Sum::word(old), Sum::word(new));
                assert_eq!(found, expected, "{rest:#06x}: {old:#06x} becomes {new:#06x}");
            }
        }
    }
}

#[test]
fn udp_checksum_zero_means_none_and_stays() {
    // int-2.1/checksum-02
    for old in CORNERS {
        for new in CORNERS {
            assert_eq!(corrected_udp(0, Sum::word(old), Sum::word(new)), 0);
        }
    }
}

#[test]
fn udp_checksum_that_comes_out_zero_is_written_as_all_ones() {
    // int-2.1/checksum-02
    assert_eq!(corrected(0xdd2f, Sum::word(0x5555), Sum::word(0x3285)), 0);
    assert_eq!(corrected_udp(0xdd2f, Sum::word(0x5555), Sum::word(0x3285)), 0xffff);
    assert_eq!(corrected_udp(0xffff, Sum::ZERO, Sum::ZERO), 0xffff);
}

#[test]
fn pseudo_header_sums_addresses_protocol_and_length() {
    let (v4, v6) = (Ipv4Addr::new(10, 1, 255, 254), Ipv6Addr::new(0x2001, 0xdb8, 0, 0xffff, 0, 0, 0, 0xfffe));
    let cases: [(IpAddr, Vec<u8>); 2] =
        [(v4.into(), v4.octets().to_vec()), (v6.into(), v6.octets().to_vec())];
    for (address, octets) in cases {
        for length in [0, 8, 0xffff] {
            let expected =
                oracle::ones_complement_sum(&[&oracle::pseudo_header(&octets, &octets, 17, length)]);
            assert_eq!(pseudo_header(address, address, 17, length).fold(), expected);
        }
    }
}

proptest! {
    #[test]
    fn sum_of_any_bytes_is_that_of_a_plain_loop(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Sum::of(&bytes).fold(), oracle::ones_complement_sum(&[&bytes]));
    }

    #[test]
    fn parts_cut_at_even_bytes_add_up(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..100) {
        let at = (at * 2).min(bytes.len() & !1);
        let (front, back) = bytes.split_at(at);
        prop_assert_eq!(Sum::of(front).plus(Sum::of(back)).fold(), Sum::of(&bytes).fold());
    }

    #[test]
    fn correcting_equals_full_recomputation(
        before in prop::collection::vec(word(), 2..40),
        after in prop::collection::vec(word(), 0..40),
        at in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
    ) {
        // int-2.1/checksum-03: also when a packet grows or shrinks, and for many changes at once.
        let at = at.index(before.len());
        let end = at + length.index(before.len() - at + 1);
        let mut changed = before.clone();
        changed.splice(at..end, after.iter().copied());
        prop_assume!(before.iter().any(|word| *word != 0) && changed.iter().any(|word| *word != 0));
        let found = corrected(checksum_of(&before), Sum::of(&bytes(&before[at..end])), Sum::of(&bytes(&after)));
        prop_assert_eq!(found, checksum_of(&changed));
    }

    #[test]
    fn a_wrong_checksum_stays_wrong_by_the_same_difference(
        before in prop::collection::vec(word(), 1..20),
        after in prop::collection::vec(word(), 1..20),
        field in 0..0xffff_u16,
    ) {
        // int-2.1/checksum-08: corruption on earlier hops stays visible.
        let sum_with = |field: u16, words: &[u16]| oracle::ones_complement_sum(&[&field.to_be_bytes(), &bytes(words)]);
        let found = corrected(field, Sum::of(&bytes(&before)), Sum::of(&bytes(&after)));
        let (left, right) = (sum_with(found, &after) % 0xffff, sum_with(field, &before) % 0xffff);
        prop_assert_eq!(left, right);
    }
}

fn word() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), prop::sample::select(&CORNERS[..])]
}

fn bytes(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn checksum_of(words: &[u16]) -> u16 {
    oracle::checksum(&[&bytes(words)])
}
