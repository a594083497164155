#![allow(clippy::unwrap_used, reason = "these are tests")]

use inband_wire::checksum::Sum;
use inband_wire::{Layers, Link, Strictness};

use super::fragments;

/// Router Alert, which every fragment has, between others that the first one has.
const OPTIONS: [u8; 16] = [7, 7, 4, 0, 0, 0, 0, 0x94, 4, 0, 0, 1, 68, 4, 5, 0];
const ROUTER_ALERT: [u8; 4] = [0x94, 4, 0, 0];

/// A packet with these options and this many bytes behind them.
fn packet(options: &[u8], payload: usize) -> Vec<u8> {
    let header_bytes = 20 + options.len();
    let length = u16::try_from(header_bytes + payload).unwrap().to_be_bytes();
    let first = 0x40 | u8::try_from(header_bytes / 4).unwrap();
    let mut ip = vec![first, 0, length[0], length[1], 0, 9, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 2];
    ip.extend(options);
    let checksum = Sum::of(&ip).checksum();
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let payload = (0..payload).map(|at| u8::try_from(at % 251).unwrap());
    ethernet.into_iter().chain(ip).chain(payload).collect()
}

fn parse(frame: &[u8]) -> Layers {
    Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap()
}

#[test]
fn options_are_in_the_first_fragment_and_those_to_be_copied_in_every_one() {
    for (options, later) in [
        (&OPTIONS[..], &ROUTER_ALERT[..]),
        (&ROUTER_ALERT, &ROUTER_ALERT),
        (&[], &[]),
        // An option with an impossible length, or without its end.
        (&[0x94, 4, 0, 0, 0x83, 1, 0x94, 4], &ROUTER_ALERT),
        (&[1, 1, 1, 0x94], &[]),
    ] {
        let frame = packet(options, 1_300);
        let layers = parse(&frame);

        let parts = fragments(&frame, &layers, 600).unwrap();

        let mut payload = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let layers = parse(part);
            assert_eq!(layers.end, part.len());
            assert!(layers.ip_length() <= 600, "{options:02x?}");
            assert_eq!(Sum::of(&part[14..layers.l4]).checksum(), 0, "{options:02x?}");
            assert_eq!(&part[34..layers.l4], if number == 0 { options } else { later });
            let place = u16::from_be_bytes([part[20], part[21]]);
            assert_eq!(usize::from(place & 0x1fff) * 8, payload.len());
            assert_eq!(place & 0x2000 != 0, number + 1 < parts.len());
            payload.extend_from_slice(&part[layers.l4..]);
        }
        assert_eq!(payload, frame[layers.l4..], "{options:02x?}");
        assert_eq!(parts.len(), 3, "{options:02x?}");
    }
}
