//! The packets of a fabric, numbered as they are sent.

use crate::packet::Packet;

/// Packets that were sent, and reusable buffers.
#[derive(Debug, Default)]
pub(super) struct Packets {
    sent: u64,
    /// Finished packets, kept for their buffers: as many as were ever in flight at once.
    #[expect(clippy::vec_box, reason = "packets move between queues and events as boxes")]
    spare: Vec<Box<Packet>>,
}

impl Packets {
    /// The next packet, with the bytes that `write` appends.
    pub(super) fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Box<Packet> {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.send(self.sent, write);
        self.sent += 1;
        packet
    }

    /// Recycles a finished packet.
    pub(super) fn put_back(&mut self, packet: Box<Packet>) {
        self.spare.push(packet);
    }
}
