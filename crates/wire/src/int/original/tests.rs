//! The original values kept by every encapsulation of every version.

use inband_testkit::{host_int, int_0_5, int_1_0, int_in_tunnel};

use crate::int::dialect::Deviations;
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;

use super::Original;

const NONE: Original =
    Original { dscp: None, destination_port: None, ip_protocol: None, ethertype: None, next_protocol: None };

/// The original values in the shim at the start of the bytes.
fn kept(bytes: &[u8], encapsulation: Encapsulation, version: Version) -> Original {
    let location = Location {
        encapsulation,
        header_type: HeaderType::Md,
        version,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end: bytes.len().max(16),
    };
    Original::read(bytes, &location)
}

#[test]
fn the_shim_of_2_1_keeps_one_thing() {
    let shim = [0x10, 3, 0x12, 0xb8];
    for (encapsulation, expected) in [
        (Encapsulation::Dscp, Original { dscp: Some(0x2e), ..NONE }),
        (Encapsulation::ProbeMarker, Original { dscp: Some(0x2e), ..NONE }),
        (Encapsulation::UdpPort, Original { destination_port: Some(0x12b8), ..NONE }),
        (Encapsulation::Udp, Original { ip_protocol: Some(0xb8), ..NONE }),
        (Encapsulation::Gre, Original { ethertype: Some(0x12b8), ..NONE }),
        (Encapsulation::VxlanGpe, Original { next_protocol: Some(0xb8), ..NONE }),
        (Encapsulation::Geneve, NONE),
    ] {
        assert_eq!(kept(&shim, encapsulation, Version::V2_1), expected);
        assert_eq!(kept(&shim[..3], encapsulation, Version::V2_1), NONE);
    }
}

#[test]
fn the_shim_of_1_0_keeps_the_dscp() {
    let bytes = int_1_0().last_of_shim(0xb8).bytes();
    let dscp = Original { dscp: Some(0x2e), ..NONE };
    assert_eq!(kept(&bytes, Encapsulation::Dscp, Version::V1_0), dscp);
    assert_eq!(kept(&bytes, Encapsulation::ProbeMarker, Version::V1_0), dscp);
    let next = Original { next_protocol: Some(0xb8), ..NONE };
    assert_eq!(kept(&bytes, Encapsulation::VxlanGpe, Version::V1_0), next);
    assert_eq!(kept(&bytes, Encapsulation::Geneve, Version::V1_0), NONE);
}

#[test]
fn the_tail_of_0_5_keeps_protocol_port_and_dscp() {
    let bytes = int_0_5().hop(1).behind(&[6, 0x1e, 0x61, 0x2e]).bytes();
    let all = Original { ip_protocol: Some(6), destination_port: Some(7777), dscp: Some(0x2e), ..NONE };
    assert_eq!(kept(&bytes, Encapsulation::Dscp, Version::V0_5), all);
    assert_eq!(kept(&bytes, Encapsulation::UdpPort, Version::V0_5), all);
    let location_end_is_cut = &bytes[..bytes.len() - 1];
    let location = Location {
        encapsulation: Encapsulation::Dscp,
        header_type: HeaderType::Md,
        version: Version::V0_5,
        deviations: Deviations::NONE,
        shim: 0,
        header: 4,
        end: bytes.len(),
    };
    assert_eq!(Original::read(location_end_is_cut, &location), NONE);
    let tunnel = int_in_tunnel().hop(1).bytes();
    let next = Original { next_protocol: Some(3), ..NONE };
    assert_eq!(kept(&tunnel, Encapsulation::VxlanGpe, Version::V0_5), next);
}

#[test]
fn the_tail_of_host_int_counts_behind_a_new_udp_header_only() {
    let bytes = host_int().behind(&[0, 0, 0, 1, 17, 0, 0, 0]).bytes();
    let protocol = Original { ip_protocol: Some(17), ..NONE };
    assert_eq!(kept(&bytes, Encapsulation::Udp, Version::HostInt0_5), protocol);
    assert_eq!(kept(&bytes, Encapsulation::Dscp, Version::HostInt0_5), NONE);
}
