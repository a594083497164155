//! Drafts: their output reads back, in a dirty buffer, at every length.

use std::vec;
use std::vec::Vec;

use crate::int::instruction::Instructions;
use crate::int::metadata::{HopMetadata, Interfaces, Queue};
use crate::report::first_word::{InnerType, ReportType};
use crate::report::individual::{Drop, IndividualReport};
use crate::report::{GroupHeader, ReportGroup};
use zerocopy::IntoBytes;

use super::Draft;

const ALL: Instructions = Instructions(0xfffe);

/// A draft without metadata.
fn draft(inner: &[u8]) -> Draft<'_> {
    Draft {
        inner_type: InnerType::Ethernet,
        dropped: false,
        congested_queue: false,
        tracked_flow: false,
        intermediate: false,
        own_hop: false,
        metadata: HopMetadata::default(),
        instructions: ALL,
        drop: None,
        domain: None,
        inner,
    }
}

fn metadata() -> HopMetadata {
    HopMetadata {
        node_id: Some(9),
        interfaces: Some(Interfaces { ingress: 11, egress: 12 }),
        queue: Some(Queue { id: 0, occupancy: 300 }),
        ..HopMetadata::default()
    }
}

/// Writes a draft into a dirty buffer after a group header.
fn written(draft: &Draft<'_>) -> Vec<u8> {
    let mut out = vec![0xa5; 8 + draft.length() + 4];
    out[..8].copy_from_slice(GroupHeader::new(0, 1, 9).as_bytes());
    assert_eq!(draft.write(&mut out[8..]), Some(draft.length()));
    assert_eq!(out.split_off(8 + draft.length()), [0xa5; 4]);
    out
}

fn with_report(datagram: &[u8], check: impl FnOnce(&IndividualReport<'_>)) {
    let mut reports = ReportGroup::parse(datagram).unwrap().reports();
    check(&reports.next().unwrap().unwrap());
    assert!(reports.next().is_none());
}

#[test]
fn only_available_metadata_is_written_and_the_node_id_never() {
    // report-2.0/metadata-02, report-2.0/metadata-04, report-2.0/metadata-05, int-2.1/mx-19, int-2.1/mx-20,
    // int-2.1/mx-29, int-2.1/mx-30, int-2.1/mx-36
    let bytes = written(&Draft { metadata: metadata(), tracked_flow: true, ..draft(&[0xee; 16]) });
    assert_eq!(bytes[8..20], [0x13, 8, 2, 0x20, 0x50, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[20..28], [0, 11, 0, 12, 0, 0, 1, 44]);
    with_report(&bytes, |report| {
        assert_eq!(report.rep_md_bits(), Instructions::INTERFACES | Instructions::QUEUE);
        assert_eq!(report.metadata(), HopMetadata { node_id: None, ..metadata() });
        assert_eq!(report.inner(), [0xee; 16]);
    });
}

#[test]
fn a_draft_without_main_contents_is_inner_only_with_md_length_zero() {
    // report-2.0/individual-01
    let bytes = written(&draft(&[0xee; 8]));
    assert_eq!(bytes[8..12], [0x03, 2, 0, 0]);
    with_report(&bytes, |report| assert_eq!(report.first_word.report_type(), ReportType::InnerOnly));
}

#[test]
fn a_node_that_speaks_for_itself_writes_main_contents_also_without_metadata() {
    // report-2.0/individual-02
    let bytes = written(&Draft { own_hop: true, ..draft(&[0xee; 8]) });
    assert_eq!(bytes[8..20], [0x13, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    with_report(&bytes, |report| assert_eq!(report.inner(), [0xee; 8]));
}

#[test]
fn a_drop_stands_last_of_the_baseline_with_bit_15() {
    // report-2.0/metadata-03, report-2.0/individual-08: queue and reason are the last word of the baseline.
    // int-2.1/md-33: and bit 15 of RepMdBits is set, as it never is without a drop.
    let kept = written(&Draft { metadata: metadata(), ..draft(&[]) });
    with_report(&kept, |report| assert_eq!(report.rep_md_bits().0 & 1, 0));
    let drop = Some(Drop { queue_id: 3, reason: 0x50 });
    let bytes = written(&Draft { drop, dropped: true, metadata: metadata(), ..draft(&[]) });
    assert_eq!(bytes[8..12], [0x13, 5, 3, 0x80]);
    assert_eq!(bytes[bytes.len() - 4..], [3, 0x50, 0, 0]);
    with_report(&bytes, |report| assert_eq!((report.drop(), report.rep_md_bits().0 & 1), (drop, 1)));
}

#[test]
fn a_checksum_complement_that_is_asked_for_is_no_bit_15() {
    // int-2.1/md-32
    let bytes = written(&Draft { instructions: Instructions(u16::MAX), metadata: metadata(), ..draft(&[]) });
    with_report(&bytes, |report| assert_eq!(report.drop(), None));
}

#[test]
fn domain_specific_metadata_follows_with_its_id_and_bits() {
    // report-2.0/metadata-07
    let domain = Some((0xabcd, 0x8001, &[0xdd; 8][..]));
    let bytes = written(&Draft { domain, metadata: metadata(), ..draft(&[1, 2, 3, 4]) });
    with_report(&bytes, |report| {
        assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0x8001));
        assert_eq!((report.domain_metadata(), report.inner()), (&[0xdd; 8][..], &[1, 2, 3, 4][..]));
    });
}

#[test]
fn every_combination_of_flags_is_written() {
    // report-2.0/individual-08, report-2.0/individual-09, report-2.0/individual-10, report-2.0/individual-11,
    // report-2.0/individual-12
    for flags in 0..16 {
        let [dropped, congested_queue, tracked_flow, intermediate] = [8, 4, 2, 1].map(|bit| flags & bit != 0);
        let bytes = written(&Draft { dropped, congested_queue, tracked_flow, intermediate, ..draft(&[]) });
        assert_eq!(bytes[11], flags << 4);
    }
}

#[test]
fn inner_contents_are_padded_with_zeros_to_a_word() {
    // report-2.0/individual-04
    for length in 0..=9_usize {
        let inner = vec![0xee; length];
        let bytes = written(&draft(&inner));
        assert_eq!(usize::from(bytes[9]), length.div_ceil(4), "{length} bytes");
        assert_eq!(bytes[12..12 + length], inner, "{length} bytes");
        assert!(bytes[12 + length..].iter().all(|byte| *byte == 0), "{length} bytes");
    }
}

#[test]
fn a_report_of_255_words_or_more_runs_to_the_end() {
    // report-2.0/individual-05
    for (length, field) in [(1016, 254), (1017, 255), (1020, 255), (1024, 255), (8000, 255)] {
        let inner = vec![7; length];
        let bytes = written(&draft(&inner));
        assert_eq!(bytes[9], field, "{length} bytes");
        with_report(&bytes, |report| assert_eq!(report.inner()[..length], inner));
    }
}

#[test]
fn a_buffer_one_byte_too_small_takes_nothing() {
    let draft = Draft { metadata: metadata(), ..draft(&[1, 2, 3]) };
    let mut out = [0xa5; 24];
    assert_eq!(draft.length(), 24);
    assert_eq!(draft.write(&mut out[..23]), None);
    assert_eq!(draft.write(&mut out), Some(24));
}

#[test]
fn metadata_longer_than_255_words_is_not_written() {
    let metadata = [0xdd; 256 * 4];
    let mut out = [0xa5; 2000];
    for (words, is_written) in [(255, true), (256, false)] {
        let draft = Draft { domain: Some((1, 1, &metadata[..words * 4])), ..draft(&[]) };
        assert_eq!(draft.write(&mut out).is_some(), is_written, "{words} words");
    }
}
