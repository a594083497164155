//! The start of the packet for every link type.

use inband_wire::Link;

use super::{LinkType, set_ip_version, start};

#[test]
fn links_without_a_header_start_with_the_packet() {
    for number in [12, 14, 101, 228, 229] {
        assert_eq!(start(LinkType(number), &[0x45]), Some((Link::Ip, 0)), "link type {number}");
    }
    assert_eq!(start(LinkType::ETHERNET, &[]), Some((Link::Ethernet, 0)));
}

#[test]
fn a_link_type_is_known_where_a_packet_is_found_behind_it() {
    // IP behind each kind of header: a family, an EtherType in front, or one behind other fields.
    let mut cooked = [0; 32];
    cooked[14..16].copy_from_slice(&[0x08, 0x00]);
    let frames = [&[2, 0, 0, 0][..], &[0, 0, 0, 2], &[&[0x08, 0x00][..], &[0; 30]].concat(), &cooked];
    for number in 0..=u16::MAX {
        let link_type = LinkType(number);
        let is_found = frames.iter().any(|frame| start(link_type, frame).is_some());
        assert_eq!(link_type.is_known(), is_found, "{link_type}");
    }
}

#[test]
fn cooked_frames_start_after_their_header_when_they_carry_ip() {
    let mut sll = [0xa5; 17];
    sll[14..16].copy_from_slice(&[0x08, 0x00]);
    assert_eq!(start(LinkType::LINUX_SLL, &sll), Some((Link::Ip, 16)));
    assert_eq!(start(LinkType::LINUX_SLL, &sll[..16]), Some((Link::Ip, 16)));
    assert_eq!(start(LinkType::LINUX_SLL, &sll[..15]), None);

    let mut sll2 = [0xa5; 20];
    sll2[..2].copy_from_slice(&[0x86, 0xdd]);
    assert_eq!(start(LinkType::LINUX_SLL2, &sll2), Some((Link::Ip, 20)));
    assert_eq!(start(LinkType::LINUX_SLL2, &sll2[..19]), None);
}

#[test]
fn cooked_frames_start_behind_their_tags() {
    // libpcap puts the tag that the kernel took off between the protocol and the packet.
    for (link_type, protocol_at, end) in [(LinkType::LINUX_SLL, 14, 16), (LinkType::LINUX_SLL2, 0, 20)] {
        let mut frame = [0; 60];
        frame[protocol_at..][..2].copy_from_slice(&[0x88, 0xa8]);
        frame[end..][..8].copy_from_slice(&[0, 100, 0x81, 0, 0, 7, 0x08, 0]);
        assert_eq!(start(link_type, &frame), Some((Link::Ip, end + 8)));
        assert_eq!(start(link_type, &frame[..end + 6]), None, "cut");
        frame[end + 6..][..2].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(start(link_type, &frame), None, "ARP");
    }
}

#[test]
fn cooked_frames_with_arp_are_not_ip() {
    let mut frame = [0; 40];
    frame[14..16].copy_from_slice(&[0x08, 0x06]);
    assert_eq!(start(LinkType::LINUX_SLL, &frame), None);
}

#[test]
fn loopback_accepts_the_families_of_every_system() {
    assert_eq!(start(LinkType::NULL, &[2, 0, 0, 0]), Some((Link::Ip, 4)));
    assert_eq!(start(LinkType::NULL, &[0, 0, 0, 30]), Some((Link::Ip, 4)));
    assert_eq!(start(LinkType::LOOP, &[0, 0, 0, 24]), Some((Link::Ip, 4)));
    assert_eq!(start(LinkType::LOOP, &[24, 0, 0, 0]), None);
    assert_eq!(start(LinkType::NULL, &[2, 0, 0]), None);
    assert_eq!(start(LinkType::NULL, &[7, 0, 0, 0]), None);
}

#[test]
fn unknown_links_are_not_ip() {
    assert_eq!(start(LinkType(105), &[0x45; 60]), None);
    assert_eq!(LinkType(105).to_string(), "link type 105");
}

#[test]
fn a_link_header_follows_the_ip_version_of_its_packet() {
    let with = |link_type: LinkType, header: &[u8], is_ipv6: bool| {
        let mut header = header.to_vec();
        set_ip_version(link_type, &mut header, is_ipv6);
        header
    };
    let sll = [[0xa5; 14].as_slice(), &[0x86, 0xdd]].concat();
    assert_eq!(with(LinkType::LINUX_SLL, &sll, true), sll);
    assert_eq!(with(LinkType::LINUX_SLL, &sll, false)[14..], [0x08, 0x00]);
    let tagged = [[0xa5; 14].as_slice(), &[0x81, 0, 0, 7, 0x08, 0]].concat();
    let changed = with(LinkType::LINUX_SLL, &tagged, true);
    assert_eq!((&changed[14..16], &changed[18..]), (&[0x81, 0][..], &[0x86, 0xdd][..]));
    let sll2 = [[0x86, 0xdd].as_slice(), &[0; 18]].concat();
    assert_eq!(with(LinkType::LINUX_SLL2, &sll2, false)[..2], [0x08, 0x00]);
    assert_eq!(with(LinkType::NULL, &[24, 0, 0, 0], true), [24, 0, 0, 0]);
    assert_eq!(with(LinkType::NULL, &[24, 0, 0, 0], false), [2, 0, 0, 0]);
    assert_eq!(with(LinkType::NULL, &[0, 0, 0, 2], true), [0, 0, 0, 30]);
    assert_eq!(with(LinkType::LOOP, &[0, 0, 0, 2], false), [0, 0, 0, 2]);
    assert_eq!(with(LinkType::RAW, &[], true), []);
}
