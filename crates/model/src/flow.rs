//! Which packets belong together?

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// A flow: the five-tuple of the original packet, in the direction it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Flow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol number.
    pub protocol: u8,
    /// Source port; 0 for a protocol without ports.
    pub source_port: u16,
    /// Destination port; 0 for a protocol without ports.
    pub destination_port: u16,
}

impl Default for Flow {
    /// The flow of nothing: all zeros.
    fn default() -> Flow {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Flow { source: nowhere, destination: nowhere, protocol: 0, source_port: 0, destination_port: 0 }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.protocol {
            6 => f.write_str("tcp ")?,
            17 => f.write_str("udp ")?,
            other => write!(f, "protocol {other} ")?,
        }
        let source = SocketAddr::new(self.source, self.source_port);
        let destination = SocketAddr::new(self.destination, self.destination_port);
        write!(f, "{source} > {destination}")
    }
}

#[cfg(test)]
mod tests;
