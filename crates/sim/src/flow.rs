//! The traffic of a fabric: endpoints, volume and rate.

use crate::time::Nanos;

/// One TCP connection or one UDP flow between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowConfig {
    /// Index of the host that opens it and sends the data.
    pub source: usize,
    /// Index of the host that receives the data.
    pub destination: usize,
    /// Source port; a flow's five-tuple must be unique.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// When it starts.
    pub start_ns: Nanos,
    /// What it sends.
    pub traffic: Traffic,
}

/// How a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A stream clocked by its acknowledgments.
    Tcp(TcpTraffic),
    /// Datagrams clocked by the sender alone.
    Udp(UdpTraffic),
}

/// A TCP connection's data, from client to server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpTraffic {
    /// Bytes after which the client closes; `None`: never.
    pub bytes: Option<u64>,
    /// How the application writes; `None`: everything at once, so that only the window limits the rate.
    pub writes: Option<Writes>,
}

/// An application that writes to its connection at regular intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Bytes of one write.
    pub bytes: u32,
    /// Interval between writes; at least 1.
    pub every_ns: Nanos,
}

/// A UDP flow's datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpTraffic {
    /// Bytes of payload in each datagram: up to 1472.
    pub payload_bytes: u16,
    /// Interval between datagrams; at least 1.
    pub interval_ns: Nanos,
    /// Datagrams after which it ends; `None`: never.
    pub datagrams: Option<u64>,
    /// On/off pattern: sends for `on_ns`, pauses for `off_ns`, and so on; `None`: sends continuously.
    pub bursts: Option<Bursts>,
}

/// The two halves of on/off traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Mean length of a burst.
    pub on_ns: Nanos,
    /// Mean length of the pause after it.
    pub off_ns: Nanos,
    /// Whether every period has exactly that length; if not, each lasts between half and one and a half times
    /// as long.
    pub regular: bool,
}
