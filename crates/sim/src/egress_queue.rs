//! A FIFO egress queue, bounded in bytes.

use std::collections::VecDeque;

use crate::packet::Packet;

#[cfg(test)]
mod tests;

/// A first-in, first-out queue bounded in bytes. The frame being sent is not in it and does not count.
#[derive(Debug)]
pub(crate) struct EgressQueue {
    packets: VecDeque<Box<Packet>>,
    occupancy_bytes: usize,
    capacity_bytes: usize,
}

impl EgressQueue {
    pub(crate) fn new(capacity_bytes: usize) -> EgressQueue {
        EgressQueue { packets: VecDeque::new(), occupancy_bytes: 0, capacity_bytes }
    }

    /// Enqueues the packet and records the occupancy it found, or returns it if there is no room (tail drop).
    pub(crate) fn enqueue(&mut self, mut packet: Box<Packet>) -> Result<(), Box<Packet>> {
        let occupancy_bytes = self.occupancy_bytes + packet.frame().len();
        if occupancy_bytes > self.capacity_bytes {
            return Err(packet);
        }
        packet.occupancy_bytes = self.occupancy_bytes;
        self.occupancy_bytes = occupancy_bytes;
        self.packets.push_back(packet);
        Ok(())
    }

    /// Dequeues the oldest packet.
    pub(crate) fn dequeue(&mut self) -> Option<Box<Packet>> {
        let packet = self.packets.pop_front()?;
        self.occupancy_bytes -= packet.frame().len();
        Some(packet)
    }

    /// Number of queued packets.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}
