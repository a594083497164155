//! Shims: every first byte, every length, every use of the last 16 bits.

use zerocopy::{FromBytes, IntoBytes};

use crate::words::Words;

use super::{NextProtocolType, Shim};

fn shim(bytes: [u8; 4]) -> Shim {
    Shim::read_from_bytes(&bytes).unwrap()
}

#[test]
fn every_first_byte_is_type_npt_and_reserved_bits_or_g() {
    // int-2.1/l4-26, int-2.1/l4-28, int-2.1/gre-07
    for first in 0..=u8::MAX {
        let shim = shim([first, 7, 0, 0]);
        assert_eq!(shim.header_type(), first / 16);
        let npt = match first / 4 % 4 {
            0 => NextProtocolType::Payload,
            1 => NextProtocolType::UdpPayload,
            2 => NextProtocolType::L4Header,
            _ => NextProtocolType::Undefined,
        };
        assert_eq!(shim.next_protocol_type(), npt);
        assert_eq!(shim.reserved_is_zero(), first % 4 == 0);
        assert_eq!(shim.gre_added(), first & 8 != 0);
    }
}

#[test]
fn every_length_counts_words_behind_the_shim() {
    // int-2.1/l4-29, int-2.1/gre-10, int-2.1/vxlan-06
    let mut changed = shim([0x14, 0, 0x1e, 0x61]);
    for length in 0..=u8::MAX {
        assert_eq!(shim([0x10, length, 0, 0]).length(), Words::new(length));
        changed.set_length(Words::new(length));
        assert_eq!(changed.as_bytes(), [0x14, length, 0x1e, 0x61]);
    }
}

#[test]
fn the_original_dscp_is_in_the_upper_six_bits_of_the_last_byte() {
    // int-2.1/l4-13, int-2.1/l4-31, int-2.1/l4-32
    for dscp in 0..64 {
        let written = Shim::payload(1, Words::new(7), dscp);
        assert_eq!(written.as_bytes(), [0x10, 7, 0, dscp << 2]);
        assert_eq!(written.original_dscp(), dscp);
        assert_eq!(shim([0x13, 7, 0xff, dscp << 2 | 3]).original_dscp(), dscp, "reserved bits are ignored");
    }
}

#[test]
fn the_original_port_and_protocol_come_back() {
    // int-2.1/l4-06, int-2.1/l4-07, int-2.1/l4-33, int-2.1/l4-34
    for port in 0..=u16::MAX {
        assert_eq!(Shim::udp_payload(1, Words::new(7), port).original_udp_port(), port);
    }
    for protocol in 0..=u8::MAX {
        let written = Shim::l4_header(3, Words::new(3), protocol);
        assert_eq!(written.as_bytes(), [0x38, 3, 0, protocol]);
        assert_eq!(
            shim([0x3b, 3, 0xff, protocol]).original_ip_protocol(),
            protocol,
            "reserved bits are ignored"
        );
    }
}

#[test]
fn shims_of_the_specifications_figures() {
    // INT 2.1 "Examples".
    let seven = Words::new(7);
    assert_eq!(Shim::payload(1, seven, 0).as_bytes(), [0x10, 0x07, 0x00, 0x00]);
    assert_eq!(Shim::udp_payload(1, seven, 7777).as_bytes(), [0x14, 0x07, 0x1e, 0x61]);
    assert_eq!(Shim::l4_header(1, seven, 6).as_bytes(), [0x18, 0x07, 0x00, 0x06]);
    assert_eq!(Shim::gre(1, seven, true, 0x0800).as_bytes(), [0x18, 0x07, 0x08, 0x00]);
    assert_eq!(Shim::vxlan_gpe(1, Words::new(9), false, 3).as_bytes(), [0x10, 0x09, 0x00, 0x03]);
}

#[test]
fn gre_and_vxlan_gpe_shims_read_back_and_ignore_reserved_bits() {
    // int-2.1/gre-07, int-2.1/gre-09, int-2.1/gre-12, int-2.1/vxlan-03, int-2.1/vxlan-07
    for flag in [false, true] {
        let gre = Shim::gre(1, Words::new(3), flag, 0x86dd);
        assert_eq!((gre.gre_added(), gre.ethertype(), gre.header_type()), (flag, 0x86dd, 1));
        let vxlan = Shim::vxlan_gpe(3, Words::new(3), flag, 0x82);
        assert_eq!((vxlan.was_vxlan(), vxlan.next_protocol(), vxlan.header_type()), (flag, 0x82, 3));
    }
    assert!(!shim([0x17, 3, 0x08, 0]).gre_added());
    assert!(!shim([0x1f, 3, 0x7f, 3]).was_vxlan());
}
