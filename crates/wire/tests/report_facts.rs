//! Facts about reading and writing reports, by requirement.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use inband_wire::int::{HopMetadata, Instructions, Interfaces, Queue};
use inband_wire::report::{Draft, Drop, GroupHeader, InnerType, ReportGroup, ReportType, TlvType};
use zerocopy::IntoBytes;

const NOTHING: Draft<'_> = Draft {
    inner_type: InnerType::None,
    dropped: false,
    congested_queue: false,
    tracked_flow: false,
    intermediate: false,
    own_hop: false,
    metadata: HopMetadata {
        node_id: Some(7),
        interfaces: Some(Interfaces { ingress: 11, egress: 12 }),
        queue: Some(Queue { id: 3, occupancy: 300 }),
        ingress_timestamp: Some(0x0102_0304_0506_0708),
        ..HopMetadata::NONE
    },
    instructions: Instructions(0),
    drop: None,
    domain: None,
    inner: &[],
};

/// A datagram of these reports, written over a dirty buffer.
fn datagram(drafts: &[Draft<'_>]) -> Vec<u8> {
    let mut bytes = GroupHeader::new(5, 17, 7).as_bytes().to_vec();
    for draft in drafts {
        let at = bytes.len();
        bytes.resize(at + draft.length(), 0xa5);
        assert_eq!(draft.write(&mut bytes[at..]), Some(draft.length()));
    }
    bytes
}

#[test]
fn the_tracking_bits_are_independent_and_the_reserved_ones_zero() {
    // report-2.0/individual-08, report-2.0/individual-09, report-2.0/individual-10, report-2.0/individual-11
    // report-2.0/individual-12, report-2.0/transport-05
    for bits in 0..16_u8 {
        let [dropped, congested_queue, tracked_flow, intermediate] =
            [8, 4, 2, 1].map(|bit: u8| bits & bit != 0);
        let draft = Draft { dropped, congested_queue, tracked_flow, intermediate, ..NOTHING };
        let mut bytes = datagram(&[draft]);
        assert_eq!(bytes[8 + 3], bits << 4);
        bytes[8 + 3] |= 0x0f;
        let group = ReportGroup::parse(&bytes).unwrap();
        let report = group.reports().next().unwrap().unwrap();
        assert_eq!(
            [report.dropped(), report.congested_queue(), report.tracked_flow(), report.intermediate()],
            [dropped, congested_queue, tracked_flow, intermediate]
        );
    }
}

#[test]
fn a_report_leaves_out_what_is_not_available_and_counts_what_is_left() {
    // report-2.0/metadata-01, report-2.0/metadata-02, report-2.0/metadata-04, report-2.0/metadata-05
    // report-2.0/individual-02, report-2.0/individual-06
    let bytes = datagram(&[Draft { instructions: Instructions(0xff80), ..NOTHING }]);
    assert_eq!(bytes[8..12], [0x10, 6, 4, 0]);
    assert_eq!(bytes[12..20], [0x58, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[20..], [0, 11, 0, 12, 3, 0, 1, 44, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn queue_and_drop_reason_follow_the_other_metadata() {
    // report-2.0/metadata-03
    let drop = Some(Drop { queue_id: 9, reason: 80 });
    let bytes = datagram(&[Draft { instructions: Instructions::QUEUE, drop, dropped: true, ..NOTHING }]);
    assert_eq!(bytes[12..14], [0x10, 0x01]);
    assert_eq!(bytes[20..], [3, 0, 1, 44, 9, 80, 0, 0]);
    let group = ReportGroup::parse(&bytes).unwrap();
    assert_eq!(group.reports().next().unwrap().unwrap().drop(), drop);
}

#[test]
fn domain_specific_metadata_stands_behind_the_baseline() {
    // report-2.0/metadata-07
    let draft =
        Draft { instructions: Instructions::QUEUE, domain: Some((0xabcd, 0x8000, &[1, 2, 3, 4])), ..NOTHING };
    let bytes = datagram(&[draft]);
    let group = ReportGroup::parse(&bytes).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    assert_eq!((report.domain_specific_id(), report.ds_md_bits()), (0xabcd, 0x8000));
    assert_eq!(report.domain_metadata(), [1, 2, 3, 4]);
    assert_eq!(report.metadata().queue, NOTHING.metadata.queue);
}

#[test]
fn domain_0_announces_no_metadata_of_its_own() {
    // report-2.0/metadata-06: more metadata than RepMdBits name contradicts them.
    let mut bytes = datagram(&[Draft { domain: Some((0xabcd, 0x8000, &[1, 2, 3, 4])), ..NOTHING }]);
    assert!(ReportGroup::parse(&bytes).unwrap().reports().next().unwrap().is_ok());
    bytes[14..16].fill(0);
    let error = ReportGroup::parse(&bytes).unwrap().reports().next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "individual report at byte 8: MD Length is 1, the other fields imply 0");
}

#[test]
fn a_report_of_255_words_runs_to_the_end_and_one_of_254_does_not() {
    // report-2.0/individual-05, report-2.0/individual-04
    for (words, length) in [(253, 253), (254, 254), (255, 255), (300, 255)] {
        let inner = vec![0x45; words * 4];
        let draft = Draft { inner_type: InnerType::Ipv4, inner: &inner, ..NOTHING };
        let last = datagram(&[draft]);
        assert_eq!(last[9], length, "{words} words");
        let group = ReportGroup::parse(&last).unwrap();
        let report = group.reports().next().unwrap().unwrap();
        assert_eq!(report.inner().len(), words * 4);
    }
    let inner = [0x45; 254 * 4];
    let first = Draft { inner_type: InnerType::Ipv4, inner: &inner, ..NOTHING };
    let both = datagram(&[first, NOTHING]);
    assert_eq!(ReportGroup::parse(&both).unwrap().reports().map(Result::unwrap).count(), 2);
}

#[test]
fn all_reports_of_a_datagram_are_of_the_node_in_its_header() {
    // report-2.0/group-01, report-2.0/group-04, report-2.0/group-06, report-2.0/group-07
    let bytes = datagram(&[NOTHING, NOTHING, NOTHING]);
    let group = ReportGroup::parse(&bytes).unwrap();
    assert_eq!((group.header.node_id(), group.header.hw_id(), group.header.sequence()), (7, 5, 17));
    let types: Vec<_> = group.reports().map(|report| report.unwrap().first_word.report_type()).collect();
    assert_eq!(types, [ReportType::InnerOnly; 3]);
}

#[test]
fn a_datagram_without_any_report_is_cut() {
    // report-2.0/group-04
    let header = GroupHeader::new(5, 17, 7);
    for behind in [&[][..], &[0x10], &[0x10, 0, 0]] {
        let cut = [header.as_bytes(), behind].concat();
        let reports: Vec<_> = ReportGroup::parse(&cut).unwrap().reports().collect();
        assert_eq!(reports.len(), 1);
        let error = reports[0].unwrap_err().to_string();
        assert_eq!(error, format!("individual report at byte 8: 4 bytes needed, {} left", behind.len()));
    }
}

#[test]
fn tlvs_follow_one_another_with_their_own_numbers() {
    // report-2.0/tlv-01, report-2.0/tlv-02, report-2.0/tlv-03, report-2.0/tlv-04
    let inner = [
        0x00, 1, 0xbe, 0xef, 1, 2, 3, 4, // domain-specific data with a template
        0x10, 0, 0, 0, // Ethernet, empty
        0x20, 1, 0, 0, 0x45, 0, 0, 0, // IPv4
        0x30, 0, 0, 0, // IPv6, empty
        0x40, 0, 0, 0, // reserved
    ];
    let bytes = datagram(&[Draft { inner_type: InnerType::Tlv, inner: &inner, ..NOTHING }]);
    let group = ReportGroup::parse(&bytes).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    let tlvs: Vec<_> = report.tlvs().map(|tlv| tlv.unwrap()).collect();
    let types: Vec<_> = tlvs.iter().map(|tlv| tlv.tlv_type).collect();
    assert_eq!(
        types,
        [TlvType::DomainExtension, TlvType::Ethernet, TlvType::Ipv4, TlvType::Ipv6, TlvType::Unknown(4)]
    );
    assert_eq!(tlvs.iter().map(|tlv| tlv.template).collect::<Vec<_>>(), [0xbeef, 0, 0, 0, 0]);
    assert_eq!(tlvs[0].data, [1, 2, 3, 4]);
}

#[test]
fn a_tlv_past_the_end_is_an_error_that_names_it() {
    // report-2.0/tlv-03
    let inner = [0x20, 2, 0, 0, 0x45, 0, 0, 0];
    let bytes = datagram(&[Draft { inner_type: InnerType::Tlv, inner: &inner, ..NOTHING }]);
    let group = ReportGroup::parse(&bytes).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    let error = report.tlvs().next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "report TLV at byte 0: TLVLength 2 is more than 1");
}

#[test]
fn domain_specific_data_without_tlvs_is_the_rest_of_the_report() {
    // report-2.0/tlv-05, report-2.0/individual-03, report-2.0/individual-07
    let inner = [9, 8, 7, 6, 5, 4, 3, 2];
    let bytes = datagram(&[Draft { inner_type: InnerType::DomainExtension, inner: &inner, ..NOTHING }]);
    let group = ReportGroup::parse(&bytes).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    assert_eq!(report.inner(), inner);
    assert!(report.packet().is_none() && report.tlvs().next().is_none());
}

#[test]
fn the_md_length_of_an_inner_only_report_is_sent_as_zero_and_ignored() {
    // report-2.0/individual-01
    let inner = [0x45, 0, 0, 0];
    let mut bytes = datagram(&[Draft { inner_type: InnerType::Ipv4, inner: &inner, ..NOTHING }]);
    assert_eq!(bytes[10], 0);
    bytes[10] = 9;
    let group = ReportGroup::parse(&bytes).unwrap();
    assert_eq!(group.reports().next().unwrap().unwrap().inner(), inner);
}

#[test]
fn reserved_metadata_of_a_report_takes_a_word_and_is_told_apart() {
    // report-2.0/metadata-01
    let mut bytes = datagram(&[Draft { instructions: Instructions::QUEUE, ..NOTHING }]);
    bytes[9] += 2;
    bytes[10] += 2;
    bytes[13] = 0x42;
    bytes.extend([0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff]);
    let group = ReportGroup::parse(&bytes).unwrap();
    let report = group.reports().next().unwrap().unwrap();
    assert_eq!(report.metadata().queue, NOTHING.metadata.queue);
    assert_eq!(report.reserved().collect::<Vec<_>>(), [(9, Some(9)), (14, None)]);
}
