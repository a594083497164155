//! Which packets does a node make itself?

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
