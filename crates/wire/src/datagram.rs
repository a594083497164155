//! UDP datagrams in Ethernet frames: the headers around a report to a collector.

use core::net::{IpAddr, SocketAddr};

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use crate::checksum::{Sum, pseudo_header};
use crate::ethernet::{self, EthernetHeader};
use crate::ipv4::{self, Ipv4Header};
use crate::ipv6::{self, Ipv6Header};
use crate::udp::{self, UdpHeader};

/// The headers of a UDP datagram in an Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Source MAC address.
    pub source_mac: [u8; 6],
    /// Destination MAC address.
    pub destination_mac: [u8; 6],
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port, of the same IP version as the source.
    pub destination: SocketAddr,
    /// DSCP, 0 to 63.
    pub dscp: u8,
}

/// Why a datagram could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramError {
    /// Source and destination have different IP versions.
    MixedVersions,
    /// The payload does not fit in a 16-bit length or in the buffer.
    TooLong,
}

/// Maximum length of the headers, bytes: Ethernet, IPv6, UDP.
pub const MAX_HEADER_BYTES: usize = ethernet::HEADER_BYTES + ipv6::HEADER_BYTES + udp::HEADER_BYTES;

impl Datagram {
    /// Writes headers and payload into `out` and returns the frame's length in bytes.
    ///
    /// IPv4 packets have DF set and identification 0; the UDP checksum is always set.
    ///
    /// # Errors
    /// [`DatagramError`]; `out` may have been written to.
    pub fn write(&self, payload: &[u8], out: &mut [u8]) -> Result<usize, DatagramError> {
        // report-2.0/transport-01, report-2.0/transport-02
        // report-2.0/transport-04: IPv4 either sets DF or never repeats an identification.
        let udp_length =
            u16::try_from(udp::HEADER_BYTES + payload.len()).map_err(|_| DatagramError::TooLong)?;
        let mut at = 0;
        let mut put = |bytes: &[u8]| -> Result<(), DatagramError> {
            let to = out.get_mut(at..at + bytes.len()).ok_or(DatagramError::TooLong)?;
            to.copy_from_slice(bytes);
            at += bytes.len();
            Ok(())
        };
        let ethernet = |ethertype| EthernetHeader {
            destination: self.destination_mac,
            source: self.source_mac,
            ethertype: U16::new(ethertype),
        };
        match (self.source.ip(), self.destination.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header_bytes = u16::try_from(ipv4::HEADER_BYTES).unwrap_or(u16::MAX);
                let total = udp_length.checked_add(header_bytes).ok_or(DatagramError::TooLong)?;
                put(ethernet(ethernet::IPV4).as_bytes())?;
                let mut header = Ipv4Header::new(source, destination, udp::PROTOCOL, total);
                header.set_dscp(self.dscp);
                put(header.as_bytes())?;
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                put(ethernet(ethernet::IPV6).as_bytes())?;
                let mut header = Ipv6Header::new(source, destination, udp::PROTOCOL, udp_length);
                header.set_dscp(self.dscp);
                put(header.as_bytes())?;
            }
            _ => return Err(DatagramError::MixedVersions),
        }
        put(self.udp_header(payload, udp_length).as_bytes())?;
        put(payload)?;
        Ok(at)
    }

    fn udp_header(&self, payload: &[u8], length: u16) -> UdpHeader {
        let mut header = UdpHeader {
            source_port: U16::new(self.source.port()),
            destination_port: U16::new(self.destination.port()),
            length: U16::new(length),
            checksum: U16::ZERO,
        };
        let (source, destination) = (self.source.ip(), self.destination.ip());
        let sum = pseudo_header(source, destination, udp::PROTOCOL, usize::from(length))
            .plus(Sum::of(header.as_bytes()))
            .plus(Sum::of(payload));
        header.checksum = U16::new(match sum.checksum() {
            0 => 0xffff,
            other => other,
        });
        header
    }
}

#[cfg(test)]
mod tests;
