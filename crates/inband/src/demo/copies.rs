//! Copies of reports to another collector.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::note::note;

/// The socket to another collector, which may not be there.
pub(super) struct Copies {
    socket: UdpSocket,
    collector: SocketAddr,
    sent: u64,
    refused: u64,
}

impl Copies {
    pub(super) fn new(collector: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = match collector {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        // A connected socket reports a closed port.
        socket.connect(collector)?;
        Ok(Self { socket, collector, sent: 0, refused: 0 })
    }

    /// Sends a copy; the first refusal prints a note, and none is a failure of the demo.
    pub(super) fn send(&mut self, report: &[u8]) {
        self.sent += 1;
        match self.socket.send(report) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                if self.refused == 0 {
                    note!("note: nobody takes reports at {}", self.collector);
                }
                self.refused += 1;
                // The error belongs to an earlier copy, and this one was not sent.
                let _ = self.socket.send(report);
            }
            Err(error) => {
                if self.refused == 0 {
                    note!("note: cannot send copies to {}: {error}", self.collector);
                }
                self.refused += 1;
            }
            Ok(_) => {}
        }
    }

    /// Prints how many copies were refused, at least.
    pub(super) fn finish(&self) {
        if self.refused > 0 {
            let Self { collector, sent, refused, .. } = self;
            note!("note: of {sent} copies to {collector}, {refused} or more were not taken");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::Copies;

    #[test]
    fn copies_that_nobody_takes_are_counted() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut copies = Copies::new(closed).unwrap();
        let begun = Instant::now();
        while copies.refused == 0 && begun.elapsed() < Duration::from_secs(10) {
            copies.send(b"report");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(copies.refused > 0 && copies.sent > copies.refused);
    }
}
