//! Report groups: header fields at their limits, and the end of a datagram.

use std::vec::Vec;

use inband_testkit::strategies::{mutation, report_datagram};
use inband_testkit::{hex, inner_only, int_report, report_group};
use proptest::prelude::*;
use zerocopy::IntoBytes;

use crate::error::{ErrorKind, Header, ParseError};
use crate::layers::Strictness;
use crate::report::first_word::ReportType;
use crate::report::individual::IndividualReport;
use crate::report::{Deviation, Leniency};

use super::{GroupHeader, ReportGroup};

/// The UDP payload of a packet in the test data.
fn vector(text: &str) -> Vec<u8> {
    hex(text)[42..].to_vec()
}

fn reports<'a>(bytes: &'a [u8]) -> Vec<Result<IndividualReport<'a>, ParseError>> {
    ReportGroup::parse(bytes).unwrap().reports().collect()
}

#[test]
fn every_hw_id_and_the_ends_of_the_sequence_are_where_the_format_draws_them() {
    // report-2.0/group-01, report-2.0/group-02, report-2.0/group-03
    for hw_id in 0..64 {
        for sequence in [0, 1, 0x1f_ffff, 0x20_0000, 0x3f_ffff] {
            let bytes = report_group(0xdead_beef).hw_id(hw_id).sequence(sequence).with(inner_only()).build();
            let header = ReportGroup::parse(&bytes).unwrap().header;
            assert_eq!((header.version(), header.hw_id(), header.sequence()), (2, hw_id, sequence));
            assert_eq!(header.node_id(), 0xdead_beef);
            assert_eq!(GroupHeader::new(hw_id, sequence, 0xdead_beef).as_bytes(), &bytes[..8]);
        }
    }
}

#[test]
fn the_sequence_number_wraps_at_22_bits() {
    // report-2.0/group-03
    assert_eq!(GroupHeader::new(0, 0x40_0000, 1).sequence(), 0);
    assert_eq!(GroupHeader::new(0x40, 1, 1).hw_id(), 0);
    assert_eq!(GroupHeader::new(0xff, u32::MAX, 1).version(), 2);
}

#[test]
fn every_other_version_is_an_error_and_version_1_is_read_leniently() {
    // report-2.0/group-02
    for version in (0..16).filter(|version| *version != 2) {
        let bytes = report_group(1).version(version).with(inner_only()).build();
        let kind = ErrorKind::Version { found: version, expected: 2 };
        let error = ParseError::new(0, Header::ReportGroup, kind);
        assert_eq!(ReportGroup::parse(&bytes).unwrap_err(), error);
        let lenient = ReportGroup::parse_with(&bytes, Leniency::Lenient, Strictness::Whole);
        match version {
            1 => assert_eq!(lenient.unwrap().deviation, Some(Deviation::Version1)),
            _ => assert_eq!(lenient.unwrap_err(), error),
        }
    }
}

#[test]
fn a_group_header_is_short_one_byte_before_it_ends() {
    // report-2.0/group-01
    let bytes = report_group(1).build();
    let short = |left| ParseError::new(0, Header::ReportGroup, ErrorKind::Short { needed: 8, left });
    assert_eq!(ReportGroup::parse(&bytes[..7]).unwrap_err(), short(7));
    assert_eq!(ReportGroup::parse(&[]).unwrap_err(), short(0));
    assert!(ReportGroup::parse(&bytes).is_ok());
}

#[test]
fn reports_follow_one_another_until_the_datagram_ends() {
    // report-2.0/group-04, report-2.0/group-05, report-2.0/group-06
    let group =
        (0..20).fold(report_group(1), |group, latency| group.with(int_report(0x2000).words(&[latency])));
    let bytes = group.build();
    let latencies: Vec<_> =
        reports(&bytes).into_iter().map(|report| report.unwrap().metadata().hop_latency).collect();
    assert_eq!(latencies, (0..20).map(Some).collect::<Vec<_>>());
}

#[test]
fn up_to_three_bytes_behind_the_last_report_are_skipped() {
    let bytes = report_group(1).with(inner_only()).build();
    for extra in 0..=3 {
        let longer = [&bytes[..], &[0xa5; 3][..extra]].concat();
        assert_eq!(reports(&longer).len(), 1, "{extra} bytes");
    }
    assert_eq!(reports(&[&bytes[..], &[0; 4]].concat()).len(), 2);
}

#[test]
fn a_group_without_a_whole_report_is_cut() {
    // report-2.0/group-04
    let bytes = report_group(1).with(inner_only()).build();
    for length in 8..12 {
        let short = ErrorKind::Short { needed: 4, left: length - 8 };
        let expected = ParseError::new(8, Header::IndividualReport, short);
        let found = reports(&bytes[..length]);
        assert_eq!((found.len(), found[0].unwrap_err()), (1, expected), "{length} bytes");
    }
}

#[test]
fn a_report_that_cannot_be_read_is_the_last() {
    let bytes = report_group(1).with(inner_only()).with(inner_only().report_length(1)).build();
    let cut = [bytes, [0; 3].to_vec()].concat();
    let found = reports(&cut);
    assert_eq!((found.len(), found[0].is_ok(), found[1].is_err()), (2, true, true));
}

#[test]
fn vector_three_coalesced_reports() {
    // report-2.0/group-06, report-2.0/group-07
    let bytes = vector(include_str!("../../../../../testdata/packets/report-2.0-coalesced-three.hex"));
    let group = ReportGroup::parse(&bytes).unwrap();
    assert_eq!((group.header.hw_id(), group.header.sequence(), group.header.node_id()), (5, 6, 7));
    let found: Vec<_> = group.reports().map(|report| report.unwrap()).collect();
    let kinds: Vec<_> = found.iter().map(|report| report.first_word.report_type()).collect();
    assert_eq!(kinds, [ReportType::Int, ReportType::Int, ReportType::InnerOnly]);
    assert_eq!(found.iter().map(IndividualReport::dropped).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(found[1].drop().map(|drop| (drop.queue_id, drop.reason)), Some((0, 0x50)));
    assert_eq!(found[2].end, bytes.len());
}

#[test]
fn vector_report_longer_than_its_datagram_is_malformed() {
    // report-2.0/individual-04
    let bytes =
        vector(include_str!("../../../../../testdata/packets/report-2.0-neg-report-len-past-end.hex"));
    let kind = ErrorKind::TooLarge { field: "Report Length", found: 60, most: 14 };
    assert_eq!(reports(&bytes)[0].unwrap_err(), ParseError::new(8, Header::IndividualReport, kind));
    let cut = ReportGroup::parse_with(&bytes, Leniency::Strict, Strictness::Truncated).unwrap();
    assert_eq!(cut.reports().map(|report| report.unwrap().inner().len()).collect::<Vec<_>>(), [40]);
}

proptest! {
    #[test]
    fn any_datagram_to_the_letter_reads_and_writes_back(group in report_datagram()) {
        let bytes = group.build();
        prop_assert!(reports(&bytes).iter().all(|report| report.is_ok()));
        inband_testkit::fuzz::report(&bytes);
    }

    #[test]
    fn any_harm_to_a_datagram_gives_reports_inside_it(
        group in report_datagram(),
        harm in prop::collection::vec(mutation(), 1..6),
    ) {
        let mut bytes = group.build();
        harm.iter().for_each(|mutation| mutation.apply(&mut bytes));
        inband_testkit::fuzz::report(&bytes);
    }

    #[test]
    fn any_bytes_are_reports_or_errors(input in prop::collection::vec(any::<u8>(), 0..100)) {
        inband_testkit::fuzz::report(&input);
        inband_testkit::fuzz::report(&[&[0x20, 0, 0, 1, 0, 0, 0, 1][..], &input].concat());
    }
}
