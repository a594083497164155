//! A frame on its way through the switch, and the memory of frames.

use std::ops::{Deref, DerefMut, Range};

use inband_linux::xsk::{Chunk, FrameMemory};
use inband_node::frame::MAX_GROWTH;

/// A frame on its way through the switch.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The frame is in the middle: room for INT in front of it.
    pub(crate) buffer: Buffer,
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

/// Where a frame is.
#[derive(Debug)]
pub(crate) enum Buffer {
    /// In memory of the program's own.
    Own(Vec<u8>),
    /// In memory that it shares with the kernel.
    Chunk(Chunk),
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Chunk(chunk) => chunk,
        }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Chunk(chunk) => chunk,
        }
    }
}

impl Packet {
    /// A packet of the frame at `range` of `buffer`, of which nothing else is known.
    pub(crate) fn new(buffer: Buffer, range: Range<usize>) -> Self {
        Self { buffer, range, ingress: None, came_at: 0, came_with: None, queue_bytes: 0, buffer_bytes: 0 }
    }

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
pub(crate) struct Pool {
    own: Vec<Vec<u8>>,
    /// What is shared with the kernel; `None`: nothing is, or it is being used.
    pub(crate) memory: Option<FrameMemory>,
}

/// Most buffers that are kept.
const MAX_KEPT: usize = 4_096;
/// Room in a new buffer behind the headroom: a frame of the usual MTU with INT.
const USUAL_BYTES: usize = 2_048;

impl Pool {
    /// A pool with memory that is shared with the kernel.
    pub(crate) fn sharing(memory: Option<FrameMemory>) -> Self {
        Self { own: Vec::new(), memory }
    }

    /// A packet of the bytes of `parts`, one behind the other.
    pub(crate) fn packet(&mut self, parts: &[&[u8]]) -> Packet {
        let mut buffer = self.own.pop().unwrap_or_else(|| {
            let mut buffer = Vec::with_capacity(MAX_GROWTH + USUAL_BYTES);
            buffer.resize(MAX_GROWTH, 0);
            buffer
        });
        // The headroom is written before it is read, so what is left in it does not matter.
        buffer.truncate(MAX_GROWTH);
        for part in parts {
            buffer.extend_from_slice(part);
        }
        let range = MAX_GROWTH..buffer.len();
        Packet::new(Buffer::Own(buffer), range)
    }

    pub(crate) fn give_back(&mut self, packet: Packet) {
        match (packet.buffer, &mut self.memory) {
            (Buffer::Own(buffer), _) if self.own.len() < MAX_KEPT && buffer.len() >= MAX_GROWTH => {
                self.own.push(buffer);
            }
            (Buffer::Chunk(chunk), Some(memory)) => memory.give_back(chunk),
            (Buffer::Own(_) | Buffer::Chunk(_), _) => {}
        }
    }

    /// The packet in memory of the program's own, for one that waits for who knows how long.
    pub(crate) fn move_out(&mut self, packet: Packet) -> Packet {
        if matches!(packet.buffer, Buffer::Own(_)) {
            return packet;
        }
        let Packet { buffer, range, .. } = self.packet(&[packet.bytes()]);
        let moved = Packet { buffer, range, ..packet };
        self.give_back(packet);
        moved
    }
}
