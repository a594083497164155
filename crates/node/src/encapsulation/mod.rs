//! How does a source put INT into a packet, and a sink take it out, behind each encapsulation?
//!
//! One file per section of INT 2.1 "Header Location", each with both directions: what `start` changes,
//! `strip` restores bit for bit.

pub(crate) mod earlier;
pub(crate) mod geneve;
mod gre;
mod l4;
mod new_udp;
mod span;
mod udp_port;
mod vxlan_gpe;

use std::net::Ipv4Addr;
use std::ops::Range;

use zerocopy::byteorder::big_endian::U16;

use inband_wire::FiveTuple;
use inband_wire::Words;
use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::int::locate::{self, Encapsulation, HeaderType};
use inband_wire::int::shim::SHIM_BYTES;
use inband_wire::int::{
    CodePoints, Deviations, Dialect, DscpMark, Location, Original, Reading, TcpOptions, Version,
};
use inband_wire::ipv4::Ipv4Header;
use inband_wire::ipv6::Ipv6Header;
use inband_wire::layers::{IpVersion, Layers, Link, Transport, ports};
use inband_wire::udp::{self, UdpHeader};
use inband_wire::view::{view, view_mut};

use crate::carrier::{self, Change};
use crate::config::{EncapsulationKind, GrePayload, Layer, NodeConfig};
use crate::frame::Frame;

pub(crate) use span::IntSpan;

/// The code points of this domain's encapsulation.
// int-2.1/encapsulation-01, int-2.1/l4-05
// int-2.1/l4-23, int-2.1/l4-24, int-2.1/encapsulation-03: one encapsulation, the same on all nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    pub(crate) kind: EncapsulationKind,
    /// Whether a DSCP marks INT, and INT follows the specification.
    pub(crate) is_plain_dscp: bool,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) layer: Layer,
    /// The version a source of this domain writes.
    pub(crate) version: Version,
    pub(crate) mark: DscpMark,
    pub(crate) udp_port: u16,
    pub(crate) probe_marker: u64,
    /// First and last port of TCP or UDP beside which the marker counts; `None`: beside any.
    pub(crate) probe_marker_ports: Option<(u16, u16)>,
    pub(crate) gre_protocol: u16,
    pub(crate) gre_payload: GrePayload,
    /// The one that is written, and those that are read.
    pub(crate) vxlan_gpe_next_protocol: u8,
    pub(crate) vxlan_gpe_next_protocols: [u8; 4],
    /// The one that is written, and those that are read.
    pub(crate) geneve_class: u16,
    pub(crate) geneve_classes: [u16; 2],
    pub(crate) tcp_options: TcpOptions,
    /// Whether 0.5 behind TCP and UDP corrects L4 checksum and UDP length.
    pub(crate) update_l4: bool,
    pub(crate) tunnel_source: Ipv4Addr,
    pub(crate) tunnel_destination: Ipv4Addr,
}

/// Where INT goes in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The encapsulation of this packet.
    pub(crate) encapsulation: Encapsulation,
    /// Offset at which the gap opens.
    pub(crate) at: usize,
    /// Bytes of new headers, or of the marker, in front of the shim.
    pub(crate) outer: usize,
    /// The longest INT header and stack that can follow the shim.
    pub(crate) most: Words,
}

/// What a source is putting into a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insertion<'a> {
    pub(crate) place: Place,
    pub(crate) header_type: HeaderType,
    /// INT header and what is behind it, without the shim.
    pub(crate) int: Words,
    pub(crate) link: Link,
    pub(crate) flow: &'a FiveTuple,
}

impl Place {
    /// A place behind headers that are there already.
    const fn behind(encapsulation: Encapsulation, at: usize) -> Self {
        Self { encapsulation, at, outer: 0, most: Words::MAX }
    }
}

impl Insertion<'_> {
    /// Bytes the packet grows by.
    pub(crate) const fn growth(&self) -> usize {
        self.place.outer + SHIM_BYTES + self.int.bytes()
    }

    /// Where the INT header is once the gap is open.
    pub(crate) const fn location(&self) -> Location {
        let shim = self.place.at + self.place.outer;
        Location {
            encapsulation: self.place.encapsulation,
            header_type: self.header_type,
            version: Version::V2_1,
            deviations: Deviations::NONE,
            shim,
            header: shim + SHIM_BYTES,
            end: self.place.at + self.growth(),
        }
    }
}

impl Carriage {
    pub(crate) fn new(config: &NodeConfig) -> Self {
        let version = config.int_version().wire();
        let config = &config.encapsulation;
        let (kind, dialect) = (config.kind(), config.dialect());
        Self {
            layer: config.layer,
            kind,
            is_plain_dscp: kind == EncapsulationKind::Dscp && dialect.is_none(),
            dialect,
            version,
            mark: config.mark(),
            udp_port: config.udp_port(),
            probe_marker: config.probe_marker,
            probe_marker_ports: config
                .probe_marker_ports
                .as_ref()
                .map(|ports| (*ports.0.start(), *ports.0.end())),
            gre_protocol: config.gre_protocol,
            gre_payload: config.gre_payload,
            vxlan_gpe_next_protocol: config.vxlan_gpe_next_protocol.unwrap_or(match version {
                Version::V2_1 => 0x82,
                Version::V1_0 => 0x08,
                Version::V0_5 | Version::HostInt0_5 | Version::V2016 => 0x05,
            }),
            vxlan_gpe_next_protocols: config.vxlan_gpe_next_protocols(),
            // int-0.5/tunnel-02, int-1.0/tunnel-02
            geneve_class: config.geneve_class.unwrap_or(if version.is_before_2() { 0x00ab } else { 0x0103 }),
            geneve_classes: config.geneve_classes(),
            tcp_options: match version {
                Version::HostInt0_5 => TcpOptions::Before,
                _ => config.tcp_options(),
            },
            update_l4: config.update_l4,
            tunnel_source: config.tunnel_source,
            tunnel_destination: config.tunnel_destination,
        }
    }

    /// How a header that this domain's source writes departs from its version.
    pub(crate) fn deviations(&self) -> Deviations {
        self.dialect.map_or(Deviations::NONE, |dialect| dialect.deviations(self.version))
    }

    /// Whether INT at `location` leaves L4 checksum and UDP length right.
    pub(crate) fn keeps_l4(&self, location: &Location) -> bool {
        let is_in_tunnel = matches!(location.encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
        self.update_l4 || is_in_tunnel || location.version != Version::V0_5
    }

    /// Where INT goes in this packet; `None` where its protocol cannot carry the encapsulation.
    // int-2.1/encapsulation-02
    #[inline]
    pub(crate) fn place(&self, bytes: &[u8], layers: &Layers) -> Option<Place> {
        // A UDP length that contradicts the packet could not be updated. What is behind the packet's own end
        // is padding, and no header to put INT behind.
        let end = locate::limit(bytes, layers).ok()?;
        let bytes = bytes.get(..end).unwrap_or(bytes);
        match self.kind {
            EncapsulationKind::Dscp => l4::place_by_dscp(self, layers),
            EncapsulationKind::ProbeMarker => l4::place_by_marker(self, bytes, layers),
            EncapsulationKind::UdpPort => udp_port::place(self, bytes, layers),
            EncapsulationKind::Udp => new_udp::place(self, bytes, layers),
            EncapsulationKind::Gre => gre::place(self, bytes, layers),
            EncapsulationKind::VxlanGpe => vxlan_gpe::place(self, bytes, layers),
            EncapsulationKind::Geneve => geneve::place(self, bytes, layers),
        }
    }

    /// The 4 bytes in front of the INT header, which keep what [`Carriage::start`] is about to change.
    pub(crate) fn shim(&self, bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> [u8; SHIM_BYTES] {
        let shim = match insertion.place.encapsulation {
            Encapsulation::Dscp | Encapsulation::ProbeMarker => l4::shim(bytes, layers, insertion),
            Encapsulation::UdpPort => udp_port::shim(bytes, layers, insertion),
            Encapsulation::Udp => new_udp::shim(layers, insertion),
            Encapsulation::Gre => gre::shim(bytes, layers, insertion),
            Encapsulation::VxlanGpe => vxlan_gpe::shim(bytes, layers, insertion),
            Encapsulation::Geneve => return geneve::option_header(self, insertion),
        };
        zerocopy::transmute!(shim)
    }

    /// Marks the packet whose gap is open and filled with shim and INT, and corrects its lengths.
    ///
    /// `layers` become those of the packet that carries INT. Returns what changed under its L4 checksum,
    /// which the caller corrects; `None` where new headers without a checksum carry INT.
    #[inline]
    pub(crate) fn start(
        &self,
        bytes: &mut [u8],
        layers: &mut Layers,
        insertion: &Insertion<'_>,
    ) -> Option<Change> {
        let growth = insertion.growth();
        let mut change = match insertion.place.encapsulation {
            Encapsulation::Dscp => l4::mark_by_dscp(self, bytes, layers),
            Encapsulation::ProbeMarker => l4::mark_by_marker(self, bytes, insertion),
            Encapsulation::UdpPort => udp_port::mark(self, bytes, layers),
            Encapsulation::Gre if insertion.place.outer == 0 => gre::mark(self, bytes, layers),
            Encapsulation::VxlanGpe => vxlan_gpe::mark(self, bytes, layers),
            Encapsulation::Geneve => geneve::lengthen(bytes, layers, SHIM_BYTES + insertion.int.bytes()),
            Encapsulation::Udp => {
                new_udp::write(self, bytes, layers, insertion);
                layers.end += growth;
                return None;
            }
            Encapsulation::Gre => {
                gre::write(self, bytes, layers, insertion);
                layers.end += growth;
                return None;
            }
        };
        let location = insertion.location();
        let inserted = bytes.get(location.shim..location.end).map_or(Sum::ZERO, Sum::of);
        change.added = change.added.plus(inserted);
        change.grown = growth;
        carrier::set_lengths(bytes, layers, &change);
        layers.end += growth;
        Some(change)
    }

    /// Removes all INT from the packet and restores what the source changed.
    ///
    /// Returns `false`, and leaves the packet alone, when a shim names something that cannot follow.
    // int-2.1/sink-01, int-2.1/sink-03, int-2.1/domain-03: INT is transparent to the layers above.
    pub(crate) fn strip(
        &self,
        frame: &mut Frame<'_>,
        layers: &Layers,
        location: &Location,
        stripping: Stripping,
    ) -> bool {
        if location.version.is_before_2() {
            return earlier::strip(self, frame, layers, location, stripping);
        }
        let bytes = frame.bytes_mut();
        let gap = match location.encapsulation {
            Encapsulation::Dscp => l4::strip_by_dscp(self, bytes, layers, location, stripping.restore_dscp),
            Encapsulation::ProbeMarker => l4::strip_by_marker(bytes, layers, location),
            Encapsulation::UdpPort => udp_port::strip(bytes, layers, location),
            Encapsulation::Udp => new_udp::strip(bytes, layers, location, stripping.link),
            Encapsulation::Gre => gre::strip(self, bytes, layers, location, stripping.link),
            Encapsulation::VxlanGpe => vxlan_gpe::strip(self, bytes, layers, location),
            Encapsulation::Geneve => return geneve::strip(self, frame, layers),
        };
        match gap {
            Some(gap) => {
                frame.close_gap(gap);
                true
            }
            None => false,
        }
    }

    /// Whether what a sink restores of the packet at `location` may mark INT again: another header follows then.
    pub(crate) fn restores_mark(&self, bytes: &[u8], location: &Location) -> bool {
        let is_udp = matches!(location.encapsulation, Encapsulation::UdpPort | Encapsulation::Udp);
        if !is_udp || location.version.is_before_2() {
            return false;
        }
        let original = Original::read(bytes, location);
        let inner = view::<UdpHeader>(bytes, location.end, Header::Udp).ok();
        original.destination_port == Some(self.udp_port)
            || (original.ip_protocol == Some(udp::PROTOCOL)
                && inner.is_some_and(|inner| inner.destination_port.get() == self.udp_port))
    }

    /// Whether the packet's ports are such as a probe marker counts beside.
    // int-2.1/l4-22
    pub(crate) fn has_marker_ports(&self, bytes: &[u8], layers: &Layers) -> bool {
        let Some((first, last)) = self.probe_marker_ports else { return true };
        let (source, destination) = ports(bytes, layers.l4);
        [source, destination].iter().any(|port| (first..=last).contains(port))
    }

    /// Calls `read` with the code points of this encapsulation.
    pub(crate) fn with_code_points<T>(&self, read: impl FnOnce(&CodePoints<'_>) -> T) -> T {
        read(&CodePoints {
            dscp: &[self.mark],
            host_int_dscp: &[],
            udp_ports: &[self.udp_port],
            probe_markers: &[self.probe_marker],
            gre_protocols: &[self.gre_protocol],
            vxlan_gpe_next_protocols: &self.vxlan_gpe_next_protocols,
            geneve_classes: &self.geneve_classes,
            tcp_options: self.tcp_options,
            domains: &[],
            reading: self.dialect.map_or(Reading::Strict, Reading::Of),
            dialect_marks: &[],
        })
    }
}

/// What a sink needs to know to strip a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stripping {
    pub(crate) link: Link,
    pub(crate) restore_dscp: bool,
}

/// Corrects lengths and checksum for the removal of `gap` behind headers that stay.
// int-2.1/checksum-07: in the checksum itself, also where hops used the complement.
fn remove(bytes: &mut [u8], layers: &Layers, gap: Range<usize>, mut change: Change) -> Range<usize> {
    let gone = bytes.get(gap.clone()).map_or(Sum::ZERO, Sum::of);
    change.removed = change.removed.plus(gone);
    change.shrunk = gap.len();
    carrier::correct_checksum(bytes, layers, &change);
    carrier::set_lengths(bytes, layers, &change);
    gap
}

/// Sets the DSCP of the packet and corrects the IPv4 header checksum.
pub(crate) fn set_dscp(bytes: &mut [u8], layers: &Layers, dscp: u8) {
    match layers.ip {
        IpVersion::V4 => {
            if let Some(header) = view_mut::<Ipv4Header>(bytes, layers.l3) {
                header.set_dscp(dscp);
            }
        }
        IpVersion::V6 => {
            if let Some(header) = view_mut::<Ipv6Header>(bytes, layers.l3) {
                header.set_dscp(dscp);
            }
        }
    }
}

/// Sets the destination port, which TCP and UDP have in the same place, and returns what that changed in the sum.
fn set_destination_port(bytes: &mut [u8], layers: &Layers, port: u16) -> Change {
    let Some(header) = view_mut::<UdpHeader>(bytes, layers.l4) else {
        return Change::default();
    };
    let removed = Sum::word(header.destination_port.get());
    header.destination_port = U16::new(port);
    Change { removed, added: Sum::word(port), ..Change::default() }
}

/// Sets the number of the protocol behind the IP headers and corrects the IPv4 header checksum.
fn set_protocol(bytes: &mut [u8], layers: &Layers, protocol: u8) {
    match layers.ip {
        IpVersion::V4 => {
            if let Some(header) = view_mut::<Ipv4Header>(bytes, layers.l3) {
                header.set_protocol(protocol);
            }
        }
        IpVersion::V6 => {
            if let Some(byte) = bytes.get_mut(layers.protocol_at) {
                *byte = protocol;
            }
        }
    }
}

/// Sets the EtherType in front of the IP header, behind any VLAN tags; a frame that starts with IP has none.
fn set_ethertype(bytes: &mut [u8], layers: &Layers, link: Link, ethertype: u16) {
    if link == Link::Ethernet
        && let Some(field) = bytes.get_mut(..layers.l3).and_then(<[u8]>::last_chunk_mut::<2>)
    {
        *field = ethertype.to_be_bytes();
    }
}

/// Writes a fixed header at byte `at`.
fn put(bytes: &mut [u8], at: usize, header: &[u8]) {
    if let Some(to) = bytes.get_mut(at..at + header.len()) {
        to.copy_from_slice(header);
    }
}

/// Sets only the IP length of a packet that grew or shrank in front of its L4 header.
pub(crate) fn set_ip_length(bytes: &mut [u8], layers: &Layers, change: &Change) {
    let ip_only = Layers { transport: Transport::Other, ..*layers };
    carrier::set_lengths(bytes, &ip_only, change);
}
