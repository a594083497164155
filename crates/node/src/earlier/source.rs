//! The source of a version before 2.0.

use zerocopy::IntoBytes;

use inband_wire::Words;
use inband_wire::int::earlier::recognise::HEADER_BYTES;
use inband_wire::int::earlier::shim::SHIM_BYTES;
use inband_wire::int::earlier::{
    HeaderForm, HeaderV0_5, HeaderV1_0, HeaderV2016, InstructionSet, Layout, Tail, host_int,
};
use inband_wire::int::locate::{Encapsulation, HeaderType};
use inband_wire::int::{Deviation, Deviations, HopMetadata, Instructions, Interfaces, Location, Version};
use inband_wire::layers::Layers;

use crate::carrier::{self, Growth, Limits};
use crate::config::NodeConfig;
use crate::counters::{Counters, Outcome};
use crate::encapsulation::{Carriage, Insertion, Place, earlier};
use crate::error::ConfigError;
use crate::flow_sequences::FlowSequences;
use crate::frame::Frame;
use crate::source::{StartContext, not_started};
use crate::transit::keep_checksum;

use super::instructions;
use super::transit::write_hop;

/// The compiled configuration of a source before 2.0.
#[derive(Clone, Debug)]
pub(crate) struct EarlierSource {
    version: Version,
    deviations: Deviations,
    layout: Layout,
    bitmap: u16,
    hop: Words,
    most_hops: u8,
    own_metadata: bool,
    replication: u8,
}

/// Packet numbers assigned by a source of a version before 2.0.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierNumbers {
    /// The number of the latest packet, which GEANT writes.
    packet: u16,
    /// The flow sequence numbers, which Host-INT writes.
    flows: FlowSequences,
}

/// How much INT fits into one packet.
#[derive(Clone, Copy)]
struct Room {
    /// Whether the source's own metadata is added.
    own: bool,
    /// Whether it is omitted because of the MTU.
    mtu_exceeded: bool,
    /// How many hops may add metadata, including this one.
    most_hops: u8,
    /// Everything behind the shim.
    int: Words,
}

impl EarlierSource {
    /// Compiles the source; `None` if the configured version is not before 2.0.
    ///
    /// # Errors
    /// Instructions that the version does not have.
    pub(crate) fn new(config: &NodeConfig) -> Result<Option<Self>, ConfigError> {
        let version = config.int_version().wire();
        let dialect = config.encapsulation.dialect();
        let deviations = dialect.map_or(Deviations::NONE, |dialect| dialect.deviations(version));
        let Some(layout) = Layout::of_dialect(version, deviations) else { return Ok(None) };
        let bitmap = instructions::bitmap(version, &config.source.instructions)?;
        let is_host_int = version == Version::HostInt0_5;
        Ok(Some(Self {
            version,
            deviations,
            layout,
            bitmap,
            hop: layout.hop_words(bitmap),
            most_hops: if is_host_int { host_int::MAX_HOP_COUNT } else { config.source.remaining_hops },
            own_metadata: config.source.own_metadata,
            replication: config.source.replicate.code(),
        }))
    }

    /// Starts INT in the packet; `layers` become those of the packet that carries it.
    ///
    /// # Errors
    /// The reason why INT cannot be started; the packet is unchanged.
    // int-2016/roles-02
    #[cold]
    pub(crate) fn start(
        &self,
        numbers: &mut EarlierNumbers,
        carriage: &Carriage,
        frame: &mut Frame<'_>,
        layers: &mut Layers,
        context: &StartContext<'_>,
        counters: &mut Counters,
    ) -> Result<Location, Outcome> {
        let place = earlier::place(carriage, frame.bytes(), layers).ok_or(Outcome::NotCarried)?;
        if carrier::is_ambiguous(frame.bytes(), layers) {
            return Err(Outcome::NotStartedChecksum);
        }
        let room = self.room(frame.bytes(), layers, &place, context.limits)?;
        let header_type = HeaderType::Md;
        let insertion =
            Insertion { place, header_type, int: room.int, link: context.link, flow: context.flow };
        let shim = earlier::shim(carriage, frame.bytes(), layers, &insertion);
        let tail = self.tail(frame.bytes(), layers, &place);
        let bytes = frame.open_gap(place.at, insertion.growth()).ok_or(Outcome::NotStartedHeadroom)?;
        let location =
            Location { version: self.version, deviations: self.deviations, ..insertion.location() };
        numbers.packet = numbers.packet.wrapping_add(1);
        let sequence = (self.version == Version::HostInt0_5).then(|| {
            let (number, is_another_forgotten) = numbers.flows.next(context.flow);
            if is_another_forgotten {
                counters.count(Outcome::FlowForgotten);
            }
            number
        });
        if let Some(out) = bytes.get_mut(location.shim..location.end) {
            let sequence = sequence.map(u32::to_be_bytes);
            let behind = [sequence.as_ref().map(<[u8; 4]>::as_slice), tail.as_ref().map(IntoBytes::as_bytes)];
            let header = self.header(&room, numbers.packet);
            self.write(out, (shim, header), &room, context, behind);
        }
        if let Some(change) = earlier::start(carriage, bytes, layers, &insertion) {
            let complement = if room.own { self.complement() } else { Instructions(0) };
            let hop_end = location.header + HEADER_BYTES + self.hop.bytes();
            keep_checksum(bytes, layers, complement, &change, hop_end, context.choices);
        }
        Ok(location)
    }

    /// Computes what fits: after the shim, within the MTU, and within the length fields.
    fn room(&self, bytes: &[u8], layers: &Layers, place: &Place, limits: Limits) -> Result<Room, Outcome> {
        let check =
            |int: Words| carrier::check_growth(bytes, layers, place.outer + SHIM_BYTES + int.bytes(), limits);
        let fixed = self.fixed(place);
        // Host-INT carries the source's hop or no INT at all.
        let least =
            if self.version == Version::HostInt0_5 { fixed.checked_add(self.hop) } else { Some(fixed) };
        let least = least.filter(|least| *least <= place.most).ok_or(Outcome::NotStartedLength)?;
        not_started(check(least))?;
        let most_hops = self.most_hops(place, fixed);
        let nothing = Room { own: false, mtu_exceeded: false, most_hops, int: fixed };
        if !self.own_metadata || most_hops == 0 {
            return Ok(nothing);
        }
        let with_own = fixed.checked_add(self.hop).filter(|int| *int <= place.most);
        match with_own.map(|int| (int, check(int))) {
            Some((int, Growth::Fits)) => Ok(Room { own: true, int, ..nothing }),
            Some((_, Growth::ExceedsLength)) => Err(Outcome::NotStartedLength),
            Some((_, Growth::ExceedsMtu)) | None => Ok(Room { mtu_exceeded: true, ..nothing }),
        }
    }

    /// Length of what follows the shim without any hop: the header, and what follows the stack.
    fn fixed(&self, place: &Place) -> Words {
        let is_in_tunnel = matches!(place.encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
        let behind = match self.version {
            Version::HostInt0_5 => 2,
            Version::V0_5 if !is_in_tunnel => 1,
            _ => 0,
        };
        Words::new(2 + behind)
    }

    /// How many hops may add metadata: as configured, but in Geneve 1.0 at most as many as fit the option.
    ///
    /// In the versions before 1.0 Max Hop Count is the diameter of the network, also in the Geneve examples.
    // int-2016/location-03
    fn most_hops(&self, place: &Place, fixed: Words) -> u8 {
        let free = place.most.checked_sub(fixed).unwrap_or_default().count();
        match (place.encapsulation, self.layout.instructions(), free.checked_div(self.hop.count())) {
            (Encapsulation::Geneve, InstructionSet::V1_0, Some(hops)) => self.most_hops.min(hops),
            _ => self.most_hops,
        }
    }

    /// The tail after the stack, in which 0.5 and Host-INT keep the original fields.
    // host-int-0.5/packet-03
    fn tail(&self, bytes: &[u8], layers: &Layers, place: &Place) -> Option<Tail> {
        let port = layers
            .tcp(bytes)
            .map(|tcp| tcp.destination_port.get())
            .or_else(|| layers.udp(bytes).map(|udp| udp.destination_port.get()));
        match (self.version, place.encapsulation) {
            (_, Encapsulation::VxlanGpe | Encapsulation::Geneve) => None,
            (Version::V0_5, _) => Some(Tail::new(layers.protocol, port.unwrap_or(0), layers.dscp(bytes))),
            (Version::HostInt0_5, Encapsulation::Udp) => Some(Tail::new(layers.protocol, 0, 0)),
            (Version::HostInt0_5, _) => Some(Tail::new(0, 0, 0)),
            _ => None,
        }
    }

    /// Writes shim, header, the source's own hop, and what follows the stack.
    fn write(
        &self,
        out: &mut [u8],
        (shim, header): ([u8; SHIM_BYTES], [u8; HEADER_BYTES]),
        room: &Room,
        context: &StartContext<'_>,
        behind: [Option<&[u8]>; 2],
    ) {
        let hop = if room.own { self.hop.bytes() } else { 0 };
        let (fixed, rest) = out.split_at_mut((SHIM_BYTES + HEADER_BYTES).min(out.len()));
        let (stack, rest) = rest.split_at_mut(hop.min(rest.len()));
        for (to, from) in fixed.iter_mut().zip(shim.iter().chain(&header)) {
            *to = *from;
        }
        write_hop(self.layout, self.bitmap, self.own_hop(context), true, stack);
        for (to, from) in rest.iter_mut().zip(behind.into_iter().flatten().flatten()) {
            *to = *from;
        }
    }

    /// This node's own metadata; a source of Host-INT has one interface, which it reports twice.
    // host-int-0.5/packet-10
    fn own_hop(&self, context: &StartContext<'_>) -> HopMetadata {
        let hop = context.hop.metadata();
        if self.version != Version::HostInt0_5 {
            return hop;
        }
        HopMetadata {
            interfaces: hop.interfaces.map(|ids| Interfaces { egress: ids.ingress, ..ids }),
            egress_timestamp: hop.ingress_timestamp,
            ..hop
        }
    }

    // int-2016/md-09, int-2016/md-12, int-2016/md-17
    fn header(&self, room: &Room, number: u16) -> [u8; HEADER_BYTES] {
        let own = u8::from(room.own);
        match HeaderForm::of(self.version, self.deviations) {
            HeaderForm::V1_0 => {
                let mut header = HeaderV1_0::new(self.bitmap, self.hop, room.most_hops.saturating_sub(own));
                header.set_replication(self.replication);
                if room.mtu_exceeded {
                    header.set_mtu_exceeded();
                }
                if self.deviations.contains(Deviation::NumberInReserved) {
                    header.set_reserved(number);
                }
                zerocopy::transmute!(header)
            }
            HeaderForm::V0_5 => {
                let mut header = HeaderV0_5::new(self.bitmap, room.most_hops);
                header.set_replication(self.replication);
                header.set_total_hop_count(own);
                zerocopy::transmute!(header)
            }
            HeaderForm::V2016 => {
                let mut header = HeaderV2016::new(self.bitmap, room.most_hops);
                header.set_replication(self.replication);
                header.set_total_hop_count(own);
                zerocopy::transmute!(header)
            }
        }
    }

    /// The checksum complement, which only 1.0 has.
    // int-1.0/md-09
    const fn complement(&self) -> Instructions {
        match self.layout.instructions() {
            InstructionSet::V1_0 => Instructions(self.bitmap & Instructions::CHECKSUM_COMPLEMENT.0),
            InstructionSet::V0_5 | InstructionSet::V2016 => Instructions(0),
        }
    }
}
