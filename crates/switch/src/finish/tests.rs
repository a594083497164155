//! Segments and completed checksums are those that a device would have sent.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use inband_linux::frames::{Received, Segments, Unfinished};
use inband_wire::checksum::Sum;
use inband_wire::verify::{ChecksumState, l4_checksum};
use inband_wire::{Layers, Link, Strictness};

use super::{complete_left, finish};
use crate::counts::Cause;
use crate::packet::Pool;

/// Ethernet, IPv4 and TCP with PSH and FIN before `payload` bytes; lengths and checksums are incomplete.
fn tcp(payload: usize) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend_from_slice(&[8, 0]);
    frame.extend_from_slice(&[0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend_from_slice(&[4, 1, 0, 80, 0, 0, 0, 9, 0, 0, 0, 0, 0x50, 0x19, 1, 0, 0, 0, 0, 0]);
    frame.extend((0..payload).map(|at| u8::try_from(at % 251).unwrap()));
    let total = u16::try_from(40 + payload).unwrap();
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame
}

fn run(bytes: &[u8], vlan: Option<(u16, u16)>, unfinished: Unfinished) -> Result<Vec<Vec<u8>>, Cause> {
    let mut frames = Vec::new();
    let received = Received { bytes, vlan, came_at: 0, unfinished, is_cut: false };
    finish(&received, &mut Pool::default(), |packet, _| frames.push(packet.bytes().to_vec()))?;
    Ok(frames)
}

fn checksum(frame: &[u8]) -> ChecksumState {
    let layers = Layers::parse(Link::Ethernet, frame, Strictness::Whole).unwrap().unwrap();
    l4_checksum(frame, &layers)
}

#[test]
fn segments_carry_the_payload_once_with_their_own_numbers_lengths_and_checksums() {
    let whole = tcp(3_500);
    let unfinished = Unfinished { checksum: Some((34, 16)), segments: Some((Segments::Tcp, 1_000)) };

    for vlan in [None, Some((0x8100, 7))] {
        let shift = if vlan.is_some() { 4 } else { 0 };
        let frames = run(&whole, vlan, unfinished).unwrap();

        let lengths: Vec<usize> = frames.iter().map(|frame| frame.len() - 54 - shift).collect();
        assert_eq!(lengths, [1_000, 1_000, 1_000, 500]);
        let payload: Vec<u8> = frames.iter().flat_map(|frame| frame[54 + shift..].to_vec()).collect();
        assert_eq!(payload, whole[54..]);
        for (number, frame) in frames.iter().enumerate() {
            let at = |at: usize| u32::from_be_bytes(*frame[at + shift..].first_chunk().unwrap());
            assert_eq!(at(38), 9 + 1_000 * u32::try_from(number).unwrap());
            assert_eq!(at(16) & 0xffff, 0x1234 + u32::try_from(number).unwrap());
            assert_eq!(
                frame[47 + shift],
                if number == 3 { 0x19 } else { 0x10 },
                "FIN and PSH on the last one only"
            );
            assert_eq!(checksum(frame), ChecksumState::Ok);
        }
    }
}

#[test]
fn a_checksum_of_the_pseudo_header_alone_is_completed() {
    let mut frame = tcp(11);
    // The sum of addresses, protocol and length: 0x0a00 + 1 + 0x0a00 + 2 + 6 + 31.
    frame[50..52].copy_from_slice(&(0x1400_u16 + 3 + 6 + 31).to_be_bytes());

    let frames = run(&frame, None, Unfinished { checksum: Some((34, 16)), segments: None }).unwrap();

    assert_eq!(checksum(&frames[0]), ChecksumState::Ok);
    assert_eq!(frames[0][..50], frame[..50]);
}

#[test]
fn what_cannot_be_finished_is_refused_and_nothing_is_handed_over() {
    let frame = tcp(3_000);
    let cut = |segments, size| Unfinished { checksum: Some((34, 16)), segments: Some((segments, size)) };
    for (unfinished, cause) in [
        (cut(Segments::Tcp, 0), Cause::Segmentation),
        (cut(Segments::Udp, 1_000), Cause::Segmentation),
        (cut(Segments::Other(3), 1_000), Cause::Segmentation),
        (Unfinished { checksum: Some((35, 16)), ..cut(Segments::Tcp, 1_000) }, Cause::Segmentation),
        (Unfinished { checksum: Some((4_000, 16)), segments: None }, Cause::Malformed),
        (Unfinished { checksum: Some((34, 4_000)), segments: None }, Cause::Malformed),
    ] {
        assert_eq!(run(&frame, None, unfinished), Err(cause), "{unfinished:?}");
    }
    assert_eq!(run(&frame[..13], None, Unfinished::default()), Err(Cause::Malformed));
}

fn complete(frame: &mut [u8]) {
    if let Ok(Some(layers)) = Layers::parse(Link::Ethernet, frame, Strictness::Truncated) {
        complete_left(frame, &layers);
    }
}

/// A VXLAN packet around a copy of `inner`.
fn in_vxlan(inner: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend_from_slice(&[8, 0]);
    frame.extend_from_slice(&[0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    frame.extend_from_slice(&[0x30, 0x39, 0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0]);
    frame.extend_from_slice(inner);
    let length = u16::try_from(frame.len() - 14).unwrap();
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[38..40].copy_from_slice(&(length - 20).to_be_bytes());
    frame
}

#[test]
fn checksums_that_a_sender_has_left_are_found_by_their_value_also_in_tunnels() {
    let right = {
        let mut frame = tcp(11);
        frame[50..52].copy_from_slice(&(0x1400_u16 + 3 + 6 + 31).to_be_bytes());
        run(&frame, None, Unfinished { checksum: Some((34, 16)), segments: None }).unwrap().remove(0)
    };
    let with = |checksum: u16| {
        let mut frame = right.clone();
        frame[50..52].copy_from_slice(&checksum.to_be_bytes());
        frame
    };
    // The sum of addresses, protocol and length: 0x0a00 + 1 + 0x0a00 + 2 + 6 + 31.
    let left = 0x1400 + 3 + 6 + 31;
    for (frame, expected) in [
        (with(left), right.clone()),
        (in_vxlan(&with(left)), in_vxlan(&right)),
        // Correct and incorrect checksums stay unchanged.
        (right.clone(), right.clone()),
        (with(left + 1), with(left + 1)),
        (with(left)[..60].to_vec(), with(left)[..60].to_vec()),
        (with(left)[..20].to_vec(), with(left)[..20].to_vec()),
    ] {
        let mut completed = frame.clone();
        complete(&mut completed);
        assert_eq!(completed, expected, "{frame:02x?}");
    }
    // A checksum that equals that sum but is correct, for this payload of two bytes, stays unchanged.
    let mut both = tcp(2);
    let left = 0x1400 + 3 + 6 + 22;
    both[50..52].copy_from_slice(&u16::to_be_bytes(left));
    both[54..].fill(0);
    let missing = !Sum::of(&both[34..]).plus(Sum::word(left)).fold();
    both[54..].copy_from_slice(&missing.to_be_bytes());
    assert_eq!(checksum(&both), ChecksumState::Ok);
    let before = both.clone();
    complete(&mut both);
    assert_eq!(both, before);
}
