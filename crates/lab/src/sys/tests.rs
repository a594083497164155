use std::time::{Duration, Instant};

use inband_linux::device;
use inband_linux::namespace::{self, Namespace};
use inband_linux::netlink::Netlink;
use inband_linux::veth::{self, End};

use super::FrameSocket;

#[test]
fn a_frame_is_received_with_its_tag() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root creates network namespaces");
        return;
    }
    let name = format!("inbt{}", std::process::id());
    let namespace = Namespace::create(&name).unwrap();
    let received = namespace.inside(exchange);
    namespace::delete(&name).unwrap();

    let (sent, received) = received.unwrap();
    assert_eq!(received, sent);
}

/// Sends frames with and without a tag from one end of a pair of devices; returns them, and those received.
fn exchange() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut netlink = Netlink::open().unwrap();
    let end = |name| End { name, namespace: None, address: None, mtu: None };
    veth::create(&mut netlink, [end("near"), end("far")]).unwrap();
    let indices = ["near", "far"].map(|name| {
        let index = device::find(&mut netlink, name).unwrap().unwrap().index;
        device::set_up(&mut netlink, index, true).unwrap();
        index
    });
    assert!(device::await_operational(&mut netlink, &indices, Duration::from_secs(60)).unwrap());
    let [near, far] = indices.map(|index| FrameSocket::open(index).unwrap());
    let sent: Vec<Vec<u8>> = [&[][..], &[0x81, 0, 0x60, 5], &[0x88, 0xa8, 0, 7], &[0x81, 0, 0, 0]]
        .iter()
        .map(|tag| [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], *tag, &[0x88, 0xb5], &[7; 60]].concat())
        .collect();
    assert!(sent.iter().all(|frame| near.send(frame)));
    let (since, mut received, mut buffer) = (Instant::now(), Vec::new(), vec![0; 2_000]);
    while received.len() < sent.len() && since.elapsed() < Duration::from_secs(60) {
        let Some((length, _)) = far.receive(&mut buffer).unwrap() else { continue };
        // The kernel sends messages of its own.
        received.extend(Some(buffer[..length].to_vec()).filter(|frame| frame.ends_with(&[7; 60])));
    }
    (sent, received)
}
