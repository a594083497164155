//! The packets of a fabric, numbered as they are sent.

use crate::packet::Packet;

/// Packets that were sent, and buffers for those to come.
#[derive(Debug, Default)]
pub(super) struct Packets {
    sent: u64,
    /// Packets that have ended, kept for their buffers: as many as were ever in flight at once.
    #[expect(clippy::vec_box, reason = "packets move between queues and events as boxes")]
    spare: Vec<Box<Packet>>,
}

impl Packets {
    /// The next packet, with the bytes that `write` gives it.
    pub(super) fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Box<Packet> {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.send(self.sent, write);
        self.sent += 1;
        packet
    }

    /// Takes back a packet that has ended.
    pub(super) fn put_back(&mut self, packet: Box<Packet>) {
        self.spare.push(packet);
    }
}
