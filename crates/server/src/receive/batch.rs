//! Batches of datagrams that arrived together.

use std::net::SocketAddr;

use inband_model::Nanos;

/// Datagrams to one address, read from one socket at one time, in the order of arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// When they were read.
    pub received_at: Nanos,
    /// The address they were sent to.
    pub session: SocketAddr,
    bytes: Vec<u8>,
    datagrams: Vec<(SocketAddr, usize)>,
}

impl Batch {
    /// A batch without datagrams.
    #[must_use]
    pub fn new(received_at: Nanos, session: SocketAddr) -> Batch {
        Batch { received_at, session, bytes: Vec::new(), datagrams: Vec::new() }
    }

    /// Adds a datagram.
    pub fn push(&mut self, from: SocketAddr, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push((from, self.bytes.len()));
    }

    /// The datagrams and their senders.
    pub fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let mut start = 0;
        self.datagrams.iter().map(move |(from, end)| {
            let datagram = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            (*from, datagram)
        })
    }

    /// The number of datagrams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Whether there are no datagrams.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Memory use, bytes.
    pub(crate) fn cost(&self) -> usize {
        let each = size_of::<(SocketAddr, usize)>();
        size_of::<Batch>() + self.bytes.capacity() + self.datagrams.capacity() * each
    }
}
