//! Does a report hold as much of a packet as is asked for, in a form its version has?

use super::{InnerContents, InnerType, IpVersion, Link};
use crate::config::{InnerForm, ReportConfig, ReportVersion};

fn contents(version: ReportVersion, inner: InnerForm, truncate: u16) -> InnerContents {
    InnerContents::new(&ReportConfig { version, inner, truncate, ..ReportConfig::default() })
}

/// Type, bytes and how much of the packet is kept, of the first `length` bytes of a packet.
fn of(mut contents: InnerContents, link: Link, length: usize) -> (InnerType, Vec<u8>, usize) {
    let packet: Vec<u8> = (0_u8..=255).cycle().take(length).collect();
    let inner = contents.of(link, IpVersion::V6, &packet);
    (inner.inner_type, inner.bytes.to_vec(), inner.kept)
}

#[test]
fn a_report_2_0_is_cut_at_a_word_boundary_and_others_where_it_is_asked() {
    for (version, kept) in [(ReportVersion::V2_0, 8), (ReportVersion::V1_0, 11), (ReportVersion::V0_5, 11)] {
        let (inner_type, bytes, found) = of(contents(version, InnerForm::Packet, 11), Link::Ethernet, 12);
        assert_eq!((inner_type, bytes.len(), found), (InnerType::Ethernet, kept, kept));
        let (_, bytes, found) = of(contents(version, InnerForm::Packet, 11), Link::Ethernet, 11);
        assert_eq!((bytes.len(), found), (11, 11));
    }
}

#[test]
fn an_ip_packet_is_put_into_a_frame_for_0_5() {
    let (inner_type, bytes, kept) = of(contents(ReportVersion::V0_5, InnerForm::Packet, 128), Link::Ip, 3);
    assert_eq!(inner_type, InnerType::Ethernet);
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd, 0, 1, 2]);
    assert_eq!(kept, 3);
    let (inner_type, bytes, _) = of(contents(ReportVersion::V1_0, InnerForm::Packet, 128), Link::Ip, 3);
    assert_eq!((inner_type, bytes.as_slice()), (InnerType::Ipv6, &[0, 1, 2][..]));
}

#[test]
fn a_tlv_says_what_it_holds_and_is_padded_to_whole_words() {
    let (inner_type, bytes, kept) = of(contents(ReportVersion::V2_0, InnerForm::Tlv, 128), Link::Ip, 5);
    assert_eq!((inner_type, kept), (InnerType::Tlv, 5));
    assert_eq!(bytes, [0x30, 2, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0]);
    let (_, bytes, _) = of(contents(ReportVersion::V2_0, InnerForm::Tlv, 128), Link::Ethernet, 4);
    assert_eq!(bytes, [0x10, 1, 0, 0, 0, 1, 2, 3]);
}

#[test]
fn a_tlv_is_at_most_255_words() {
    for (length, kept) in [(1019, 1019), (1020, 1020), (1021, 1020), (5000, 1020)] {
        let (_, bytes, found) =
            of(contents(ReportVersion::V2_0, InnerForm::Tlv, 9000), Link::Ethernet, length);
        assert_eq!((found, bytes.len(), bytes[1]), (kept, 1024, 255), "{length}");
    }
}
