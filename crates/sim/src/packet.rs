//! Packets of the fabric: the bytes of a frame, and the true events on its path.

use std::ops::Range;

use inband_node::{Frame, Verdict};

use crate::time::Nanos;

/// A packet in flight. Its original bytes are kept beside its current ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    /// Number of the packet, from 0 in the order of sending.
    pub(crate) number: u64,
    /// Bytes that were in the queue when it was enqueued.
    pub(crate) occupancy_bytes: usize,
    /// Port by which it entered the current device.
    pub(crate) ingress_port: usize,
    /// When its last bit entered the current device.
    pub(crate) arrived_at: Nanos,
    /// Whether the current device created it, with its INT, so that the device's node skips it.
    pub(crate) made_here: bool,
    /// The hops it has passed.
    pub(crate) path: Vec<TrueHop>,
    sent: Vec<u8>,
    buffer: Vec<u8>,
    frame: Range<usize>,
}

/// One hop of a packet as simulated, regardless of what is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrueHop {
    /// Node id of the switch.
    pub node_id: u32,
    /// Interface the packet entered by.
    pub ingress_interface: u16,
    /// Interface the packet left by.
    pub egress_interface: u16,
    /// When its last bit had arrived.
    pub ingress_timestamp_ns: Nanos,
    /// When its transmission began.
    pub egress_timestamp_ns: Nanos,
    /// Bytes in the queue of the egress interface when it was enqueued, excluding itself.
    pub queue_occupancy_bytes: u32,
    /// Utilization of the egress interface when its transmission began, in 1/100 %.
    pub egress_utilization: u32,
}

impl TrueHop {
    /// Time between the two timestamps.
    pub fn hop_latency_ns(&self) -> Nanos {
        self.egress_timestamp_ns - self.ingress_timestamp_ns
    }
}

impl Packet {
    /// Reinitializes the packet with the bytes that `write` appends.
    pub(crate) fn send(&mut self, number: u64, write: impl FnOnce(&mut Vec<u8>)) {
        self.number = number;
        self.made_here = false;
        self.path.clear();
        self.sent.clear();
        write(&mut self.sent);
        self.buffer.resize(HEADROOM_BYTES, 0);
        self.buffer.truncate(HEADROOM_BYTES);
        self.buffer.extend_from_slice(&self.sent);
        self.frame = HEADROOM_BYTES..self.buffer.len();
    }

    /// The bytes as the source host sent them.
    pub(crate) fn sent(&self) -> &[u8] {
        &self.sent
    }

    /// The current bytes.
    pub(crate) fn frame(&self) -> &[u8] {
        &self.buffer[self.frame.clone()]
    }

    /// Lets an INT node change the bytes and their length.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Frame<'_>) -> Verdict) -> Verdict {
        let Some(mut frame) = Frame::new(&mut self.buffer, self.frame.clone()) else {
            return Verdict::Forward;
        };
        let verdict = change(&mut frame);
        self.frame = frame.range();
        verdict
    }

    /// The current bytes, for changes in place.
    pub(crate) fn frame_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.frame.clone()]
    }
}

/// Headroom of a frame for what nodes push: more than the largest INT header, 4 + 255 * 4 bytes.
const HEADROOM_BYTES: usize = 1_280;
