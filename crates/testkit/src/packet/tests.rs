//! The packet builder against bytes written by other programs.

use super::{Checksum, packet};
use crate::hex;
use crate::oracle;

#[test]
fn tcp_over_ipv4_is_laid_out_as_the_rfcs_draw_it() {
    let built = packet().addresses(&[10, 1, 1, 1], &[10, 2, 2, 2]).tcp(40000, 80).payload(b"INT").build();
    let expected = hex("
        020000000002 020000000001 0800                                          # Ethernet
        4500 002b 1234 4000 4006 1194 0a010101 0a020202                         # IPv4, RFC 791
        9c40 0050 00001000 00002000 5018 2000 0ee5 0000                         # TCP, RFC 9293
        494e54");
    assert_eq!(built, expected);
}

#[test]
fn checksums_of_rfc_1071_are_those_of_the_rfc() {
    let bytes = hex("0001 f203 f4f5 f6f7");
    assert_eq!(oracle::ones_complement_sum(&[&bytes]), 0xddf2);
    assert_eq!(oracle::checksum(&[&bytes]), 0x220d);
}

#[test]
fn every_part_moves_the_parts_behind_it() {
    let frame = packet()
        .tag(0x88a8, 1)
        .vlan(2)
        .ipv6()
        .extension(0, &[1, 4, 0, 0, 0, 0])
        .extension(60, &[0; 14])
        .udp(1, 2)
        .payload(b"odd")
        .padding(&[0xee; 3])
        .build();
    let at = oracle::anatomy(&frame).expect("an IP packet");
    assert_eq!((at.l3, at.l3_length, at.protocol), (22, 40 + 8 + 16, 17));
    assert_eq!(at.end + 3, frame.len());
    assert_eq!(oracle::l4_sum(&frame), Some(0xffff));
}

#[test]
fn wrong_checksums_are_wrong_and_zero_is_none() {
    let udp = packet().udp(1, 2).payload(b"x");
    assert_ne!(oracle::l4_sum(&udp.clone().checksum(Checksum::WrongBy(1)).build()), Some(0xffff));
    assert_eq!(oracle::l4_sum(&udp.checksum(Checksum::Field(0)).build()), None);
}

#[test]
fn later_fragments_have_no_transport_header() {
    for version in [4, 6] {
        let base = if version == 4 { packet().ipv4() } else { packet().ipv6() };
        let later = base.tcp(1, 2).payload(b"rest").fragment(185, false).build();
        let at = oracle::anatomy(&later).expect("an IP packet");
        assert!(at.is_fragment);
        assert_eq!((at.protocol, at.end - at.l3 - at.l3_length), (6, 4));
    }
}
