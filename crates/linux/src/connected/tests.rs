use std::net::UdpSocket;
use std::time::Duration;

use super::{Sending, send};

#[test]
fn every_datagram_is_sent_although_earlier_ones_were_refused() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    // A port that no program has, outside of those that the kernel gives away.
    socket.connect("127.0.0.1:1").unwrap();
    let first = send(&socket, b"first");
    assert_eq!(first, Sending { is_sent: true, is_usable: true, refused: 0 });
    let mut refused = 0;
    for _ in 0..1_000 {
        let sending = send(&socket, b"next");
        assert!(sending.is_sent);
        refused += sending.refused;
        if refused > 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no refusal was reported");
}
