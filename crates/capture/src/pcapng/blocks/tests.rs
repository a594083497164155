//! Block bodies as the pcapng draft draws them.

use super::{
    Clock, ENHANCED_PACKET, OBSOLETE_PACKET, Packet, SIMPLE_PACKET, check_section, parse_interface,
    parse_packet, section_order,
};
use crate::{ByteOrder, LinkType};

const MICROSECONDS: Clock = Clock { resolution: 6, offset_s: 0, snap_length: 0 };

#[test]
fn every_resolution_gives_nanoseconds() {
    let clock = |resolution| Clock { resolution, ..MICROSECONDS };
    assert_eq!(clock(6).nanoseconds(1_700_000_000_123_456), 1_700_000_000_123_456_000);
    assert_eq!(clock(9).nanoseconds(1_700_000_000_123_456_789), 1_700_000_000_123_456_789);
    assert_eq!(clock(0).nanoseconds(17), 17_000_000_000);
    assert_eq!(clock(12).nanoseconds(1_999), 1);
    assert_eq!(clock(127).nanoseconds(u64::MAX), 0);
    // A power of two: 2^-10 s, 2^-32 s (NTP), 2^-127 s.
    assert_eq!(clock(0x8a).nanoseconds(1_024 + 512), 1_500_000_000);
    assert_eq!(clock(0xa0).nanoseconds((7 << 32) + (1 << 31)), 7_500_000_000);
    assert_eq!(clock(0xff).nanoseconds(u64::MAX), 0);
}

#[test]
fn an_offset_moves_the_time_and_stays_within_u64() {
    let clock = |offset_s| Clock { offset_s, ..MICROSECONDS };
    assert_eq!(clock(10).nanoseconds(1), 10_000_001_000);
    assert_eq!(clock(-1).nanoseconds(1_500_000), 500_000_000);
    assert_eq!(clock(-2).nanoseconds(1_500_000), 0);
    assert_eq!(clock(i64::MAX).nanoseconds(u64::MAX), u64::MAX);
    assert_eq!(clock(i64::MIN).nanoseconds(u64::MAX), 0);
}

#[test]
fn an_interface_is_read_in_both_byte_orders() {
    let little = [
        &[113, 0, 0, 0, 0, 4, 0, 0][..],
        &[2, 0, 3, 0, b'e', b't', b'h', 0],
        &[9, 0, 1, 0, 9, 0, 0, 0],
        &[14, 0, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0, 0, 0, 0, 9, 0, 1, 0],
    ]
    .concat();
    let (interface, clock) = parse_interface(ByteOrder::Little, &little).unwrap();
    assert_eq!(interface.link_type, LinkType::LINUX_SLL);
    assert_eq!(interface.name.as_deref(), Some(&b"eth"[..]));
    assert_eq!(clock, Clock { resolution: 9, offset_s: -1, snap_length: 1024 });

    let big = [0, 1, 0, 0, 0, 0, 0, 96, 0, 9, 0, 1, 0x8a, 0, 0, 0];
    let (interface, clock) = parse_interface(ByteOrder::Big, &big).unwrap();
    assert_eq!(interface.link_type, LinkType::ETHERNET);
    assert_eq!(clock, Clock { resolution: 0x8a, offset_s: 0, snap_length: 96 });
}

#[test]
fn an_option_past_its_block_is_an_error() {
    let body = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 200, 0, b'e'];
    assert_eq!(parse_interface(ByteOrder::Little, &body).unwrap_err(), "option 2 runs past the block");
    assert_eq!(parse_interface(ByteOrder::Little, &body[..7]).unwrap_err(), "too short");
}

#[test]
fn the_three_packet_blocks_give_the_same_packet() {
    let enhanced = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 9, 1, 2, 3, 0];
    let expected = Packet {
        interface: 0,
        captured_at_ns: Some(((1 << 32) + 2) * 1_000),
        original_length: 9,
        data: &[1, 2, 3],
    };
    let clocks = [Clock { snap_length: 3, ..MICROSECONDS }];
    assert_eq!(parse_packet(ByteOrder::Big, ENHANCED_PACKET, &enhanced, &clocks).unwrap(), expected);
    // The obsolete block splits the first field: interface number and drop count.
    let mut obsolete = enhanced;
    obsolete[3] = 7;
    assert_eq!(parse_packet(ByteOrder::Big, OBSOLETE_PACKET, &obsolete, &clocks).unwrap(), expected);

    let simple = parse_packet(ByteOrder::Big, SIMPLE_PACKET, &enhanced[16..], &clocks).unwrap();
    assert_eq!(simple, Packet { captured_at_ns: None, original_length: 9, data: &[1, 2, 3], interface: 0 });
}

#[test]
fn a_packet_that_contradicts_its_block_is_an_error() {
    let block = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 9, 1, 2, 3, 0];
    let error =
        |kind, body: &[u8], clocks: &[Clock]| parse_packet(ByteOrder::Big, kind, body, clocks).unwrap_err();
    assert_eq!(error(ENHANCED_PACKET, &block, &[MICROSECONDS]), "4294967295 bytes captured, 4 in the block");
    assert_eq!(error(ENHANCED_PACKET, &block, &[]), "interface 0 is not described, the section has 0");
    assert_eq!(error(SIMPLE_PACKET, &block[16..], &[]), "interface 0 is not described, the section has 0");
    assert_eq!(error(SIMPLE_PACKET, &block[16..], &[MICROSECONDS]), "9 bytes captured, 4 in the block");
    assert_eq!(error(ENHANCED_PACKET, &block[..19], &[MICROSECONDS]), "too short");
}

#[test]
fn a_section_says_its_byte_order_and_version() {
    assert_eq!(section_order([0x1a, 0x2b, 0x3c, 0x4d]), Some(ByteOrder::Big));
    assert_eq!(section_order([0x4d, 0x3c, 0x2b, 0x1a]), Some(ByteOrder::Little));
    assert_eq!(section_order([0; 4]), None);
    assert!(check_section(ByteOrder::Big, &[0, 1, 0, 0]).is_ok());
    assert_eq!(check_section(ByteOrder::Big, &[0, 2, 0, 1]).unwrap_err(), "version 2.1, only 1.0 is known");
    assert_eq!(check_section(ByteOrder::Big, &[0; 3]).unwrap_err(), "too short");
}
