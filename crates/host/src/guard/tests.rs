#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::os::fd::AsFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::message::{Message, receive, send};
use crate::shim::Shim;

#[test]
fn messages_and_their_descriptors_arrive_in_order_and_the_end_is_seen() {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let messages = [
        Message::Linger { linger_ns: u64::MAX },
        Message::RemoveShim { device: 7, shim: Shim { near: u32::MAX, far: 9 } },
        Message::Forget { device: u32::MAX },
        Message::Dismiss,
    ];

    send(ours.as_fd(), Message::Hold { device: 3 }, Some(file.as_fd())).unwrap();
    for message in messages {
        send(ours.as_fd(), message, None).unwrap();
    }
    drop(ours);

    let (first, link) = receive(theirs.as_fd()).unwrap().unwrap();
    assert_eq!((first, link.is_some()), (Message::Hold { device: 3 }, true));
    for message in messages {
        let (received, link) = receive(theirs.as_fd()).unwrap().unwrap();
        assert_eq!((received, link.is_some()), (message, false));
    }
    assert!(receive(theirs.as_fd()).unwrap().is_none());
}

#[test]
fn what_nobody_has_said_is_no_message() {
    assert_eq!(Message::from_bytes(&[]), None);
    assert_eq!(Message::from_bytes(&[1, 0, 0, 0]), None);
    assert_eq!(Message::from_bytes(&[0; 9]), None);
    assert_eq!(Message::from_bytes(&[6, 0, 0, 0, 0, 0, 0, 0, 0]), None);
}
