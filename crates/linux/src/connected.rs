//! Datagrams by a connected socket, which reports that earlier ones were refused.

use std::io;
use std::net::UdpSocket;

/// The outcome for a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Whether the kernel has taken it.
    pub is_sent: bool,
    /// Earlier datagrams, taken by the kernel, that met a closed port.
    pub refused: u64,
}

/// Sends a datagram, although earlier ones may have been refused: the kernel reports each of those in place of
/// sending.
#[must_use]
pub fn send(socket: &UdpSocket, payload: &[u8]) -> Sending {
    let mut sending = Sending::default();
    for _ in 0..MAX_TRIES {
        match socket.send(payload) {
            Ok(_) => return Sending { is_sent: true, ..sending },
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => sending.refused += 1,
            Err(_) => break,
        }
    }
    sending
}

/// How often a datagram is sent at most.
const MAX_TRIES: u32 = 8;

#[cfg(test)]
mod tests;
