//! The five-tuple that identifies a flow.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr};

/// The five-tuple of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FiveTuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// IP protocol number of the transport header.
    pub protocol: u8,
    /// Source port; 0 where the protocol has none or it could not be read.
    pub source_port: u16,
    /// Destination port; 0 where the protocol has none or it could not be read.
    pub destination_port: u16,
}

impl Default for FiveTuple {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl FiveTuple {
    /// Zeros: the flow of a packet whose headers could not be read.
    pub const UNKNOWN: Self = Self {
        source: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        protocol: 0,
        source_port: 0,
        destination_port: 0,
    };

    /// Hashes all fields to 32 bits; equal flows give equal values on every machine.
    ///
    /// Meant for spreading flows over ports and paths; not resistant to adversarial input.
    #[must_use]
    pub fn entropy(&self) -> u32 {
        let mut state = 0x811c_9dc5_u32;
        let mut mix = |bytes: &[u8]| {
            for byte in bytes {
                state = (state ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            }
        };
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => mix(&address.octets()),
                IpAddr::V6(address) => mix(&address.octets()),
            }
        }
        mix(&[self.protocol]);
        mix(&self.source_port.to_be_bytes());
        mix(&self.destination_port.to_be_bytes());
        // In FNV-1a the last byte has little influence on the high bits; one finalizing round spreads it.
        state ^= state >> 16;
        state = state.wrapping_mul(0x85eb_ca6b);
        state ^ (state >> 13)
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, protocol, source_port, destination_port } = self;
        write!(f, "{source}:{source_port} > {destination}:{destination_port} protocol {protocol}")
    }
}

#[cfg(test)]
mod tests;
