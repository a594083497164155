//! Datagrams are recognised by their first bits, and read or rejected.

use std::vec::Vec;

use inband_testkit::{int_report, report_group};
use proptest::prelude::*;

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::code_points::CodePoints;
use crate::layers::Strictness;
use crate::report::earlier::SinkNodeId;
use crate::report::version::ReportVersion;
use crate::report::{Deviation, Leniency};

use super::{AnyReport, ReportReading};

const LENIENT: ReportReading = ReportReading {
    leniency: Leniency::Lenient,
    strictness: Strictness::Whole,
    sink_node_id: SinkNodeId::Auto,
};

fn fault(bytes: &[u8]) -> ParseError {
    AnyReport::parse(bytes).unwrap_err()
}

fn header_fault(kind: ErrorKind) -> ParseError {
    ParseError::new(0, Header::ReportHeader, kind)
}

#[test]
fn the_first_four_bits_say_the_version() {
    let group = report_group(7).hw_id(5).sequence(6).with(int_report(0)).build();
    let report = AnyReport::parse(&group).unwrap();
    assert_eq!((report.version(), report.node_id()), (ReportVersion::V2_0, Some(7)));
    assert_eq!((report.hw_id(), report.sequence(), report.deviation()), (5, 6, None));
    assert_eq!(report.reports().count(), 1);
    for version in 3..16 {
        let mut other = group.clone();
        other[0] = version << 4;
        let kind = ErrorKind::Version { found: version, expected: 2 };
        assert_eq!(fault(&other), ParseError::new(0, Header::ReportGroup, kind));
    }
    let empty = ErrorKind::Short { needed: 8, left: 0 };
    assert_eq!(fault(&[]), ParseError::new(0, Header::ReportGroup, empty));
}

#[test]
fn reports_are_counted_as_they_are_iterated_up_to_the_first_fault() {
    let group = report_group(7).with(int_report(0)).with(int_report(0)).build();
    for length in 8..=group.len() {
        let Ok(report) = AnyReport::parse(&group[..length]) else { continue };
        let iterated: Result<Vec<_>, _> = report.reports().collect();
        let expected = iterated.map(|reports| reports.len() as u64);
        assert_eq!(report.count_reports(), expected, "{length} bytes");
    }
    let single = AnyReport::parse(&[0_u8; 64]).unwrap();
    assert_eq!(single.count_reports(), Ok(1));
}

#[test]
fn headers_that_are_cut_are_errors_and_whole_ones_are_not() {
    let mut header = [0_u8; 64];
    for (first, needed, name) in [
        (0x00, 12, Header::ReportHeader),
        (0x01, 24, Header::DropHeader),
        (0x02, 28, Header::LocalHeader),
        (0x14, 16, Header::ReportHeader),
    ] {
        header[0] = first;
        assert!(AnyReport::parse(&header[..needed]).is_ok());
        let error = fault(&header[..needed - 1]);
        assert!(error.header == name && matches!(error.kind, ErrorKind::Short { .. }), "{error}");
    }
    header[0] = 0x15;
    header[2] = 0x80; // One bit of RepMdBits.
    assert!(AnyReport::parse(&header[..20]).is_ok());
    assert_eq!(fault(&header[..19]), header_fault(ErrorKind::Short { needed: 20, left: 19 }));
}

#[test]
fn next_protocols_without_a_meaning_are_errors() {
    for next_proto in 5..16 {
        let mut bytes = [0; 64];
        bytes[0] = next_proto;
        let kind = ErrorKind::Undefined { field: "NProto", found: next_proto.into() };
        assert_eq!(fault(&bytes), header_fault(kind));
    }
    for next_proto in 3..8 {
        let mut bytes = [0; 64];
        bytes[..2].copy_from_slice(&[0x14, next_proto << 5]);
        let kind = ErrorKind::Undefined { field: "NProto", found: next_proto.into() };
        assert_eq!(fault(&bytes), header_fault(kind));
    }
}

#[test]
fn length_of_1_0_agrees_with_rep_md_bits() {
    for length in 0..16 {
        let mut bytes = [0; 80];
        bytes[0] = 0x10 | length;
        bytes[2] = 0x80;
        let strict = AnyReport::parse(&bytes);
        assert_eq!(strict.is_ok(), length == 5);
        if length != 5 {
            let kind = ErrorKind::Mismatch { field: "Length", found: length.into(), expected: 5 };
            assert_eq!(strict.unwrap_err(), header_fault(kind));
        }
        let lenient = AnyReport::parse_with(&bytes, LENIENT);
        match length {
            0 => assert_eq!(lenient.unwrap().deviation(), Some(Deviation::Version1)),
            1..=3 => assert_eq!(lenient.unwrap().deviation(), Some(Deviation::HeaderLength)),
            5 => assert_eq!(lenient.unwrap().deviation(), None),
            _ => assert!(lenient.is_err()),
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_datagrams_are_read_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..160),
        first in prop_oneof![Just(None), (0..5_u8).prop_map(Some), (0x14..0x1b_u8).prop_map(Some)],
        lenient in any::<bool>(),
        truncated in any::<bool>(),
        sink in 0..3_usize,
    ) {
        if let (Some(first), Some(to)) = (first, bytes.first_mut()) {
            *to = first;
        }
        let reading = ReportReading {
            leniency: if lenient { Leniency::Lenient } else { Leniency::Strict },
            strictness: if truncated { Strictness::Truncated } else { Strictness::Whole },
            sink_node_id: [SinkNodeId::Auto, SinkNodeId::Present, SinkNodeId::Absent][sink],
        };
        let Ok(report) = AnyReport::parse_with(&bytes, reading) else { return Ok(()) };
        let _ = (report.version().name(), report.node_id(), report.hw_id(), report.sequence());
        for report in report.reports().flatten() {
            let _ = (report.metadata(), report.drop(), report.drop_summary(), report.intermediate());
            if let Some((_, packet, at)) = report.packet() {
                prop_assert_eq!(&bytes[at..at + packet.len()], packet);
            }
            let found = report.dissect(&CodePoints::DEFAULT);
            let all: Vec<_> = found.int().collect();
            prop_assert!(all.iter().all(|(_, location)| location.shim < bytes.len()));
        }
    }
}
