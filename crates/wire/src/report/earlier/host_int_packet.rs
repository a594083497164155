//! The packets in Host-INT's reports, whose length fields are stale or zero.

use core::net::IpAddr;

use crate::error::{ErrorKind, Header, ParseError};
use crate::flow::FiveTuple;
use crate::int::dialect::Deviations;
use crate::int::earlier::shim::{HOST_INT, SHIM_BYTES, Shim};
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::version::Version;
use crate::ipv4::{self, Ipv4Header};
use crate::layers::{Fragment, IpVersion, Layers, Strictness, Transport, ports};
use crate::view::view;
use crate::{tcp, udp};

/// Headers and INT of the packet in a latency report; its IP and UDP lengths exclude the sink's hop.
pub(super) fn int(packet: &[u8], strictness: Strictness) -> Result<(Layers, Location), ParseError> {
    let ip: &Ipv4Header = view(packet, 0, Header::Ipv4)?;
    check_ip(ip)?;
    let l4 = ipv4::HEADER_BYTES;
    let (shim, transport) = match ip.protocol {
        tcp::PROTOCOL => (l4 + tcp::HEADER_BYTES, Transport::Tcp { header_length: tcp::HEADER_BYTES }),
        _ => (l4 + udp::HEADER_BYTES, Transport::Udp),
    };
    let header: &Shim = view(packet, shim, Header::Shim)?;
    let fault = |kind| Err(ParseError::new(shim, Header::Shim, kind));
    if header.kind() != HOST_INT {
        return fault(ErrorKind::Undefined { field: "Type", found: header.kind().into() });
    }
    let end = shim + header.length().bytes();
    if end > packet.len() && strictness == Strictness::Whole {
        let (found, most) = (header.length().count().into(), (packet.len() - shim) / 4);
        return fault(ErrorKind::TooLarge { field: "Length", found, most });
    }
    let layers = Layers {
        l3: 0,
        ip: IpVersion::V4,
        protocol_at: ipv4::PROTOCOL_OFFSET,
        protocol: ip.protocol,
        l4,
        end: end.max(shim),
        fragment: Fragment::Whole,
        transport,
    };
    let location = Location {
        encapsulation: Encapsulation::Dscp,
        header_type: HeaderType::Md,
        version: Version::HostInt0_5,
        deviations: Deviations::NONE,
        shim,
        header: shim + SHIM_BYTES,
        end,
    };
    Ok((layers, location))
}

/// Host-INT reports IPv4 without options, TCP and UDP.
fn check_ip(ip: &Ipv4Header) -> Result<(), ParseError> {
    let fault = |kind| Err(ParseError::new(0, Header::Ipv4, kind));
    if ip.version() != 4 {
        return fault(ErrorKind::Version { found: ip.version(), expected: 4 });
    }
    if ip.header_length() != ipv4::HEADER_BYTES {
        return fault(ErrorKind::Mismatch { field: "IHL", found: ip.header_length() / 4, expected: 5 });
    }
    match ip.protocol {
        tcp::PROTOCOL | udp::PROTOCOL => Ok(()),
        other => fault(ErrorKind::Undefined { field: "Protocol", found: other.into() }),
    }
}

/// The flow of a packet with only addresses, protocol and ports set, as in a drop summary.
pub(super) fn flow(packet: &[u8]) -> Result<FiveTuple, ParseError> {
    let ip: &Ipv4Header = view(packet, 0, Header::Ipv4)?;
    check_ip(ip)?;
    let l4 = ipv4::HEADER_BYTES;
    let header = if ip.protocol == tcp::PROTOCOL { Header::Tcp } else { Header::Udp };
    let _: &[u8; 4] = view(packet, l4, header)?;
    let (source_port, destination_port) = ports(packet, l4);
    Ok(FiveTuple {
        source: IpAddr::V4(ip.source()),
        destination: IpAddr::V4(ip.destination()),
        protocol: ip.protocol,
        source_port,
        destination_port,
    })
}
