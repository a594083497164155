use std::net::SocketAddr;

use super::{destination, segment_bytes, socket_address};

#[test]
fn the_size_of_segments_is_found_behind_other_control_messages() {
    let controls = [control(libc::SOL_SOCKET, 40, 7), control(libc::SOL_UDP, libc::UDP_GRO, 256)].concat();

    assert_eq!(segment_bytes(&controls), Some(256));
    assert_eq!(segment_bytes(&controls[24..]), Some(256));
}

#[test]
fn without_the_control_message_there_is_one_datagram() {
    assert_eq!(segment_bytes(&[]), None);
    assert_eq!(segment_bytes(&control(libc::SOL_SOCKET, 40, 7)), None);
}

#[test]
fn control_messages_that_are_cut_or_say_nonsense_give_nothing() {
    let whole = control(libc::SOL_UDP, libc::UDP_GRO, 256);
    for length in 0..20 {
        assert_eq!(segment_bytes(&whole[..length]), None, "{length}");
    }
    assert_eq!(segment_bytes(&control(libc::SOL_UDP, libc::UDP_GRO, 0)), None);
    assert_eq!(segment_bytes(&control(libc::SOL_UDP, libc::UDP_GRO, -1)), None);
    let mut endless = control(libc::SOL_SOCKET, 40, 7);
    endless[..8].fill(0xff);
    assert_eq!(segment_bytes(&endless), None);
}

#[test]
fn the_destination_is_found_beside_the_size_of_segments() {
    let segment = control(libc::SOL_UDP, libc::UDP_GRO, 256);
    let header = |length: usize, level: i32, kind: i32| {
        [&length.to_ne_bytes()[..], &level.to_ne_bytes(), &kind.to_ne_bytes()].concat()
    };
    // The interface, the local address, the destination, and padding.
    let v4 = [
        header(28, libc::IPPROTO_IP, libc::IP_PKTINFO),
        vec![1, 0, 0, 0, 9, 9, 9, 9, 10, 0, 0, 1, 0, 0, 0, 0],
    ];
    let v6 = [
        header(36, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO),
        [vec![0; 15], vec![1], vec![1, 0, 0, 0]].concat(),
    ];

    for (told, expected) in [(v4.concat(), "10.0.0.1"), (v6.concat(), "::1")] {
        let expected = Some(expected.parse().unwrap());
        assert_eq!(destination(&told), expected);
        assert_eq!(destination(&[segment.clone(), told.clone()].concat()), expected);
        assert_eq!(destination(&told[..24]), None, "{told:?}");
    }
    assert_eq!(destination(&segment), None);
}

#[test]
fn addresses_of_both_families_are_read_and_no_other() {
    let mut bytes = [0xa5; 128];
    bytes[..8].copy_from_slice(&[2, 0, 0x7f, 0xfe, 127, 0, 0, 1]);
    assert_eq!(socket_address(&bytes), Some("127.0.0.1:32766".parse::<SocketAddr>().unwrap()));

    let mut bytes = [0; 128];
    bytes[..4].copy_from_slice(&[10, 0, 0x7f, 0xfe]);
    bytes[23] = 1;
    assert_eq!(socket_address(&bytes), Some("[::1]:32766".parse::<SocketAddr>().unwrap()));

    assert_eq!(socket_address(&[0; 128]), None);
}

fn control(level: i32, kind: i32, value: i32) -> Vec<u8> {
    let mut bytes = 20_usize.to_ne_bytes().to_vec();
    for number in [level, kind, value, 0] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes
}
