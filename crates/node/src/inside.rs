//! The innermost packet of a tunnel, and the outer packets that are updated after it changes.

use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::Sum;
use inband_wire::dissect::{carried, dissect};
use inband_wire::error::Header;
use inband_wire::int::locate::{self, Encapsulation};
use inband_wire::int::{Location, Original};
use inband_wire::layers::{Fragment, IpVersion, Layers, Link, Strictness, Transport};
use inband_wire::udp::{self, UdpHeader};
use inband_wire::view::{view, view_mut};
use inband_wire::{Level, gtpu, ipv4};

use crate::carrier::{self, Change};
use crate::config::EncapsulationKind;
use crate::encapsulation::Carriage;

/// The target of INT in the inner layer.
pub(crate) enum Innermost {
    /// The packet itself, which is not a tunnel.
    Itself,
    /// A packet inside the tunnel.
    Inside(Inside),
    /// None: the outer packets cannot be updated.
    OutOfReach,
}

/// The innermost packet of a frame, as received.
// int-2.1/l4-03, int-2.1/l4-04
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// Its headers.
    pub(crate) layers: Layers,
    /// Offset of its own Ethernet header, if it has one.
    pub(crate) ethernet: Option<usize>,
    /// The headers of the outermost packet.
    pub(crate) outermost: Layers,
    /// Bytes of the outermost packet outside the innermost one.
    pub(crate) around_bytes: usize,
    /// Whether a checksum around it could not be restored after an incremental update.
    pub(crate) is_ambiguous: bool,
    /// The outer packets, innermost first.
    around: Vec<Around>,
    frame_bytes: usize,
}

/// A packet, or only its L4 header, around the innermost packet.
#[derive(Clone, Copy, Debug)]
struct Around {
    layers: Layers,
    /// Whether the IP header belongs to it; false if INT has put a UDP header before the original one.
    has_ip: bool,
    /// The GTP-U header, whose length field covers its payload.
    gtpu_at: Option<usize>,
    /// Sum of the payload its checksum covers, as received; the header before it excepted.
    sum: Sum,
}

impl Inside {
    /// Finds the innermost packet of the frame.
    pub(crate) fn find(carriage: &Carriage, link: Link, bytes: &[u8]) -> Innermost {
        let found =
            carriage.with_code_points(|code_points| dissect(link, bytes, code_points, Strictness::Truncated));
        let mut levels: Vec<&Level> = found.levels().collect();
        if carriage.kind == EncapsulationKind::Udp && is_behind_new_ip(bytes, &levels) {
            levels.pop();
        }
        let Some((innermost, around)) = levels.split_last() else { return Innermost::Itself };
        let (Some(outermost), Some(last)) = (around.first(), around.last()) else { return Innermost::Itself };
        let ethernet = match carried(bytes, &last.layers, last.int().last()) {
            Some(carried) if carried.link == Link::Ethernet => Some(carried.at),
            _ => None,
        };
        let mut list = Vec::with_capacity(2 * around.len());
        for level in around.iter().rev() {
            if level.layers.fragment != Fragment::Whole || locate::limit(bytes, &level.layers).is_err() {
                return Innermost::OutOfReach;
            }
            let location = level.int().last();
            list.extend(location.and_then(|location| Around::original_udp(bytes, level, location)));
            list.push(Around::packet(bytes, level, location));
        }
        let is_ambiguous = around.iter().any(|level| carrier::is_ambiguous(bytes, &level.layers));
        Innermost::Inside(Self {
            layers: innermost.layers,
            ethernet,
            outermost: outermost.layers,
            around_bytes: outermost.layers.ip_length().saturating_sub(innermost.layers.ip_length()),
            is_ambiguous,
            around: list,
            frame_bytes: bytes.len(),
        })
    }

    /// The length the innermost packet may have, bytes: the outer packets have 16-bit lengths, too.
    pub(crate) fn most_bytes(&self) -> usize {
        carrier::MAX_LENGTH.saturating_sub(self.around_bytes)
    }

    /// Corrects lengths and checksums around the innermost packet after it changed; call once.
    pub(crate) fn follow(&self, bytes: &mut [u8]) {
        let grown = bytes.len().saturating_sub(self.frame_bytes);
        let shrunk = self.frame_bytes.saturating_sub(bytes.len());
        for around in &self.around {
            around.follow(bytes, grown, shrunk);
        }
    }
}

impl Around {
    fn packet(bytes: &[u8], level: &Level, location: Option<&Location>) -> Self {
        let layers = level.layers;
        let kept = location.and_then(|location| Original::read(bytes, location).destination_port);
        let port = kept.or_else(|| layers.udp(bytes).map(|header| header.destination_port.get()));
        let at = location.map_or(layers.l4 + udp::HEADER_BYTES, |location| location.end);
        let is_behind_new_udp = location.is_some_and(|location| location.encapsulation == Encapsulation::Udp);
        let gtpu_at = (port == Some(gtpu::PORT) && !is_behind_new_udp).then_some(at);
        Self::new(bytes, layers, true, gtpu_at)
    }

    /// The UDP header that was the packet's own before INT put a new one before it.
    fn original_udp(bytes: &[u8], level: &Level, location: &Location) -> Option<Self> {
        let original = Original::read(bytes, location);
        if location.encapsulation != Encapsulation::Udp || original.ip_protocol != Some(udp::PROTOCOL) {
            return None;
        }
        let l4 = location.end;
        let header: &UdpHeader = view(bytes, l4, Header::Udp).ok()?;
        let gtpu_at = (header.destination_port.get() == gtpu::PORT).then_some(l4 + udp::HEADER_BYTES);
        let layers = Layers { l4, protocol: udp::PROTOCOL, transport: Transport::Udp, ..level.layers };
        Some(Self::new(bytes, layers, false, gtpu_at))
    }

    fn new(bytes: &[u8], layers: Layers, has_ip: bool, gtpu_at: Option<usize>) -> Self {
        let around = Self { layers, has_ip, gtpu_at, sum: Sum::ZERO };
        Self { sum: around.payload_sum(bytes), ..around }
    }

    fn follow(&self, bytes: &mut [u8], grown: usize, shrunk: usize) {
        // An unaffected header stays unchanged, even if its checksum field could not be corrected and
        // restored.
        if grown != shrunk {
            self.resize(bytes, grown, shrunk);
        }
        let change = Change { removed: self.sum, added: self.payload_sum(bytes), grown, shrunk };
        if grown != shrunk || change.removed != change.added {
            carrier::correct_checksum(bytes, &self.layers, &change);
        }
    }

    /// Sets the lengths of the headers.
    fn resize(&self, bytes: &mut [u8], grown: usize, shrunk: usize) {
        let word = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
        let set = |field: &mut U16| {
            *field = U16::new(field.get().wrapping_add(word(grown)).wrapping_sub(word(shrunk)));
        };
        if let Some(length) = self.gtpu_at.and_then(|at| view_mut(bytes, at + GTPU_LENGTH_OFFSET)) {
            set(length);
        }
        if self.has_ip {
            carrier::set_lengths(bytes, &self.layers, &Change { grown, shrunk, ..Change::default() });
        } else if let Some(header) = view_mut::<UdpHeader>(bytes, self.layers.l4) {
            set(&mut header.length);
        }
    }

    /// Sums the bytes after the first 8 bytes of the L4 header, up to the end given by its length: the UDP
    /// header, or a GRE header up to its checksum. Zero if there is no checksum, because the sum is not
    /// needed then.
    fn payload_sum(&self, bytes: &[u8]) -> Sum {
        let Layers { l4, .. } = self.layers;
        let end = match self.layers.udp(bytes) {
            Some(header) if header.checksum.get() == 0 => return Sum::ZERO,
            Some(header) => l4 + usize::from(header.length.get()),
            None if carrier::has_gre_checksum(bytes, &self.layers) => ip_end(bytes, &self.layers),
            None => return Sum::ZERO,
        };
        bytes.get(l4 + 8..end.min(bytes.len())).map_or(Sum::ZERO, Sum::of)
    }
}

/// Whether the last packet is the one before which INT has put a new IP header: then that is where INT is.
fn is_behind_new_ip(bytes: &[u8], levels: &[&Level]) -> bool {
    let [.., carrier, _] = levels else { return false };
    carrier.int().last().is_some_and(|location| {
        let original = Original::read(bytes, location).ip_protocol;
        let has_new_ip = matches!(original, Some(ipv4::IN_IP | ipv4::IPV6_IN_IP));
        location.encapsulation == Encapsulation::Udp && has_new_ip
    })
}

/// End of the packet according to its current IP header.
fn ip_end(bytes: &[u8], layers: &Layers) -> usize {
    let length = |at: usize| match bytes.get(at..at + 2) {
        Some([high, low]) => usize::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    };
    match layers.ip {
        IpVersion::V4 => layers.l3 + length(layers.l3 + 2),
        IpVersion::V6 => layers.l3 + 40 + length(layers.l3 + 4),
    }
}

const GTPU_LENGTH_OFFSET: usize = 2;
