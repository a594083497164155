//! Headers of every version before 2.0 with stacks that do and do not match.

use std::vec::Vec;

use inband_testkit::{EarlierInt, host_int, int_0_5, int_1_0, int_in_tunnel};
use proptest::prelude::*;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::dialect::Deviations;
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::words::Words;

use super::{HopByHop, HopCounts};

/// The location of an INT header whose shim is at the start of the bytes.
fn location(bytes: &[u8], version: Version) -> Location {
    let encapsulation = match version {
        Version::V2016 => Encapsulation::VxlanGpe,
        _ => Encapsulation::Dscp,
    };
    let (header_type, end) = (HeaderType::Md, usize::from(bytes[2]) * 4);
    Location { encapsulation, header_type, version, deviations: Deviations::NONE, shim: 0, header: 4, end }
}

fn parse(bytes: &[u8], version: Version) -> Result<HopByHop<'_>, ParseError> {
    HopByHop::parse(bytes, &location(bytes, version))
}

fn fault(int: &EarlierInt, version: Version) -> ParseError {
    parse(&int.bytes(), version).unwrap_err()
}

fn node_ids(int: &HopByHop<'_>) -> Vec<Option<u32>> {
    int.hops().map(|hop| hop.metadata().hop.node_id).collect()
}

#[test]
fn the_last_hop_of_the_path_comes_first() {
    for (int, version) in
        [(int_1_0(), Version::V1_0), (int_0_5(), Version::V0_5), (int_in_tunnel(), Version::V2016)]
    {
        let bytes = int.hop(3).hop(2).hop(1).bytes();
        let int = parse(&bytes, version).unwrap();
        assert_eq!(node_ids(&int), [Some(3), Some(2), Some(1)], "{version:?}");
        assert_eq!((int.hop_count(), int.hop_ml, int.is_cut()), (3, Words::new(2), false));
    }
}

#[test]
fn flags_and_counts_are_those_of_the_version() {
    let bytes = int_1_0().flags(0x1f).mtu_exceeded().max_hops(9).bytes();
    let int = parse(&bytes, Version::V1_0).unwrap();
    assert_eq!((int.replication, int.copy, int.max_hop_count_exceeded), (3, true, true));
    assert_eq!((int.mtu_exceeded, int.hop_counts), (Some(true), HopCounts::Remaining(9)));

    let bytes = int_0_5().flags(0x05).max_hops(2).hop(2).hop(1).bytes();
    let int = parse(&bytes, Version::V0_5).unwrap();
    assert_eq!((int.replication, int.copy, int.max_hop_count_exceeded), (1, false, true));
    assert_eq!((int.mtu_exceeded, int.hop_counts), (None, HopCounts::Total { most: 2, total: 2 }));
    assert_eq!(int.remaining_hop_count(), 0);

    let bytes = int_in_tunnel().flags(0x24).bytes();
    let int = parse(&bytes, Version::V2016).unwrap();
    assert_eq!((int.replication, int.copy, int.max_hop_count_exceeded), (2, false, true));
    assert_eq!(int.remaining_hop_count(), 16);
}

#[test]
fn more_hops_than_the_most_leave_none() {
    let bytes = int_0_5().max_hops(1).hop(2).hop(1).bytes();
    assert_eq!(parse(&bytes, Version::V0_5).unwrap().remaining_hop_count(), 0);
}

#[test]
fn the_length_of_a_hop_agrees_with_the_bitmap() {
    let error = |kind| ParseError::new(4, Header::IntMetadata, kind);
    let hop_ml = ErrorKind::Mismatch { field: "Hop ML", found: 1, expected: 2 };
    assert_eq!(fault(&int_1_0().hop_words(1), Version::V1_0), error(hop_ml));
    let count = ErrorKind::Mismatch { field: "Instruction Count", found: 3, expected: 2 };
    assert_eq!(fault(&int_0_5().hop_words(3), Version::V0_5), error(count));
    assert_eq!(fault(&int_in_tunnel().hop_words(3), Version::V2016), error(count));
    assert!(parse(&int_1_0().bitmap(0x0200).words(&[1, 2]).bytes(), Version::V1_0).is_ok());
}

#[test]
fn a_stack_is_a_whole_number_of_hops() {
    let partial = ErrorKind::PartialHop { stack: Words::new(3), hop_ml: Words::new(2) };
    let expected = ParseError::new(12, Header::MetadataStack, partial);
    assert_eq!(fault(&int_1_0().words(&[1, 2, 3]), Version::V1_0), expected);
    assert_eq!(fault(&int_0_5().words(&[1, 2, 3]), Version::V0_5), expected);
    let without_hops = ErrorKind::PartialHop { stack: Words::new(1), hop_ml: Words::new(0) };
    let expected = ParseError::new(12, Header::MetadataStack, without_hops);
    assert_eq!(fault(&int_1_0().bitmap(0).words(&[1]), Version::V1_0), expected);
    assert_eq!(parse(&int_1_0().bitmap(0).bytes(), Version::V1_0).unwrap().hop_count(), 0);
}

#[test]
fn the_total_hop_count_agrees_with_the_stack() {
    // int-0.5/md-06
    // int-2016/md-19
    for (total, count) in [(1, 2), (3, 2)] {
        let int = int_0_5().total_hops(total).hop(2).hop(1);
        let kind = ErrorKind::Mismatch { field: "Total Hop Count", found: total.into(), expected: count };
        assert_eq!(fault(&int, Version::V0_5), ParseError::new(4, Header::IntMetadata, kind));
    }
    assert!(parse(&int_0_5().bitmap(0).total_hops(7).bytes(), Version::V0_5).is_ok(), "hops add nothing");
}

#[test]
fn another_version_is_an_error() {
    for (int, version, found, expected) in [
        (int_1_0().flags(0x00), Version::V1_0, 0, 1),
        (int_1_0().flags(0x20), Version::V1_0, 2, 1),
        (int_0_5().flags(0x10), Version::V0_5, 1, 0),
        (int_in_tunnel().flags(0x40), Version::V2016, 1, 0),
        (int_1_0(), Version::V2_1, 1, 1),
    ] {
        let kind = ErrorKind::Version { found, expected };
        assert_eq!(fault(&int, version), ParseError::new(4, Header::IntMetadata, kind));
    }
}

#[test]
fn a_header_or_tail_that_does_not_fit_in_the_length_is_an_error() {
    let header = ErrorKind::Short { needed: 8, left: 4 };
    assert_eq!(fault(&int_1_0().length(2), Version::V1_0), ParseError::new(4, Header::IntMetadata, header));
    let tail = ErrorKind::Short { needed: 12, left: 8 };
    assert_eq!(fault(&int_0_5().length(3), Version::V0_5), ParseError::new(4, Header::IntMetadata, tail));
    let bytes = &int_1_0().bytes()[..11];
    let cut = ErrorKind::Short { needed: 8, left: 7 };
    assert_eq!(parse(bytes, Version::V1_0).unwrap_err(), ParseError::new(4, Header::IntMetadata, cut));
}

#[test]
fn a_cut_stack_gives_the_hops_that_are_whole() {
    let bytes = int_0_5().hop(3).hop(2).hop(1).bytes();
    for (cut, hops) in [(12, 0), (19, 0), (20, 1), (27, 1), (28, 2), (36, 3), (39, 3)] {
        let int = parse(&bytes[..cut], Version::V0_5).unwrap();
        assert_eq!((int.hops().len(), int.is_cut(), int.tail), (hops, hops < 3, None), "{cut} bytes");
        assert_eq!(int.hop_count(), 3);
    }
    assert!(parse(&bytes, Version::V0_5).unwrap().tail.is_some());
}

#[test]
fn host_int_has_a_sequence_number_and_leaves_its_tail_out_of_reports() {
    let bytes = host_int().bytes();
    let int = parse(&bytes, Version::HostInt0_5).unwrap();
    assert_eq!((int.sequence, int.tail.map(|tail| tail.protocol)), (Some(1), Some(0)));

    let sink = [3, 0x0005_0005, 9, 9, 2, 0x0004_0004, 7, 7];
    let reported = host_int().words(&sink[4..]).behind(&[0, 0, 0, 8]).bytes();
    assert_eq!(reported[2], 12);
    let int = parse(&reported, Version::HostInt0_5).unwrap();
    assert_eq!((int.sequence, int.tail, int.hops().len()), (Some(8), None, 2));

    let cut = parse(&reported[..46], Version::HostInt0_5).unwrap();
    assert_eq!((cut.sequence, cut.hops().len()), (None, 2));
    let kind = ErrorKind::Mismatch { field: "Total Hop Count", found: 2, expected: 1 };
    let wrong = host_int().total_hops(2);
    assert_eq!(fault(&wrong, Version::HostInt0_5), ParseError::new(4, Header::IntMetadata, kind));
}

#[test]
fn reserved_words_are_between_the_others() {
    let bytes = int_1_0().bitmap(0x8041).words(&[7, 0xdead_beef, 0x1234]).bytes();
    let int = parse(&bytes, Version::V1_0).unwrap();
    let hop = int.hops().next().unwrap();
    assert_eq!(hop.metadata().hop.checksum_complement, Some(0x1234));
    assert_eq!(hop.reserved().collect::<Vec<_>>(), [(9, Some(0xdead_beef))]);

    let bytes = int_0_5().bitmap(0x8081).words(&[7, 8, u32::MAX]).bytes();
    let hop = parse(&bytes, Version::V0_5).unwrap().hops().next().unwrap();
    assert_eq!(hop.reserved().collect::<Vec<_>>(), [(8, Some(8)), (15, None)]);
    assert_eq!(hop.metadata().hop.node_id, Some(7));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..96),
        shim in 0..8_usize,
        end in 0..120_usize,
        kind in 0..4_usize,
        tunnel in any::<bool>(),
    ) {
        let version = [Version::V1_0, Version::V0_5, Version::HostInt0_5, Version::V2016][kind];
        let encapsulation = if tunnel { Encapsulation::Geneve } else { Encapsulation::Udp };
        let header_type = HeaderType::Md;
        let location = Location { encapsulation, header_type, version, deviations: Deviations::NONE, shim, header: shim + 4, end };
        if let Ok(int) = HopByHop::parse(&bytes, &location) {
            prop_assert!(int.hops().len() <= int.hop_count());
            prop_assert_eq!(int.hops().len() < int.hop_count(), int.is_cut());
            for hop in int.hops() {
                let _ = (hop.metadata(), hop.reserved().count());
            }
        }
    }
}
