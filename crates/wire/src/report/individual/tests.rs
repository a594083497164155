//! Individual reports: every type and flag, every bitmap, lengths on both sides of their limits.

use std::vec;
use std::vec::Vec;

use inband_testkit::int::words_of;
use inband_testkit::{Individual, hex, inner_only, int_report, packet};
use zerocopy::{FromBytes, IntoBytes};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::layers::{Link, Strictness};
use crate::report::tlv::TlvType;
use crate::report::{Deviation, Leniency};

use super::{FirstWord, IndividualReport, InnerType, ReportType};

fn parse(bytes: &[u8]) -> Result<IndividualReport<'_>, ParseError> {
    IndividualReport::parse(bytes, 0, Leniency::Strict, Strictness::Whole)
}

fn lenient(bytes: &[u8]) -> IndividualReport<'_> {
    IndividualReport::parse(bytes, 0, Leniency::Lenient, Strictness::Whole).unwrap()
}

fn fault(report: &Individual) -> ParseError {
    parse(&report.bytes()).unwrap_err()
}

fn mismatch(found: usize, expected: usize) -> ParseError {
    ParseError::new(0, Header::IndividualReport, ErrorKind::Mismatch { field: "MD Length", found, expected })
}

/// The first report of a packet in the test data, from its first word on.
fn vector(text: &str) -> Vec<u8> {
    hex(text)[50..].to_vec()
}

#[test]
fn every_first_byte_is_report_type_and_inner_type() {
    // report-2.0/individual-03
    for types in 0..=u8::MAX {
        let word = FirstWord::read_from_bytes(&[types, 0, 0, 0]).unwrap();
        let (report, inner) = (word.report_type(), word.inner_type());
        assert_eq!(FirstWord::new(report, inner, 7, 8).as_bytes(), [types, 7, 8, 0]);
        assert_eq!(matches!(report, ReportType::Unknown(_)), types / 16 > 2);
        assert_eq!(matches!(inner, InnerType::Unknown(_)), types % 16 > 5);
    }
}

#[test]
fn every_combination_of_flags_reads_back_and_reserved_bits_are_ignored() {
    // report-2.0/individual-08, report-2.0/individual-09, report-2.0/individual-10, report-2.0/individual-11,
    // report-2.0/individual-12, report-2.0/transport-05
    for flags in 0..=u8::MAX {
        let bytes = inner_only().flags(flags).bytes();
        let report = parse(&bytes).unwrap();
        let found =
            [report.dropped(), report.congested_queue(), report.tracked_flow(), report.intermediate()];
        assert_eq!(found, [0x80, 0x40, 0x20, 0x10].map(|bit| flags & bit != 0));
        let mut word = FirstWord::new(ReportType::InnerOnly, InnerType::None, 0, 0);
        word.set_flags(found[0], found[1], found[2], found[3]);
        assert_eq!(word.as_bytes()[3], flags & 0xf0, "reserved bits are sent as zero");
    }
}

#[test]
fn every_bitmap_decides_md_length_and_the_order_of_the_metadata() {
    // report-2.0/metadata-01, report-2.0/metadata-02, report-2.0/metadata-05, report-2.0/individual-06
    let words: Vec<u32> = (1..=19).collect();
    for bitmap in 0..=u16::MAX {
        let asked = words_of(bitmap & 0x7fff);
        let report = int_report(bitmap).words(&words[..usize::from(asked)]).inner(2, &[0xa5; 4]);
        let bytes = report.bytes();
        let read = parse(&bytes).unwrap();
        assert_eq!(
            (read.rep_md_bits(), read.inner()),
            (Instructions(bitmap), &[0xa5; 4][..]),
            "{bitmap:#06x}"
        );
        assert_eq!(read.metadata().node_id, None, "{bitmap:#06x}");
        assert_eq!(read.drop().is_some(), bitmap & 1 != 0, "{bitmap:#06x}");
        if bitmap & 0x4000 != 0 {
            assert_eq!(read.metadata().interfaces.map(|ids| (ids.ingress, ids.egress)), Some((0, 1)));
        }
        if bitmap & 0x0080 != 0 {
            let before = u32::from(words_of(bitmap & 0x7f00));
            assert_eq!(read.metadata().buffer.map(|buffer| buffer.occupancy), Some(before + 1));
        }
        let other = report.md_length(asked + 1);
        assert_eq!(fault(&other), mismatch(usize::from(asked) + 1, usize::from(asked)), "{bitmap:#06x}");
    }
}

#[test]
fn bit_15_is_queue_and_drop_reason_and_no_checksum_complement() {
    // report-2.0/metadata-03
    let bytes = int_report(0x4001).words(&[0x0001_0002, 0x0350_0000]).flags(0x80).bytes();
    let report = parse(&bytes).unwrap();
    assert_eq!(report.drop().map(|drop| (drop.queue_id, drop.reason)), Some((3, 0x50)));
    assert_eq!((report.metadata().checksum_complement, report.dropped()), (None, true));
}

#[test]
fn md_length_shorter_than_the_bits_ask_for_is_an_error() {
    // report-2.0/metadata-05
    assert_eq!(fault(&int_report(0x5000).words(&[1]).inner(3, &[0; 16])), mismatch(1, 2));
    assert_eq!(fault(&int_report(0x0800).words(&[1]).inner(3, &[0; 16])), mismatch(1, 2));
}

#[test]
fn domain_specific_metadata_follows_the_baseline_and_may_have_any_length() {
    // report-2.0/metadata-07
    for length in 0..=20 {
        let words = vec![0xd0d0_d0d0; length];
        let bytes = int_report(0x2000).domain(0xabcd, 0x8000, 0).words(&[900]).words(&words).bytes();
        let report = parse(&bytes).unwrap();
        assert_eq!((report.metadata().hop_latency, report.domain_metadata().len()), (Some(900), length * 4));
        assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0x8000));
    }
}

#[test]
fn without_domain_or_its_bits_there_is_no_domain_specific_metadata() {
    // report-2.0/metadata-06, report-2.0/metadata-08
    for (id, bits) in [(0, 0x8000), (0xabcd, 0)] {
        assert!(parse(&int_report(0).domain(id, bits, 0xffff).bytes()).is_ok());
        assert_eq!(fault(&int_report(0).domain(id, bits, 0).words(&[1])), mismatch(1, 0));
    }
}

#[test]
fn md_length_of_an_inner_only_report_is_ignored() {
    // report-2.0/individual-01
    let bytes = inner_only().md_length(200).inner(4, &[0x45; 20]).bytes();
    let report = parse(&bytes).unwrap();
    assert_eq!(
        (report.inner().len(), report.rep_md_bits(), report.domain_metadata()),
        (20, Instructions(0), &[][..])
    );
}

#[test]
fn inner_contents_follow_the_main_contents_directly() {
    // report-2.0/individual-02, report-2.0/individual-07
    let bytes = int_report(0x2000).words(&[1]).inner(3, &[0xee; 8]).bytes();
    let report = parse(&bytes).unwrap();
    assert_eq!((report.inner_at(), report.inner(), report.end), (4 + 8 + 4, &[0xee; 8][..], bytes.len()));
}

#[test]
fn main_contents_are_short_one_byte_before_they_end() {
    // report-2.0/individual-02
    let short = |left| ParseError::new(0, Header::IndividualReport, ErrorKind::Short { needed: 8, left });
    for words in 0..2 {
        assert_eq!(fault(&int_report(0).report_length(words)), short(usize::from(words) * 4));
    }
    assert!(parse(&int_report(0).report_length(2).bytes()).is_ok());
}

#[test]
fn md_length_past_the_report_is_an_error() {
    // report-2.0/individual-06
    let kind = ErrorKind::TooLarge { field: "MD Length", found: 3, most: 2 };
    let report = int_report(0x7000).words(&[1, 2]).md_length(3);
    assert_eq!(fault(&report), ParseError::new(0, Header::IndividualReport, kind));
}

#[test]
fn report_length_0_is_a_notification_without_contents() {
    // report-2.0/individual-04
    let bytes = inner_only().flags(0x80).bytes();
    let report = parse(&bytes).unwrap();
    assert_eq!((report.end, report.inner(), report.packet().is_none()), (4, &[][..], true));
}

#[test]
fn report_length_counts_the_words_behind_the_first() {
    // report-2.0/individual-04
    for words in [1, 2, 253, 254_u8] {
        let bytes = inner_only().inner(2, &vec![7; usize::from(words) * 4]).bytes();
        assert_eq!(bytes[1], words);
        let followed = [&bytes[..], &[0; 4]].concat();
        assert_eq!(parse(&followed).unwrap().end, bytes.len(), "{words} words");
        let kind =
            ErrorKind::TooLarge { field: "Report Length", found: words.into(), most: usize::from(words) - 1 };
        let cut = parse(&bytes[..bytes.len() - 1]).unwrap_err();
        assert_eq!(cut, ParseError::new(0, Header::IndividualReport, kind));
    }
}

#[test]
fn report_length_255_runs_to_the_end_of_the_datagram() {
    // report-2.0/individual-05
    for length in [0, 1, 1019, 1020, 1021, 5000] {
        let bytes = inner_only().inner(3, &vec![7; length]).report_length(255).bytes();
        let report = parse(&bytes).unwrap();
        assert_eq!((report.inner().len(), report.end), (length, bytes.len()), "{length} bytes");
    }
}

#[test]
fn report_types_without_a_definition_are_skipped_whole() {
    for report_type in 2..16 {
        let bytes = inner_only().report_type(report_type).inner(4, &[0x45; 20]).bytes();
        let report = parse(&bytes).unwrap();
        assert_eq!((report.end, report.inner(), report.packet().is_none()), (24, &[][..], true));
    }
}

#[test]
fn inner_types_say_what_the_packet_starts_with() {
    // report-2.0/individual-03, report-2.0/tlv-05
    for inner_type in 0..16 {
        let bytes = inner_only().inner(inner_type, &[0x45; 20]).bytes();
        let report = parse(&bytes).unwrap();
        let expected = match inner_type {
            3 => Some(Link::Ethernet),
            4 | 5 => Some(Link::Ip),
            _ => None,
        };
        assert_eq!(report.packet().map(|(link, _, _)| link), expected, "InType {inner_type}");
        assert_eq!(report.inner().len(), 20);
        assert_eq!(report.tlvs().count() > 0, inner_type == 1);
    }
}

#[test]
fn a_length_of_0_with_contents_is_read_leniently_only() {
    let bytes = int_report(0x2000).words(&[1]).inner(3, &[0xee; 16]).report_length(0).bytes();
    assert!(parse(&bytes).is_err());
    let report = lenient(&bytes);
    assert_eq!((report.deviation, report.inner().len()), (Some(Deviation::ReportLength0), 16));
    let notification = [&inner_only().bytes()[..], &inner_only().bytes()].concat();
    assert_eq!((lenient(&notification).deviation, lenient(&notification).end), (None, 4));
}

#[test]
fn a_length_past_the_end_of_the_datagram_is_read_leniently_only() {
    let frame = packet().tcp(1, 2).payload(b"abcd").build();
    let bytes = int_report(0x2000).words(&[1]).inner(3, &frame).report_length(200).bytes();
    assert!(parse(&bytes).is_err());
    let report = lenient(&bytes);
    assert!(report.deviations().eq([Deviation::ReportLengthPastEnd]));
    assert_eq!((report.end, report.metadata().hop_latency), (bytes.len(), Some(1)));
    let cut = IndividualReport::parse(&bytes, 0, Leniency::Lenient, Strictness::Truncated).unwrap();
    assert_eq!(cut.deviations().next(), None, "a capture that is cut is no fault of the report");
}

#[test]
fn a_wrong_md_length_is_read_leniently_where_the_packet_says_where_it_starts() {
    let frame = packet().tcp(1, 2).payload(b"ab").build();
    let ip = packet().ipv6().tcp(1, 2).payload(b"abcd").without_ethernet().build();
    for (inner_type, inner, link) in [(3, &frame, Link::Ethernet), (5, &ip, Link::Ip)] {
        // After what the bits ask for, after MD Length words, and a word later.
        for (words, md_length) in [(&[1][..], 7), (&[1, 2, 3][..], 3), (&[1, 2][..], 9)] {
            let mut bytes = int_report(0x2000).words(words).inner(inner_type, inner).bytes();
            bytes[2] = md_length;
            assert!(parse(&bytes).is_err());
            let report = lenient(&bytes);
            assert!(report.deviations().eq([Deviation::MdLength]), "{words:?}");
            assert_eq!(report.packet(), Some((link, &inner[..], 0)), "{words:?}");
            assert_eq!(report.metadata().hop_latency, Some(1));
            assert_eq!(report.domain_metadata().len(), (words.len() - 1) * 4);
        }
    }
    let mut nowhere = int_report(0x2000).words(&[1]).inner(3, &[0xee; 24]).bytes();
    nowhere[2] = 7;
    assert!(IndividualReport::parse(&nowhere, 0, Leniency::Lenient, Strictness::Whole).is_err());
}

#[test]
fn ethernet_announced_as_ip_is_read_leniently_only() {
    let frame = packet().tcp(1, 2).payload(b"ab").build();
    for inner_type in [4, 5] {
        let bytes = inner_only().inner(inner_type, &frame).bytes();
        assert_eq!(parse(&bytes).unwrap().packet().map(|(link, _, _)| link), Some(Link::Ip));
        let report = lenient(&bytes);
        assert_eq!(report.deviation, Some(Deviation::EthernetAnnouncedAsIp));
        assert_eq!(report.packet(), Some((Link::Ethernet, &frame[..], 0)));
    }
    let right = inner_only().inner(4, &frame[14..]).bytes();
    assert_eq!(lenient(&right).deviation, None);
}

#[test]
fn every_deviation_is_a_sentence() {
    let all = [Deviation::Version1, Deviation::ReportLength0, Deviation::EthernetAnnouncedAsIp];
    assert!(all.iter().all(|deviation| deviation.name().contains(' ')));
}

#[test]
fn vector_example_1_baseline_metadata_and_ipv4() {
    let bytes = vector(include_str!("../../../../../testdata/packets/report-2.0-ex1-baseline-ipv4.hex"));
    assert_eq!(bytes[..12], hex("14 0e 02 20 50 00 00 00 00 00 00 00"));
    let report = parse(&bytes).unwrap();
    let metadata = report.metadata();
    assert_eq!(metadata.interfaces.map(|ids| (ids.ingress, ids.egress)), Some((11, 12)));
    assert_eq!(metadata.queue.map(|queue| (queue.id, queue.occupancy)), Some((0, 300)));
    assert_eq!(report.packet().map(|(link, packet, at)| (link, packet.len(), at)), Some((Link::Ip, 40, 0)));
    assert!(report.tracked_flow());
}

#[test]
fn vector_example_2_tlvs_and_domain_specific_metadata() {
    // report-2.0/metadata-07, report-2.0/tlv-01, report-2.0/modes-02
    let bytes = vector(include_str!("../../../../../testdata/packets/report-2.0-ex2-tlv-ds-ipv4.hex"));
    let report = parse(&bytes).unwrap();
    assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0x8000));
    assert_eq!(report.domain_metadata(), [0x5a; 4]);
    let tlvs: Vec<_> = report.tlvs().map(|tlv| tlv.unwrap()).collect();
    let kinds: Vec<_> = tlvs.iter().map(|tlv| (tlv.tlv_type, tlv.template, tlv.data.len())).collect();
    assert_eq!(kinds, [(TlvType::DomainExtension, 1, 8), (TlvType::Ipv4, 0, 40)]);
    assert_eq!(report.packet().map(|(link, packet, at)| (link, packet.len(), at)), Some((Link::Ip, 40, 16)));
}

#[test]
fn vector_example_3_sinks_metadata_beside_an_embedded_stack() {
    // report-2.0/modes-03
    let bytes =
        vector(include_str!("../../../../../testdata/packets/report-2.0-ex3-embedded-md-newudp-tcp.hex"));
    let report = parse(&bytes).unwrap();
    assert_eq!(report.metadata().queue.map(|queue| queue.occupancy), Some(0x4d));
    assert_eq!(report.packet().map(|(_, packet, _)| packet.len()), Some(80));
}

#[test]
fn vector_example_4_inner_only_padded_to_a_word() {
    // report-2.0/individual-01
    let bytes =
        vector(include_str!("../../../../../testdata/packets/report-2.0-ex4-inner-only-vxlan-pad2.hex"));
    let report = parse(&bytes).unwrap();
    assert_eq!((report.first_word.report_type(), report.inner().len()), (ReportType::InnerOnly, 132));
}

#[test]
fn vector_report_of_an_int_mx_node() {
    // report-2.0/modes-02
    let bytes = vector(include_str!("../../../../../testdata/packets/report-2.0-mx-transit-report.hex"));
    let report = parse(&bytes).unwrap();
    assert_eq!((report.rep_md_bits(), report.domain_specific_id()), (Instructions::QUEUE, 0xabcd));
    assert_eq!((report.ds_md_bits(), report.domain_metadata()), (0, &[][..]));
}

#[test]
fn vector_report_of_a_node_that_rounds_its_length_down() {
    let bytes = vector(include_str!("../../../../../testdata/packets/report-2.0-switchp416-local-flow.hex"));
    let report = parse(&bytes).unwrap();
    let metadata = report.metadata();
    assert_eq!(metadata.ingress_timestamp, Some(0x11_2233_4455));
    assert_eq!(metadata.egress_timestamp, Some(0x11_2233_5555));
    assert_eq!(report.packet().map(|(link, packet, _)| (link, packet.len())), Some((Link::Ethernet, 120)));
}
