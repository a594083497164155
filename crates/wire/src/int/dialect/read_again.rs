//! Detection of INT that deviates from the formats, and of its deviations.

use crate::checksum::{Sum, pseudo_header};
use crate::error::{Header, ParseError};
use crate::int::any::AnyHeader;
use crate::int::code_points::CodePoints;
use crate::int::dialect::deviation::{Deviation, Deviations};
use crate::int::dialect::named::{Dialect, Reading};
use crate::int::earlier::place::{Bounds, behind_shim_of};
use crate::int::earlier::{self, HopByHop};
use crate::int::instruction::Instructions;
use crate::int::locate::{self, behind_next_protocol, behind_shim, payload_at};
use crate::int::location::{Encapsulation, HeaderType, Location};
use crate::int::md::MdHeader;
use crate::int::original::Original;
use crate::int::shim::{NextProtocolType, SHIM_BYTES, Shim};
use crate::int::version::Version;
use crate::layers::{Fragment, Layers, Transport};
use crate::view::view;
use crate::vxlan::VxlanHeader;
use crate::words::Words;
use crate::{tcp, udp, vxlan};

/// The result of finding INT in a strict reading.
type Found = Result<Option<Location>, ParseError>;

/// Reads the first INT header of a packet as strictly as `code_points` asks; `found` is the result of a
/// strict reading.
///
/// With a chosen dialect, a header that makes sense in that dialect is read as such. When every deviation is
/// allowed, a successful strict reading takes precedence, and a deviating header must be consistent.
///
/// # Errors
/// Those of `found`, when the packet cannot be read in any other way.
#[cold]
pub fn read_again(bytes: &[u8], layers: &Layers, code_points: &CodePoints<'_>, found: Found) -> Found {
    if layers.fragment == Fragment::Later {
        return found;
    }
    let packet = Packet { bytes, layers, code_points };
    match code_points.reading {
        Reading::Strict => found,
        Reading::Of(dialect) => packet.of_dialect(dialect, None, found),
        Reading::OfVersion(dialect, version) => packet.of_dialect(dialect, Some(version), found),
        Reading::Lenient => packet.lenient(found),
    }
}

/// A packet that is being read.
#[derive(Clone, Copy)]
struct Packet<'a> {
    bytes: &'a [u8],
    layers: &'a Layers,
    code_points: &'a CodePoints<'a>,
}

impl Packet<'_> {
    /// `first`: the version that is tried first.
    fn of_dialect(&self, dialect: Dialect, first: Option<Version>, found: Found) -> Found {
        let is_marked = match dialect {
            Dialect::Geant | Dialect::Onos => {
                let dscp = self.layers.dscp(self.bytes);
                self.code_points.dscp.iter().any(|mark| mark.matches(dscp))
            }
            Dialect::Cablelabs => self.is_to(self.code_points.udp_ports),
        };
        let read = if is_marked { self.as_dialect(dialect, first) } else { None };
        read.map_or(found, |location| Ok(Some(location)))
    }

    fn lenient(&self, found: Found) -> Found {
        if let Ok(Some(location)) = found {
            return Ok(Some(self.with_deviations(location)));
        }
        let by_mark = self.code_points.dialect_marks.iter().find_map(|dialect| {
            let is_marked = dialect.dscp().is_some_and(|mark| mark.matches(self.layers.dscp(self.bytes)))
                || dialect.udp_port().is_some_and(|port| self.is_to(&[port]));
            let location = if is_marked { self.as_dialect(*dialect, None)? } else { return None };
            Some(Location { deviations: location.deviations.with(dialect.mark()), ..location })
        });
        let dscp = self.layers.dscp(self.bytes);
        let is_marked = found.is_err() && self.code_points.dscp.iter().any(|mark| mark.matches(dscp));
        let known = if is_marked { self.as_any_before_2(Encapsulation::Dscp) } else { None };
        let is_to_port = found.is_err() && self.is_to(self.code_points.udp_ports);
        let known = known.or_else(|| if is_to_port { self.as_cablelabs() } else { None });
        match known.or(by_mark).or_else(|| self.behind_misplaced_flags()) {
            Some(location) => Ok(Some(location)),
            None => found,
        }
    }

    /// The location with the deviations of the header there, which a shim announces.
    fn with_deviations(&self, location: Location) -> Location {
        let is_behind_l4 = matches!(
            location.encapsulation,
            Encapsulation::Dscp | Encapsulation::UdpPort | Encapsulation::ProbeMarker
        );
        if !location.version.is_before_2() {
            return self.with_deviations_of_2(location);
        }
        match self.parsed(location) {
            Some(AnyHeader::HopByHop(int)) => self.numbered(location, &int),
            None if is_behind_l4 => self.at(location.shim, location.encapsulation).unwrap_or(location),
            _ => location,
        }
    }

    /// Like [`Self::with_deviations`], for a valid 1.0 header that may have a number in its reserved half.
    fn numbered(&self, location: Location, int: &HopByHop<'_>) -> Location {
        let deviations = Deviations::of(&[Deviation::NumberInReserved]);
        let numbered = Location { deviations, ..location };
        let number = HopByHop::parse(self.bytes, &numbered).ok().and_then(|int| int.sequence);
        match (int.version, number) {
            (Version::V1_0, Some(1..)) => numbered,
            _ => location,
        }
    }

    fn with_deviations_of_2(&self, location: Location) -> Location {
        let mut location = Location { deviations: self.of_shim(&location), ..location };
        let is_version_0 = self.bytes.get(location.header).is_some_and(|first| first >> 4 == 0);
        if is_version_0 && location.header_type != HeaderType::Destination {
            let deviations = location.deviations.with(Deviation::Version0);
            return self.sound(Location { deviations, ..location }).unwrap_or(location);
        }
        if self.has_low_flags(&location) {
            location.deviations = location.deviations.with(Deviation::LowFlags);
        }
        if location.encapsulation == Encapsulation::Udp {
            return self.with_l4_header(location);
        }
        location
    }

    /// The same location, or one a word shorter where the L4 header starts there.
    fn with_l4_header(&self, location: Location) -> Location {
        let protocol = Original::read(self.bytes, &location).ip_protocol.unwrap_or_default();
        let Some(shorter) = location.end.checked_sub(SHIM_BYTES) else { return location };
        if self.is_l4_header(location.end, protocol) || !self.is_l4_header(shorter, protocol) {
            return location;
        }
        let deviations = location.deviations.with(Deviation::LengthCountsShim);
        self.sound(Location { end: shorter, deviations, ..location }).unwrap_or(location)
    }

    /// The deviation of a 2.1 shim that keeps its original value in the wrong place.
    fn of_shim(&self, location: &Location) -> Deviations {
        let Ok(shim) = view::<Shim>(self.bytes, location.shim, Header::Shim) else { return Deviations::NONE };
        let [third, fourth] = shim.original_udp_port().to_be_bytes();
        let deviation = match (location.encapsulation, third, fourth) {
            (Encapsulation::Udp, 1.., 0) => Deviation::ProtocolInThirdByte,
            (Encapsulation::Dscp | Encapsulation::ProbeMarker, 1.., 0) if third & 3 == 0 => {
                Deviation::DscpInThirdByte
            }
            (Encapsulation::Dscp | Encapsulation::ProbeMarker, 0, 1..=0x3f) if fourth & 3 != 0 => {
                Deviation::DscpUnshifted
            }
            _ => return Deviations::NONE,
        };
        Deviations::of(&[deviation])
    }

    /// Whether an INT-MD header after a port mark has bits set where 2.1 has zeros and CableLabs has E and M.
    fn has_low_flags(&self, location: &Location) -> bool {
        let is_behind_port = matches!(location.encapsulation, Encapsulation::Udp | Encapsulation::UdpPort);
        let header = view::<MdHeader>(self.bytes, location.header, Header::IntMd);
        is_behind_port
            && location.header_type == HeaderType::Md
            && header.is_ok_and(|header| {
                let raised = header.with_raised_flags();
                let is_flagged = raised.max_hop_count_exceeded() || raised.mtu_exceeded();
                is_flagged && raised.reserved_is_zero() && !header.reserved_is_zero()
            })
    }

    /// Finds INT of `dialect`, preferably of version `first`; the caller has checked the mark.
    fn as_dialect(&self, dialect: Dialect, first: Option<Version>) -> Option<Location> {
        if dialect == Dialect::Cablelabs {
            return self.as_cablelabs();
        }
        let versions = first.into_iter().chain(dialect.versions().iter().copied());
        let at = self.payload_at()?;
        versions.into_iter().find_map(|version| self.as_version(at, Encapsulation::Dscp, dialect, version))
    }

    fn as_any_before_2(&self, encapsulation: Encapsulation) -> Option<Location> {
        self.at(self.payload_at()?, encapsulation)
    }

    /// Finds INT before 2.0 of any dialect after the shim at byte `at`.
    fn at(&self, at: usize, encapsulation: Encapsulation) -> Option<Location> {
        [Dialect::Geant, Dialect::Onos].into_iter().find_map(|dialect| {
            let versions = dialect.versions().iter();
            versions.copied().find_map(|version| self.as_version(at, encapsulation, dialect, version))
        })
    }

    fn as_version(
        &self,
        at: usize,
        encapsulation: Encapsulation,
        dialect: Dialect,
        version: Version,
    ) -> Option<Location> {
        let limit = locate::limit(self.bytes, self.layers).ok()?;
        let bounds = Bounds { payload_end: limit, packet_end: self.layers.end };
        let packet = self.bytes.get(..bounds.packet_end).unwrap_or(self.bytes);
        let shim: &earlier::Shim = view(packet, at, Header::Shim).ok()?;
        if shim.kind() != HeaderType::Md.code() {
            return None;
        }
        let location = behind_shim_of(packet, at, bounds, encapsulation, version).ok()?;
        self.sound(Location { deviations: dialect.deviations(version), ..location })
    }

    /// Finds INT of CableLabs after a new UDP header; its documents and code contradict each other.
    fn as_cablelabs(&self) -> Option<Location> {
        let at = self.layers.l4 + udp::HEADER_BYTES;
        let limit = locate::limit(self.bytes, self.layers).ok()?;
        let shim: &Shim = view(self.bytes.get(..limit).unwrap_or(self.bytes), at, Header::Shim).ok()?;
        let mut deviations = Deviations::of(&[Deviation::LowFlags]);
        if shim.next_protocol_type() != NextProtocolType::L4Header {
            if !matches!(shim.original_udp_port(), TCP | UDP) {
                return None;
            }
            deviations = deviations.with(Deviation::OtherNextProtocolType);
        }
        let location = behind_shim(self.bytes, at, limit, Encapsulation::Udp).ok()?;
        let location = self.with_l4_header(Location { deviations, ..location });
        (location.header_type == HeaderType::Md).then(|| self.sound(location)).flatten()
    }

    /// Whether the rest of the packet from byte `at` on is a datagram or segment of `protocol`.
    fn is_l4_header(&self, at: usize, protocol: u8) -> bool {
        let end = self.layers.end;
        let Some(length) = end.checked_sub(at) else { return false };
        if protocol == udp::PROTOCOL {
            let header = view::<udp::UdpHeader>(self.bytes, at, Header::Udp);
            return header.is_ok_and(|header| usize::from(header.length.get()) == length);
        }
        let (source, destination) = self.layers.addresses(self.bytes);
        let pseudo = pseudo_header(source, destination, protocol, length);
        let covered = self.bytes.get(at..end).filter(|_| protocol == tcp::PROTOCOL);
        covered.is_some_and(|covered| Sum::of(covered).plus(pseudo).fold() == 0xffff)
    }

    /// Finds INT after a VXLAN-GPE header whose flags do not announce it.
    fn behind_misplaced_flags(&self) -> Option<Location> {
        if !self.is_to(&[vxlan::GPE_PORT]) {
            return None;
        }
        let at = self.layers.l4 + udp::HEADER_BYTES;
        let header: &VxlanHeader = view(self.bytes, at, Header::Vxlan).ok()?;
        let next = header.unannounced_next_protocol()?;
        if !self.code_points.vxlan_gpe_next_protocols.contains(&next) {
            return None;
        }
        let limit = locate::limit(self.bytes, self.layers).ok()?;
        let found = behind_next_protocol(self.bytes, at + vxlan::HEADER_BYTES, self.layers, limit, next);
        let location = found.ok()??;
        self.sound(Location { deviations: location.deviations.with(Deviation::VxlanFlags), ..location })
    }

    /// Returns the location if the header there is free of contradictions and, before 2.0, asks for metadata.
    fn sound(&self, location: Location) -> Option<Location> {
        let is_sound = match self.parsed(location)? {
            AnyHeader::HopByHop(int) => {
                let is_tail_right = int.tail.is_none_or(|tail| tail.protocol == self.layers.protocol);
                int.instruction_bitmap != 0 && (location.version != Version::V0_5 || is_tail_right)
            }
            // Without instructions, hops have no metadata.
            AnyHeader::Md(md) => {
                md.header.hop_ml() > Words::default() || md.header.instructions() == Instructions(0)
            }
            AnyHeader::Mx(_) | AnyHeader::Destination(_) => true,
        };
        is_sound.then_some(location)
    }

    fn parsed(&self, location: Location) -> Option<AnyHeader<'_>> {
        AnyHeader::parse(self.bytes, &location, self.code_points.domains).ok()
    }

    /// Offset of INT after TCP or UDP.
    fn payload_at(&self) -> Option<usize> {
        let at = payload_at(self.layers, self.code_points.tcp_options);
        (self.layers.transport != Transport::Other).then_some(at)
    }

    fn is_to(&self, ports: &[u16]) -> bool {
        let header = self.layers.udp(self.bytes);
        header.is_some_and(|header| ports.contains(&header.destination_port.get()))
    }
}

/// The IP protocols of TCP and UDP, as the 16-bit field of a shim has them.
const TCP: u16 = tcp::PROTOCOL as u16;
const UDP: u16 = udp::PROTOCOL as u16;
