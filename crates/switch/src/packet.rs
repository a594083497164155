//! Frames inside the switch, and their memory.

use std::ops::{Deref, DerefMut, Range};

use inband_linux::xsk::{Chunk, FrameMemory};
use inband_node::frame::MAX_GROWTH;

/// A frame inside the switch.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The memory of the frame, with room for INT before it.
    pub(crate) buffer: Buffer,
    pub(crate) range: Range<usize>,
    /// The port it came in by; `None`: the node made it, and has finished it.
    pub(crate) ingress: Option<usize>,
    /// Time of arrival, nanoseconds since 1970.
    pub(crate) came_at: u64,
    /// The Ethernet addresses it arrived with, if a router has replaced them.
    pub(crate) came_with: Option<[u8; 12]>,
    /// The bytes waiting in its queue when it arrived, and in all queues.
    pub(crate) queue_bytes: u32,
    pub(crate) buffer_bytes: u32,
}

/// The memory of a frame.
#[derive(Debug)]
pub(crate) enum Buffer {
    /// Memory of the program.
    Own(Vec<u8>),
    /// Memory shared with the kernel.
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
    /// A packet with the frame at `range` of `buffer`; all else is unset.
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

/// A pool of unused buffers.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    own: Vec<Vec<u8>>,
    /// Memory shared with the kernel; `None`: nothing is shared, or it is in use.
    pub(crate) memory: Option<FrameMemory>,
}

/// Maximum number of buffers kept.
const MAX_KEPT: usize = 4_096;
/// Capacity of a new buffer behind the headroom: a frame of the usual MTU with INT.
const USUAL_BYTES: usize = 2_048;

impl Pool {
    /// A pool with memory shared with the kernel.
    pub(crate) fn sharing(memory: Option<FrameMemory>) -> Self {
        Self { own: Vec::new(), memory }
    }

    /// A packet of the concatenated `parts`.
    pub(crate) fn packet(&mut self, parts: &[&[u8]]) -> Packet {
        let mut buffer = self.own.pop().unwrap_or_else(|| {
            let mut buffer = Vec::with_capacity(MAX_GROWTH + USUAL_BYTES);
            buffer.resize(MAX_GROWTH, 0);
            buffer
        });
        // The headroom is written before it is read, so its old contents do not matter.
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

    /// Moves the packet into memory of the program, because its wait has no limit.
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
