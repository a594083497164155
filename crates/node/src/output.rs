//! What a node makes beside the packets it forwards.

use inband_wire::layers::Link;

use crate::sessions::ReportDatagram;

/// Something a node has made, for its shell to send.
///
/// What a node has made goes out as it is and does not come back through the node that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// A report: the payload of a UDP datagram to a collector.
    Report(ReportDatagram<'a>),
    /// A message to the sender of a packet that INT makes too big.
    Reply(OwnPacket),
    /// A clone of a packet, with INT; the packet itself has none.
    Clone(OwnPacket),
    /// A copy of a packet for another interface, or a follow-up of one.
    Copy(OwnPacket),
    /// A probe.
    Probe(OwnPacket),
}

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

impl<'a> Output<'a> {
    /// The report, if it is one.
    #[must_use]
    pub fn into_report(self) -> Option<ReportDatagram<'a>> {
        match self {
            Self::Report(datagram) => Some(datagram),
            _ => None,
        }
    }

    /// The packet, if it is one.
    #[must_use]
    pub fn into_packet(self) -> Option<OwnPacket> {
        match self {
            Self::Report(_) => None,
            Self::Reply(packet) | Self::Clone(packet) | Self::Copy(packet) | Self::Probe(packet) => {
                Some(packet)
            }
        }
    }
}
