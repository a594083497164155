use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};

use super::message::{Answer, Attributes, Message, answers};
use super::{BUFFER_BYTES, DONE, DUMP_INTERRUPTED, MAX_DUMPS, Netlink, outcome};

#[test]
fn a_message_is_read_as_it_was_written() {
    let message = Message::new(16, 0, &[7; 16]).attribute(3, b"int0\0").nested(18, |inner| {
        inner.attribute(1, b"veth").nested(2, |data| data.bytes(&[1; 4]).attribute(9, b""))
    });
    let bytes = message.finish(5);

    let all: Vec<Answer<'_>> = answers(&bytes).collect();
    let [answer] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((answer.kind, answer.sequence, bytes.len() % 4), (16, 5, 0));
    let attributes = Attributes(&answer.body[16..]);
    assert_eq!(attributes.text(3), Some("int0"));
    let info = Attributes(attributes.get(18).unwrap_or_default());
    assert_eq!((info.text(1), info.get(2).map(<[u8]>::len)), (Some("veth"), Some(8)));
    assert_eq!(info.get(3), None);
}

#[test]
fn what_is_cut_off_or_lies_about_its_length_ends_the_reading() {
    let bytes = Message::new(16, 0, &[7; 16]).attribute(3, b"int0\0").finish(5);

    for length in 0..bytes.len() {
        assert_eq!(answers(&bytes[..length]).count(), 0, "{length}");
    }
    for length in [0_u32, 1, 15, 1000, u32::MAX] {
        let mut lying = bytes.clone();
        lying[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(answers(&lying).count(), 0, "{length}");
    }
    for length in [0_u16, 3, 9, u16::MAX] {
        let mut lying = bytes[32..].to_vec();
        lying[..2].copy_from_slice(&length.to_ne_bytes());
        assert!(Attributes(&lying).get(3).is_none_or(|value| value.len() <= 5), "{length}");
    }
}

#[test]
fn an_error_of_zero_is_success() {
    assert!(outcome(&0_i32.to_ne_bytes()).is_ok());
    let error = outcome(&(-17_i32).to_ne_bytes()).map_err(|error| error.raw_os_error());
    assert_eq!(error, Err(Some(17)));
}

#[test]
fn an_interrupted_list_is_requested_again() {
    let (mut netlink, kernel) = netlink();
    let interrupted = answer(16, DUMP_INTERRUPTED, 1, b"half");
    send(&kernel, &[interrupted, answer(DONE, 0, 1, &[0; 4])].concat(), SendFlags::empty()).unwrap();
    send(&kernel, &[answer(16, 0, 2, b"whole"), answer(DONE, 0, 2, &[0; 4])].concat(), SendFlags::empty())
        .unwrap();
    let mut taken = Vec::new();

    netlink.dump(Message::new(18, 0, &[]), |kind, body| taken.push((kind, body.to_vec()))).unwrap();

    assert_eq!(taken, [(16, b"whole".to_vec())]);
}

#[test]
fn a_list_that_is_always_interrupted_is_an_error() {
    let (mut netlink, kernel) = netlink();
    for sequence in 1..=u32::try_from(MAX_DUMPS).unwrap() {
        let done = answer(DONE, DUMP_INTERRUPTED, sequence, &[0; 4]);
        send(&kernel, &[answer(16, 0, sequence, b"half"), done].concat(), SendFlags::empty()).unwrap();
    }

    assert!(netlink.dump(Message::new(18, 0, &[]), |_, _| panic!("half a list")).is_err());
}

#[test]
fn an_error_at_the_end_of_a_list_is_an_error() {
    let (mut netlink, kernel) = netlink();
    let done = answer(DONE, 0, 1, &(-105_i32).to_ne_bytes());
    send(&kernel, &[answer(16, 0, 1, b"half"), done].concat(), SendFlags::empty()).unwrap();

    let asked = netlink.dump(Message::new(18, 0, &[]), |_, _| panic!("half a list"));

    assert_eq!(asked.map_err(|error| error.raw_os_error()), Err(Some(105)));
}

/// A connection, and what the kernel answers by.
fn netlink() -> (Netlink, OwnedFd) {
    let (socket, kernel) =
        socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).unwrap();
    (Netlink { socket, sequence: 0, buffer: vec![0; BUFFER_BYTES] }, kernel)
}

fn answer(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Message::new(kind, flags, body).finish(sequence);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
