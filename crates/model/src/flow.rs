//! Flows: packets with the same five-tuple.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::mix;

/// A flow: the five-tuple of the original packet, in the direction it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FiveTuple")]
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

/// The 63-bit id of a flow: a hash of its five-tuple, the same on every machine and in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FlowId(pub u64);

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Flow {
    /// The flow in the opposite direction.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            protocol: self.protocol,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// Whether its packets have several receivers: the destination is a multicast address or the limited
    /// broadcast address. Copies of one packet take several paths.
    #[must_use]
    pub fn is_to_group(&self) -> bool {
        self.destination.is_multicast() || self.destination == IpAddr::V4(Ipv4Addr::BROADCAST)
    }

    /// The flow's id.
    ///
    /// Two flows may share an id: it sorts and groups, it does not prove equality.
    #[must_use]
    pub fn id(&self) -> FlowId {
        let ports = u64::from(self.source_port) << 16 | u64::from(self.destination_port);
        let hash = mix(ports | u64::from(self.protocol) << 32);
        let hash = mix_address(mix_address(hash, self.source), self.destination);
        FlowId(hash >> 1)
    }
}

fn mix_address(hash: u64, address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => mix(hash ^ u64::from(address.to_bits())),
        IpAddr::V6(address) => {
            let [high, low] = [address.to_bits() >> 64, address.to_bits()].map(low_word);
            // One more round distinguishes an IPv6 address from an IPv4 address with the same bits.
            mix(mix(mix(hash ^ high) ^ low) ^ 6)
        }
    }
}

/// The low 64 bits.
#[allow(clippy::cast_possible_truncation)]
fn low_word(bits: u128) -> u64 {
    bits as u64
}

impl Hash for Flow {
    /// Hashes whole words: a flow is looked up for every report.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ports = u64::from(self.source_port) << 16 | u64::from(self.destination_port);
        state.write_u64(ports | u64::from(self.protocol) << 32);
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                state.write_u64(u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits()));
            }
            (source, destination) => {
                source.hash(state);
                destination.hash(state);
            }
        }
    }
}

impl Default for Flow {
    /// An empty flow: all zeros.
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
