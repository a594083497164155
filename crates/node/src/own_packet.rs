//! Which packets does a node make itself, and how do they wait to be sent?

use std::collections::VecDeque;

use inband_wire::layers::Link;

/// A packet the node made itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPacket {
    /// Identifier of the interface it leaves by.
    pub egress: u16,
    /// What its bytes start with.
    pub link: Link,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// Packets that wait for the caller, up to [`MOST_WAITING`].
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPackets(VecDeque<OwnPacket>);

/// Most packets that wait for the caller; what is more is counted as shed.
const MOST_WAITING: usize = 256;

impl OwnPackets {
    /// Keeps a packet; `false` when there is no room.
    pub(crate) fn push(&mut self, packet: OwnPacket) -> bool {
        let has_room = self.0.len() < MOST_WAITING;
        if has_room {
            self.0.push_back(packet);
        }
        has_room
    }

    /// Takes the oldest packet.
    pub(crate) fn poll(&mut self) -> Option<OwnPacket> {
        self.0.pop_front()
    }
}
