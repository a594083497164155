//! The source address of datagrams.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use super::send;

#[test]
fn a_datagram_comes_from_the_address_that_is_asked_for() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let sender = UdpSocket::bind("0.0.0.0:0").unwrap();
    let port = sender.local_addr().unwrap().port();
    // The last one is not this host's.
    for (from, seen) in [("127.0.0.9", "127.0.0.9"), ("127.0.0.1", "127.0.0.1"), ("192.0.2.1", "127.0.0.1")] {
        send(&sender, b"x", receiver.local_addr().unwrap(), from.parse().unwrap()).unwrap();
        let (_, source) = receiver.recv_from(&mut [0; 9]).unwrap();
        assert_eq!(source, SocketAddr::new(seen.parse::<IpAddr>().unwrap(), port), "{from}");
    }
}

#[test]
fn an_ipv6_datagram_comes_from_the_address_that_is_asked_for() {
    let Ok(receiver) = UdpSocket::bind("[::1]:0") else {
        eprintln!("skipped: no IPv6");
        return;
    };
    let sender = UdpSocket::bind("[::]:0").unwrap();
    for from in ["::1", "2001:db8::9"] {
        send(&sender, b"x", receiver.local_addr().unwrap(), from.parse().unwrap()).unwrap();
        let (_, source) = receiver.recv_from(&mut [0; 9]).unwrap();
        assert_eq!(source.ip(), "::1".parse::<IpAddr>().unwrap(), "{from}");
    }
}
