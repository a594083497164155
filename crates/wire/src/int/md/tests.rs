//! INT-MD headers: every flag and Hop ML, and stacks that do and do not match.

use std::vec::Vec;

use inband_testkit::{Int, int_md};
use proptest::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviations;
use crate::int::domain::{Domain, WELL_KNOWN};
use crate::int::instruction::Instructions;
use crate::int::locate::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::words::Words;

use super::{Md, MdHeader};

/// The location of an INT header whose shim is at the start of the bytes.
fn location(bytes: &[u8]) -> Location {
    let end = 4 + usize::from(bytes[1]) * 4;
    Location {
        encapsulation: Encapsulation::Dscp,
        header_type: HeaderType::Md,
        version: Version::V2_1,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end,
    }
}

fn parse<'a>(bytes: &'a [u8], domains: &[Domain]) -> Result<Md<'a>, ParseError> {
    Md::parse(bytes, &location(bytes), domains)
}

fn fault(int: &Int) -> ParseError {
    parse(&int.bytes(), WELL_KNOWN).unwrap_err()
}

fn node_ids(md: &Md<'_>) -> Vec<Option<u32>> {
    md.stack.hops().map(|hop| hop.metadata().node_id).collect()
}

#[test]
fn every_flag_is_its_own_bit() {
    // int-2.1/md-01, int-2.1/md-02, int-2.1/md-03, int-2.1/md-05
    for flags in 0..16 {
        let bytes = int_md().flags(flags).bytes();
        let header = parse(&bytes, &[]).unwrap().header;
        let expected = (flags & 8 != 0, flags & 4 != 0, flags & 2 != 0);
        let found = (header.discard(), header.max_hop_count_exceeded(), header.mtu_exceeded());
        assert_eq!((found, header.version()), (expected, 2), "{flags:#03x}");
    }
}

#[test]
fn every_flag_is_set_alone() {
    // int-2.1/md-39: a transit hop sets E, M and Remaining Hop Count.
    let fresh = || MdHeader::new(Instructions(0x9000), Words::new(2), 8);
    let mut discard = fresh();
    discard.set_discard();
    assert_eq!(discard.as_bytes()[0], 0x28);
    let mut exceeded = fresh();
    exceeded.set_max_hop_count_exceeded();
    assert_eq!(exceeded.as_bytes()[0], 0x24);
    let mut too_long = fresh();
    too_long.set_mtu_exceeded();
    assert_eq!(too_long.as_bytes()[0], 0x22);
    let mut counted = fresh();
    counted.set_remaining_hop_count(7);
    assert_eq!(counted.as_bytes()[..4], [0x20, 0, 2, 7]);
    assert_eq!(counted.as_bytes()[4..], fresh().as_bytes()[4..]);
}

#[test]
fn a_source_writes_e_m_and_every_reserved_bit_as_zero() {
    // int-2.1/md-04, int-2.1/md-36, int-2.1/md-37
    let mut header = MdHeader::new(Instructions(0xffff), Words::new(31), 255);
    assert_eq!(header.as_bytes(), [0x20, 0, 31, 255, 0xff, 0xff, 0, 0, 0, 0, 0, 0]);
    header.set_domain(0x1234, 0x5678, 0x9abc);
    assert_eq!(header.as_bytes()[6..], [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc]);
    assert_eq!(
        (header.domain_specific_id(), header.ds_instruction(), header.ds_flags()),
        (0x1234, 0x5678, 0x9abc)
    );
}

#[test]
fn hop_ml_names_at_most_31_words() {
    // int-2.1/md-11
    assert_eq!(MdHeader::new(Instructions(0), Words::new(31), 0).hop_ml(), Words::new(31));
    assert_eq!(MdHeader::new(Instructions(0), Words::new(32), 0).hop_ml(), Words::new(31));
}

#[test]
fn reserved_bits_are_ignored() {
    // int-2.1/md-06
    let mut bytes = int_md().hop(1).bytes();
    bytes[4] |= 0x01;
    bytes[5] = 0xff;
    bytes[6] |= 0xe0;
    let md = parse(&bytes, &[]).unwrap();
    assert_eq!((md.header.hop_ml(), node_ids(&md)), (Words::new(2), [Some(1)].to_vec()));
}

#[test]
fn every_other_version_is_an_error() {
    // int-2.1/md-01
    for version in (0..16).filter(|version| *version != 2) {
        let mut bytes = int_md().bytes();
        bytes[4] = version << 4;
        let kind = ErrorKind::Version { found: version, expected: 2 };
        assert_eq!(parse(&bytes, &[]).unwrap_err(), ParseError::new(4, Header::IntMd, kind));
    }
}

#[test]
fn hop_ml_is_what_every_bitmap_asks_for_and_nothing_else() {
    // int-2.1/md-10, int-2.1/md-12
    for bitmap in 0..=u16::MAX {
        let asked = Instructions(bitmap).words().count();
        for hop_ml in [asked.wrapping_sub(1), asked, asked + 1].into_iter().filter(|words| *words < 32) {
            let bytes = int_md().bitmap(bitmap).hop_ml(hop_ml).bytes();
            match parse(&bytes, &[]) {
                Ok(_) => assert_eq!(hop_ml, asked, "{bitmap:#06x}"),
                Err(error) => {
                    let (found, expected) = (usize::from(hop_ml), usize::from(asked));
                    let kind = ErrorKind::Mismatch { field: "Hop ML", found, expected };
                    assert_eq!(error, ParseError::new(4, Header::IntMd, kind), "{bitmap:#06x}");
                }
            }
        }
    }
}

#[test]
fn domain_specific_metadata_makes_hop_ml_longer_and_never_shorter() {
    // int-2.1/md-10, int-2.1/md-19
    let with_domain = |hop_ml| int_md().domain(0xabcd, 0x0001, 0).hop_ml(hop_ml);
    for hop_ml in 2..=31 {
        assert!(parse(&with_domain(hop_ml).bytes(), &[]).is_ok(), "{hop_ml}");
    }
    let kind = ErrorKind::Mismatch { field: "Hop ML", found: 1, expected: 2 };
    assert_eq!(fault(&with_domain(1)), ParseError::new(4, Header::IntMd, kind));
}

#[test]
fn domain_zero_and_an_empty_ds_instruction_add_nothing() {
    // int-2.1/md-14
    for (id, instruction) in [(0, 0xffff), (0xabcd, 0)] {
        let header =
            parse(&int_md().domain(id, instruction, 0).hop(1).bytes(), &[]).map(|md| md.header.hop_ml());
        assert_eq!(header, Ok(Words::new(2)));
        assert!(parse(&int_md().domain(id, instruction, 0).hop_ml(3).bytes(), &[]).is_err());
    }
}

#[test]
fn hops_come_last_first_and_are_counted() {
    // int-2.1/md-22: each hop precedes those added before it.
    // int-2.1/md-41: with Hop ML 2, six words are three hops, and nothing is left for the source.
    let bytes = int_md().hop(3).hop(2).hop(1).bytes();
    let md = parse(&bytes, &[]).unwrap();
    assert_eq!(node_ids(&md), [Some(3), Some(2), Some(1)]);
    assert_eq!((md.stack.hop_count(), md.stack.is_cut(), md.stack.source_only()), (3, false, &[][..]));
}

#[test]
fn a_stack_cut_mid_hop_by_its_length_is_an_error() {
    // int-2.1/md-41: without source-only metadata, a stack that is not a multiple of Hop ML is invalid.
    for (words, stack) in [(&[2, 2, 1][..], 3), (&[1][..], 1)] {
        let (stack, hop_ml) = (Words::new(stack), Words::new(2));
        let expected = ParseError::new(16, Header::MetadataStack, ErrorKind::PartialHop { stack, hop_ml });
        assert_eq!(fault(&int_md().words(words)), expected);
    }
}

#[test]
fn a_stack_cut_by_the_end_of_the_bytes_gives_the_whole_hops() {
    let bytes = int_md().hop(2).hop(1).bytes();
    for left in 16..bytes.len() {
        let md = parse(&bytes[..left], &[]).unwrap();
        assert_eq!(md.stack.hops().len(), (left - 16) / 8, "{left} bytes");
        assert_eq!((md.stack.hop_count(), md.stack.is_cut()), (2, true), "{left} bytes");
    }
    let short = ErrorKind::Short { needed: 12, left: 11 };
    assert_eq!(parse(&bytes[..15], &[]).unwrap_err(), ParseError::new(4, Header::IntMd, short));
}

#[test]
fn metadata_without_instructions_is_an_error_and_none_is_not() {
    let nothing = int_md().bitmap(0);
    assert_eq!(parse(&nothing.bytes(), &[]).map(|md| md.stack.hop_count()), Ok(0));
    let kind = ErrorKind::PartialHop { stack: Words::new(1), hop_ml: Words::new(0) };
    assert_eq!(fault(&nothing.words(&[1])), ParseError::new(16, Header::MetadataStack, kind));
}

#[test]
fn the_longest_hop_and_the_longest_stack_are_read() {
    // int-2.1/md-11
    let hop: Vec<u32> = (1..=31).collect();
    let eight = (0..8).fold(int_md().bitmap(0x8000).domain(9, 1, 0).hop_ml(31), |int, _| int.words(&hop));
    let bytes = eight.words(&[7; 4]).bytes();
    assert_eq!(bytes[1], 255);
    let md = parse(&bytes, &[]).unwrap();
    assert_eq!((md.stack.hops().len(), md.stack.source_only().len()), (8, 16));
    assert!(md.stack.hops().all(|hop| hop.metadata().node_id == Some(1) && hop.domain().len() == 30 * 4));
}

#[test]
fn source_only_metadata_of_a_known_domain_is_below_the_hops() {
    // int-2.1/md-17, int-2.1/md-20, int-2.1/md-21
    let security = int_md().bitmap(0x8000).domain(0x5453, 0x8000, 0x4000).words(&[3, 2, 1]);
    let bytes = security.clone().words(&[0xa61a_f6b1, 0x647d_0000]).bytes();
    let md = parse(&bytes, WELL_KNOWN).unwrap();
    assert_eq!(node_ids(&md), [Some(3), Some(2), Some(1)]);
    assert_eq!(md.stack.source_only(), [0xa6, 0x1a, 0xf6, 0xb1, 0x64, 0x7d, 0, 0]);
}

#[test]
fn a_source_that_added_no_metadata_left_no_source_only_metadata_either() {
    // int-2.1/md-41: the stack is a multiple of Hop ML, plus the source-only metadata if there is any.
    let security = int_md().domain(0x5453, 0x8000, 0);
    assert_eq!(parse(&security.bytes(), WELL_KNOWN).map(|md| md.stack.hop_count()), Ok(0));
    let partial = security.words(&[1, 2, 3]);
    let kind = ErrorKind::PartialHop { stack: Words::new(3), hop_ml: Words::new(2) };
    assert_eq!(fault(&partial), ParseError::new(16, Header::MetadataStack, kind));
}

#[test]
fn what_makes_no_whole_hop_in_an_unknown_domain_is_the_sources() {
    let bytes = int_md().domain(0xabcd, 0x8000, 0).hop(2).hop(1).words(&[0xdead]).bytes();
    let md = parse(&bytes, WELL_KNOWN).unwrap();
    assert_eq!(node_ids(&md), [Some(2), Some(1)]);
    assert_eq!(md.stack.source_only(), [0, 0, 0xde, 0xad]);
}

#[test]
fn a_location_that_ends_inside_the_header_is_an_error() {
    let bytes = int_md().bytes();
    let short = Location { end: 15, ..location(&bytes) };
    let kind = ErrorKind::Short { needed: 12, left: 11 };
    assert_eq!(Md::parse(&bytes, &short, &[]).unwrap_err(), ParseError::new(4, Header::IntMd, kind));
}

proptest! {
    #[test]
    fn headers_of_any_bytes_write_back_to_them(bytes in any::<[u8; 12]>()) {
        let header = MdHeader::read_from_bytes(&bytes).unwrap();
        prop_assert_eq!(header.as_bytes(), bytes);
    }

    #[test]
    fn any_bytes_behind_a_shim_are_a_stack_or_an_error(input in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut input = input;
        if let Some(first) = input.first_mut() {
            *first = if *first % 2 == 0 { 0x10 } else { 0x30 };
        }
        inband_testkit::fuzz::md_stack(&input);
    }

    #[test]
    fn any_stack_reads_back_to_its_bytes(bitmap in any::<u16>(), words in prop::collection::vec(any::<u32>(), 0..150)) {
        let hop = usize::from(Instructions(bitmap).words().count());
        let whole = words.len().checked_div(hop).unwrap_or(0) * hop;
        let bytes = int_md().bitmap(bitmap).words(&words[..whole]).bytes();
        let md = parse(&bytes, &[]).unwrap();
        prop_assert_eq!(md.stack.hops().len() * hop, whole);
        inband_testkit::fuzz::md_stack(&bytes);
    }
}
