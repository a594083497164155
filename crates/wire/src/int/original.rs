//! Original values of a packet, as kept in shim and tail.

use crate::error::Header;
use crate::int::dialect::Deviation;
use crate::int::earlier;
use crate::int::location::{Encapsulation, Location};
use crate::int::shim::Shim;
use crate::int::version::Version;
use crate::view::view;

/// What an INT source keeps of the packet it changes; a field is `None` when the version and encapsulation do
/// not keep it, or when it is truncated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// DSCP, 0 to 63.
    pub dscp: Option<u8>,
    /// L4 destination port.
    pub destination_port: Option<u16>,
    /// IP protocol of the header that follows, or of the preceding L4 header.
    pub ip_protocol: Option<u8>,
    /// EtherType of what follows.
    pub ethertype: Option<u16>,
    /// VXLAN-GPE Next Protocol of what follows.
    pub next_protocol: Option<u8>,
}

impl Original {
    /// Reads the original values from the shim or tail of the INT header at `location`.
    #[must_use]
    pub fn read(bytes: &[u8], location: &Location) -> Self {
        if location.version.is_before_2() {
            return Self::before_2(bytes, location);
        }
        let Ok(shim) = view::<Shim>(bytes, location.shim, Header::Shim) else {
            return Self::default();
        };
        let none = Self::default();
        match location.encapsulation {
            Encapsulation::Dscp | Encapsulation::ProbeMarker => {
                Self { dscp: Some(original_dscp(shim, location)), ..none }
            }
            Encapsulation::Udp if location.deviations.contains(Deviation::ProtocolInThirdByte) => {
                let [protocol, _] = shim.original_udp_port().to_be_bytes();
                Self { ip_protocol: Some(protocol), ..none }
            }
            Encapsulation::UdpPort => Self { destination_port: Some(shim.original_udp_port()), ..none },
            Encapsulation::Udp => Self { ip_protocol: Some(shim.original_ip_protocol()), ..none },
            Encapsulation::Gre => Self { ethertype: Some(shim.ethertype()), ..none },
            Encapsulation::VxlanGpe => Self { next_protocol: Some(shim.next_protocol()), ..none },
            Encapsulation::Geneve => none,
        }
    }

    fn before_2(bytes: &[u8], location: &Location) -> Self {
        let none = Self::default();
        match (location.encapsulation, location.version) {
            (Encapsulation::Geneve, _) => none,
            (Encapsulation::VxlanGpe, _) => {
                let shim = view::<earlier::Shim>(bytes, location.shim, Header::Shim).ok();
                Self { next_protocol: shim.map(earlier::Shim::next_protocol), ..none }
            }
            (_, Version::V1_0) => {
                let shim = view::<earlier::Shim>(bytes, location.shim, Header::Shim).ok();
                Self { dscp: shim.map(earlier::Shim::original_dscp), ..none }
            }
            (encapsulation, version) => match tail(bytes, location) {
                Some(tail) if version == Version::V0_5 => Self {
                    dscp: tail.dscp(),
                    destination_port: Some(tail.destination_port()),
                    ip_protocol: Some(tail.protocol),
                    ..none
                },
                // Host-INT fills in its tail only when it has inserted a new UDP header.
                Some(tail) if encapsulation == Encapsulation::Udp => {
                    Self { ip_protocol: Some(tail.protocol), ..none }
                }
                _ => none,
            },
        }
    }
}

/// The original DSCP, which some dialects keep in another place.
fn original_dscp(shim: &Shim, location: &Location) -> u8 {
    let [third, fourth] = shim.original_udp_port().to_be_bytes();
    if location.deviations.contains(Deviation::DscpInThirdByte) {
        third >> 2
    } else if location.deviations.contains(Deviation::DscpUnshifted) {
        fourth & 0x3f
    } else {
        shim.original_dscp()
    }
}

/// The tail, the last part that the shim's Length covers.
fn tail<'a>(bytes: &'a [u8], location: &Location) -> Option<&'a earlier::Tail> {
    let at = location.end.checked_sub(earlier::tail::TAIL_BYTES).filter(|at| *at >= location.header)?;
    view(bytes, at, Header::IntTail).ok()
}

#[cfg(test)]
mod tests;
