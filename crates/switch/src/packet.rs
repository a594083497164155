//! A frame on its way through the switch, and the memory of frames.

use std::ops::Range;

use inband_node::frame::MOST_GROWTH;

/// A frame on its way through the switch.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The frame is in the middle: room for INT in front of it.
    pub(crate) buffer: Vec<u8>,
    pub(crate) range: Range<usize>,
    /// Which port it came in by; `None`: the node made it, and is done with it.
    pub(crate) ingress: Option<usize>,
    /// When it came in, nanoseconds since 1970.
    pub(crate) came_at: u64,
    /// The Ethernet addresses it came with, where a router has replaced them.
    pub(crate) came_with: Option<[u8; 12]>,
    /// What waited in its queue when it came, and in all queues, bytes.
    pub(crate) queue_bytes: u32,
    pub(crate) buffer_bytes: u32,
}

impl Packet {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.range.clone()).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.range.clone()).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }
}

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Vec<u8>>);

/// Most buffers that are kept.
const MAX_KEPT: usize = 4_096;
/// Room in a new buffer behind the headroom: a frame of the usual MTU with INT.
const USUAL_BYTES: usize = 2_048;

impl Pool {
    /// A packet of the bytes of `parts`, one behind the other.
    pub(crate) fn packet(&mut self, parts: &[&[u8]]) -> Packet {
        let mut buffer = self.0.pop().unwrap_or_else(|| {
            let mut buffer = Vec::with_capacity(MOST_GROWTH + USUAL_BYTES);
            buffer.resize(MOST_GROWTH, 0);
            buffer
        });
        // The headroom is written before it is read, so what is left in it does not matter.
        buffer.truncate(MOST_GROWTH);
        for part in parts {
            buffer.extend_from_slice(part);
        }
        let range = MOST_GROWTH..buffer.len();
        Packet { buffer, range, ingress: None, came_at: 0, came_with: None, queue_bytes: 0, buffer_bytes: 0 }
    }

    pub(crate) fn give_back(&mut self, packet: Packet) {
        if self.0.len() < MAX_KEPT && packet.buffer.len() >= MOST_GROWTH {
            self.0.push(packet.buffer);
        }
    }
}
