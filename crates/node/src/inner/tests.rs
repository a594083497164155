//! Packet fragments in reports: their length and form.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::{InnerContents, InnerType, IntSpan, IpVersion, Link, Reported};
use crate::config::{InnerForm, ReportConfig, ReportVersion};
use crate::domains::ValueContext;
use crate::interfaces::Interface;
use crate::passage::{Hop, Identity, Passage};
use crate::reported::{Inserted, Tracking};

fn contents(version: ReportVersion, inner: InnerForm, truncate: u16) -> InnerContents {
    InnerContents::new(&ReportConfig { version, inner, truncate, ..ReportConfig::default() })
}

/// Type, bytes and kept length, for the first `length` bytes of a packet.
fn of(contents: InnerContents, link: Link, length: usize) -> (InnerType, Vec<u8>) {
    within(contents, link, length, IntSpan::default(), usize::MAX).unwrap()
}

/// As [`of`], for a packet with INT, in at most `room` bytes.
fn within(
    mut contents: InnerContents,
    link: Link,
    length: usize,
    int: IntSpan,
    room: usize,
) -> Option<(InnerType, Vec<u8>)> {
    let packet: Vec<u8> = (0_u8..=255).cycle().take(length).collect();
    let (passage, interface) = (Passage::default(), Interface::NONE);
    let identity = Identity { node_id: None, interfaces: true, level2_interfaces: true };
    let hop = Hop { identity, ingress: interface, egress: interface, device: &passage.metadata };
    let reported = Reported {
        link,
        ip: IpVersion::V6,
        packet: &packet,
        int,
        hop: &hop,
        values: &ValueContext::default(),
        inserted: Inserted::default(),
        tracking: Tracking::FLOW,
        latency: None,
    };
    let inner = contents.of(&reported, room)?;
    Some((inner.inner_type, inner.bytes.to_vec()))
}

#[test]
fn a_report_2_0_is_cut_at_a_word_boundary_and_others_where_it_is_asked() {
    for (version, kept) in [(ReportVersion::V2_0, 8), (ReportVersion::V1_0, 11), (ReportVersion::V0_5, 11)] {
        let (inner_type, bytes) = of(contents(version, InnerForm::Packet, 11), Link::Ethernet, 12);
        assert_eq!((inner_type, bytes.len()), (InnerType::Ethernet, kept));
        let (_, bytes) = of(contents(version, InnerForm::Packet, 11), Link::Ethernet, 11);
        assert_eq!(bytes.len(), 11);
    }
}

#[test]
fn what_is_kept_is_int_and_so_many_bytes_of_the_original_packet() {
    // int-2.1/md-43
    let at = |end: usize| IntSpan { bytes: 20, end };
    for (version, truncate, int, kept) in [
        (ReportVersion::V2_0, 128, at(74), 148),
        (ReportVersion::V1_0, 128, at(74), 148),
        (ReportVersion::V2_0, 130, at(74), 148),
        (ReportVersion::V0_5, 130, at(74), 150),
        // INT lies beyond the kept length, so the bytes before it are included.
        (ReportVersion::V2_0, 16, at(74), 76),
        (ReportVersion::V1_0, 16, at(74), 74),
        (ReportVersion::V2_0, 0, at(74), 76),
        (ReportVersion::V2_0, 0, at(198), 200),
        (ReportVersion::V2_0, 0, at(199), 200),
        // A capture truncated the packet inside INT.
        (ReportVersion::V2_0, 16, at(260), 200),
    ] {
        let contents = contents(version, InnerForm::Packet, truncate);
        let (_, bytes) = within(contents, Link::Ethernet, 200, int, usize::MAX).unwrap();
        assert_eq!(
            bytes.len(),
            kept,
            "{version:?} with truncate = {truncate} and INT up to byte {}",
            int.end
        );
    }
}

#[test]
fn a_short_path_mtu_cuts_the_original_packet_and_never_int() {
    let int = IntSpan { bytes: 20, end: 74 };
    for (version, form, room, kept) in [
        (ReportVersion::V2_0, InnerForm::Packet, 148, Some(148)),
        (ReportVersion::V2_0, InnerForm::Packet, 147, Some(144)),
        (ReportVersion::V2_0, InnerForm::Packet, 76, Some(76)),
        (ReportVersion::V2_0, InnerForm::Packet, 75, None),
        (ReportVersion::V1_0, InnerForm::Packet, 74, Some(74)),
        (ReportVersion::V1_0, InnerForm::Packet, 73, None),
        (ReportVersion::V2_0, InnerForm::Tlv, 80, Some(80)),
        (ReportVersion::V2_0, InnerForm::Tlv, 79, None),
    ] {
        let contents = contents(version, form, 128);
        let found = within(contents, Link::Ethernet, 200, int, room).map(|(_, bytes)| bytes.len());
        assert_eq!(found, kept, "{version:?} in {room} bytes");
    }
}

#[test]
fn a_tlv_that_int_does_not_fit_into_is_not_written() {
    for (end, is_written) in [(1020, true), (1021, false)] {
        let contents = contents(ReportVersion::V2_0, InnerForm::Tlv, 128);
        let found = within(contents, Link::Ethernet, 1500, IntSpan { bytes: 900, end }, usize::MAX);
        assert_eq!(found.is_some(), is_written);
    }
}

#[test]
fn an_ip_packet_is_put_into_a_frame_for_0_5() {
    let (inner_type, bytes) = of(contents(ReportVersion::V0_5, InnerForm::Packet, 128), Link::Ip, 3);
    assert_eq!(inner_type, InnerType::Ethernet);
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd, 0, 1, 2]);
    let (inner_type, bytes) = of(contents(ReportVersion::V1_0, InnerForm::Packet, 128), Link::Ip, 3);
    assert_eq!((inner_type, bytes.as_slice()), (InnerType::Ipv6, &[0, 1, 2][..]));
}

#[test]
fn a_tlv_says_what_it_holds_and_is_padded_to_whole_words() {
    let (inner_type, bytes) = of(contents(ReportVersion::V2_0, InnerForm::Tlv, 128), Link::Ip, 5);
    assert_eq!(inner_type, InnerType::Tlv);
    assert_eq!(bytes, [0x30, 2, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0]);
    let (_, bytes) = of(contents(ReportVersion::V2_0, InnerForm::Tlv, 128), Link::Ethernet, 4);
    assert_eq!(bytes, [0x10, 1, 0, 0, 0, 1, 2, 3]);
}

#[test]
fn a_tlv_is_at_most_255_words() {
    for (length, last) in [(1019, 0), (1020, 251), (1021, 251), (5000, 251)] {
        let (_, bytes) = of(contents(ReportVersion::V2_0, InnerForm::Tlv, 9000), Link::Ethernet, length);
        assert_eq!((bytes.len(), bytes[1], bytes[1023]), (1024, 255, last), "{length}");
    }
}
