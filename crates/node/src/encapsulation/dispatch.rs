//! Dispatch on the encapsulation of a packet.

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::int::locate::{self, Encapsulation};
use inband_wire::int::shim::SHIM_BYTES;
use inband_wire::int::{Location, Original};
use inband_wire::layers::Layers;
use inband_wire::udp::{PROTOCOL as UDP, UdpHeader};
use inband_wire::view::view;

use crate::carrier::{self, Change};
use crate::config::EncapsulationKind;
use crate::frame::Frame;

use super::carriage::Carriage;
use super::place::{Insertion, Place, Stripping};
use super::{dscp, earlier, geneve, gre, probe_marker, udp, udp_port, vxlan_gpe};

impl Carriage {
    /// Where INT goes in this packet; `None` if its protocol cannot carry the encapsulation.
    // int-2.1/encapsulation-02
    #[inline]
    pub(crate) fn place(&self, bytes: &[u8], layers: &Layers) -> Option<Place> {
        // A UDP length that contradicts the packet could not be updated. Bytes past the packet's own end are
        // padding, not a header that INT can follow.
        let end = locate::limit(bytes, layers).ok()?;
        let bytes = bytes.get(..end).unwrap_or(bytes);
        match self.kind {
            EncapsulationKind::Dscp => dscp::place(self, layers),
            EncapsulationKind::ProbeMarker => probe_marker::place(self, bytes, layers),
            EncapsulationKind::UdpPort => udp_port::place(self, bytes, layers),
            EncapsulationKind::Udp => udp::place(self, bytes, layers),
            EncapsulationKind::Gre => gre::place(self, bytes, layers),
            EncapsulationKind::VxlanGpe => vxlan_gpe::place(self, bytes, layers),
            EncapsulationKind::Geneve => geneve::place(self, bytes, layers),
        }
    }

    /// The 4 bytes before the INT header, which preserve what [`Carriage::start`] changes.
    #[inline]
    pub(crate) fn shim(&self, bytes: &[u8], layers: &Layers, insertion: &Insertion<'_>) -> [u8; SHIM_BYTES] {
        let shim = match insertion.place.encapsulation {
            Encapsulation::Dscp | Encapsulation::ProbeMarker => dscp::shim(bytes, layers, insertion),
            Encapsulation::UdpPort => udp_port::shim(bytes, layers, insertion),
            Encapsulation::Udp => udp::shim(layers, insertion),
            Encapsulation::Gre => gre::shim(bytes, layers, insertion),
            Encapsulation::VxlanGpe => vxlan_gpe::shim(bytes, layers, insertion),
            Encapsulation::Geneve => return geneve::option_header(self, insertion),
        };
        zerocopy::transmute!(shim)
    }

    /// Marks the packet whose gap is open and filled with shim and INT, and corrects its lengths.
    ///
    /// `layers` become those of the packet that carries INT. Returns the change under its L4 checksum, which
    /// the caller corrects; `None` if new headers without a checksum carry INT.
    #[inline]
    pub(crate) fn start(
        &self,
        bytes: &mut [u8],
        layers: &mut Layers,
        insertion: &Insertion<'_>,
    ) -> Option<Change> {
        let growth = insertion.growth();
        let mut change = match insertion.place.encapsulation {
            Encapsulation::Dscp => dscp::mark(self, bytes, layers),
            Encapsulation::ProbeMarker => probe_marker::mark(self, bytes, insertion),
            Encapsulation::UdpPort => udp_port::mark(self, bytes, layers),
            Encapsulation::Gre if insertion.place.outer == 0 => gre::mark(self, bytes, layers),
            Encapsulation::VxlanGpe => vxlan_gpe::mark(self, bytes, layers),
            Encapsulation::Geneve => geneve::lengthen(bytes, layers, SHIM_BYTES + insertion.int.bytes()),
            Encapsulation::Udp => {
                udp::write(self, bytes, layers, insertion);
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
    /// Returns `false`, and leaves the packet unchanged, if a shim names a protocol that cannot follow.
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
            Encapsulation::Dscp => dscp::strip(self, bytes, layers, location, stripping.restore_dscp),
            Encapsulation::ProbeMarker => probe_marker::strip(bytes, layers, location),
            Encapsulation::UdpPort => udp_port::strip(bytes, layers, location),
            Encapsulation::Udp => udp::strip(bytes, layers, location, stripping.link),
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

    /// Whether the packet restored from `location` may be marked as INT again, because another header
    /// follows.
    pub(crate) fn restores_mark(&self, bytes: &[u8], location: &Location) -> bool {
        let is_udp = matches!(location.encapsulation, Encapsulation::UdpPort | Encapsulation::Udp);
        if !is_udp || location.version.is_before_2() {
            return false;
        }
        let original = Original::read(bytes, location);
        let inner = view::<UdpHeader>(bytes, location.end, Header::Udp).ok();
        original.destination_port == Some(self.udp_port)
            || (original.ip_protocol == Some(UDP)
                && inner.is_some_and(|inner| inner.destination_port.get() == self.udp_port))
    }
}
