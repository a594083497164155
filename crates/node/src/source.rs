//! How does a node start INT in a packet?

use zerocopy::IntoBytes;
use zerocopy::byteorder::big_endian::U16;

use inband_wire::checksum::Sum;
use inband_wire::error::Header;
use inband_wire::int::locate::{self, Encapsulation, HeaderType};
use inband_wire::int::md::{self, MdHeader};
use inband_wire::int::mx::MxHeader;
use inband_wire::int::shim::{SHIM_BYTES, Shim};
use inband_wire::int::{DscpMark, HopMetadata, Instructions, Location, TcpOptions};
use inband_wire::ipv4::{self, Ipv4Header};
use inband_wire::ipv6::{self, Ipv6Header};
use inband_wire::layers::{IpVersion, Layers, Transport};
use inband_wire::udp::{self, UdpHeader};
use inband_wire::view::view;
use inband_wire::{FiveTuple, Words};

use crate::carrier::{self, Change};
use crate::config::{EncapsulationKind, Mode, NodeConfig};
use crate::counters::Outcome;
use crate::domains::{KnownDomains, ValueContext};
use crate::error::ConfigError;
use crate::frame::Frame;
use crate::reporter::Asked;
use crate::sink::{set_dscp, set_protocol, set_udp_port};
use crate::transit::{Choices, keep_checksum};

/// What this node's source writes, worked out once from the configuration.
#[derive(Clone, Debug)]
pub(crate) struct SourcePlan {
    pub(crate) mode: Mode,
    instructions: Instructions,
    pub(crate) own_metadata: bool,
    domain: Option<DomainPlan>,
    kind: EncapsulationKind,
    mark: DscpMark,
    udp_port: u16,
    tcp_options: TcpOptions,
    hop_ml: Words,
    remaining_hops: u8,
    discard: bool,
}

/// The domain-specific fields a source writes.
#[derive(Clone, Copy, Debug)]
struct DomainPlan {
    id: u16,
    instruction: u16,
    flags: u16,
    /// What the source puts into the packet beside per-hop metadata.
    inserted: Words,
}

/// What a source needs to know about one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartContext<'a> {
    pub(crate) flow: &'a FiveTuple,
    pub(crate) metadata: &'a HopMetadata,
    pub(crate) domains: &'a KnownDomains,
    pub(crate) values: &'a ValueContext,
    /// The egress MTU, bytes; `None` where the packet is stripped before it leaves.
    pub(crate) mtu: Option<usize>,
    pub(crate) choices: Choices,
}

/// The bytes a source is about to insert.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Where they go.
    at: usize,
    /// New IP and UDP headers in front of the shim.
    outer: usize,
    /// Whether the source's own metadata is among them.
    own: bool,
    /// Whether it is not because of the MTU.
    mtu_exceeded: bool,
    /// The INT header and what is behind it, without the shim.
    int: Words,
}

impl Room {
    const fn growth(&self) -> usize {
        self.outer + SHIM_BYTES + self.int.bytes()
    }
}

impl SourcePlan {
    /// # Errors
    /// Instructions that do not fit Hop ML or name a domain that is not configured.
    pub(crate) fn new(config: &NodeConfig, domains: &KnownDomains) -> Result<Self, ConfigError> {
        let source = &config.source;
        let instructions = source.instructions.bitmap();
        if source.mode != Mode::Md && instructions.contains(Instructions::CHECKSUM_COMPLEMENT) {
            return Err(ConfigError::unsupported(
                "source.instructions",
                "checksum-complement",
                "it with mode = \"md\"; other modes add no metadata to packets",
            ));
        }
        let domain = DomainPlan::new(config, domains)?;
        let hop_words = match &domain {
            Some(plan) => domains.get(plan.id).and_then(|known| known.wire.hop_words(plan.instruction)),
            None => Some(Words::default()),
        };
        // int-2.1/md-10, int-2.1/md-11: baseline and domain-specific metadata of one hop, 31 words at most.
        let hop_ml = hop_words
            .and_then(|words| words.checked_add(instructions.words()))
            .filter(|hop_ml| source.mode != Mode::Md || *hop_ml <= md::MOST_HOP_ML)
            .ok_or_else(|| {
                ConfigError::out_of_range(
                    "source.instructions",
                    "more than 31 words a hop",
                    "at most 31 words",
                )
            })?;
        let inserted = domain.map_or(0, |plan| usize::from(plan.inserted.count()));
        let words = usize::from(md::HEADER_WORDS.count()) + usize::from(hop_ml.count()) + inserted;
        if words > usize::from(Words::MAX.count()) {
            return Err(ConfigError::out_of_range(
                "source.domain",
                format!("{words} words"),
                "at most 255 words",
            ));
        }
        Ok(Self {
            mode: source.mode,
            instructions,
            own_metadata: source.own_metadata,
            domain,
            kind: config.encapsulation.kind,
            mark: config.encapsulation.mark(),
            udp_port: config.encapsulation.udp_port,
            tcp_options: config.encapsulation.tcp_options(),
            hop_ml,
            remaining_hops: source.remaining_hops,
            discard: source.discard,
        })
    }

    /// What an XD node asks of itself.
    pub(crate) fn asked(&self) -> Asked {
        let (id, instruction) = self.domain.map_or((0, 0), |plan| (plan.id, plan.instruction));
        Asked::new(self.instructions, id, instruction)
    }

    /// Starts INT in the packet; `layers` follow the frame when it grows.
    ///
    /// # Errors
    /// Why INT cannot be started; the packet is as it came.
    // int-2.1/source-01, int-2.1/source-02
    pub(crate) fn start(
        &self,
        frame: &mut Frame<'_>,
        layers: &mut Layers,
        context: &StartContext<'_>,
    ) -> Result<Location, Outcome> {
        let encapsulation = self.encapsulation(frame.bytes(), layers).ok_or(Outcome::NotCarried)?;
        if carrier::is_ambiguous(frame.bytes(), layers) {
            return Err(Outcome::NotStartedChecksum);
        }
        let room = self.room(frame.bytes(), layers, encapsulation, context.mtu)?;
        let shim = self.shim(frame.bytes(), layers, encapsulation, room.int);
        let growth = room.growth();
        let bytes = frame.open_gap(room.at, growth).ok_or(Outcome::NotStartedHeadroom)?;
        let location = Location {
            encapsulation,
            header_type: if self.mode == Mode::Mx { HeaderType::Mx } else { HeaderType::Md },
            shim: room.at + room.outer,
            header: room.at + room.outer + SHIM_BYTES,
            end: room.at + growth,
        };
        if let Some(int) = bytes.get_mut(location.shim..location.end) {
            self.write_int(int, shim, &room, context);
        }
        match encapsulation {
            Encapsulation::Udp => {
                self.write_outer(bytes, layers, context.flow, growth, room.outer);
            }
            _ => self.mark(bytes, layers, &location, growth, &room, context),
        }
        layers.end += growth;
        Ok(location)
    }

    /// The encapsulation of this packet; `None` where its protocol cannot carry the configured one.
    fn encapsulation(&self, bytes: &[u8], layers: &Layers) -> Option<Encapsulation> {
        // A UDP length that contradicts the packet could not be updated.
        locate::limit(bytes, layers).ok()?;
        match (self.kind, layers.transport) {
            (EncapsulationKind::Dscp, Transport::Tcp { .. } | Transport::Udp) => Some(Encapsulation::Dscp),
            (EncapsulationKind::UdpPort, Transport::Udp) => Some(Encapsulation::UdpPort),
            (EncapsulationKind::Udp, _) => Some(Encapsulation::Udp),
            _ => None,
        }
    }

    /// Works out what is inserted and where, within the MTU.
    fn room(
        &self,
        bytes: &[u8],
        layers: &Layers,
        encapsulation: Encapsulation,
        mtu: Option<usize>,
    ) -> Result<Room, Outcome> {
        let inserted = self.domain.map_or(Words::default(), |plan| plan.inserted);
        let (own_words, always) = match self.mode {
            Mode::Mx => (Words::default(), inserted),
            Mode::Md | Mode::Xd => (self.hop_ml.checked_add(inserted).unwrap_or_default(), Words::default()),
        };
        let (at, outer) = match (encapsulation, layers.transport) {
            (Encapsulation::Udp, Transport::Other) => {
                (layers.l3, ip_header_bytes(layers) + udp::HEADER_BYTES)
            }
            (Encapsulation::Udp, _) => (layers.l4, udp::HEADER_BYTES),
            _ => (locate::payload_at(layers, self.tcp_options), 0),
        };
        let int = md::HEADER_WORDS.checked_add(always).unwrap_or_default();
        let fixed = Room { at, outer, own: false, mtu_exceeded: false, int };
        let fits = |room: &Room| mtu.is_none_or(|mtu| carrier::has_room(bytes, layers, room.growth(), mtu));
        // int-2.1/mtu-07: without room for the fixed headers INT is not started.
        if !fits(&fixed) {
            return Err(Outcome::NotStartedMtu);
        }
        // int-2.1/md-04: E is 0 at the source, also where no hop may add anything.
        let wants_own = self.mode == Mode::Md
            && self.own_metadata
            && self.remaining_hops > 0
            && own_words != Words::default();
        if !wants_own {
            return Ok(fixed);
        }
        let int = md::HEADER_WORDS.checked_add(own_words).unwrap_or_default();
        let with_own = Room { own: true, int, ..fixed };
        // int-2.1/mtu-08: with room for the fixed headers only, INT starts with M set.
        if fits(&with_own) { Ok(with_own) } else { Ok(Room { mtu_exceeded: true, ..fixed }) }
    }

    /// The shim, which keeps what the source is about to change.
    // int-2.1/l4-26, int-2.1/l4-27, int-2.1/l4-28, int-2.1/l4-29
    fn shim(&self, bytes: &[u8], layers: &Layers, encapsulation: Encapsulation, int: Words) -> Shim {
        let kind = if self.mode == Mode::Mx { HeaderType::Mx.code() } else { HeaderType::Md.code() };
        match (encapsulation, layers.transport) {
            (Encapsulation::UdpPort, _) => {
                let port = layers.udp(bytes).map_or(0, |header| header.destination_port.get());
                Shim::udp_payload(kind, int, port)
            }
            (Encapsulation::Udp, Transport::Other) => {
                let protocol = match layers.ip {
                    IpVersion::V4 => ipv4::IN_IP,
                    IpVersion::V6 => ipv4::IPV6_IN_IP,
                };
                Shim::l4_header(kind, int, protocol)
            }
            (Encapsulation::Udp, _) => Shim::l4_header(kind, int, layers.protocol),
            // int-2.1/l4-13, int-2.1/l4-32
            _ => Shim::payload(kind, int, layers.dscp(bytes)),
        }
    }

    /// Writes shim, INT header and what the source adds behind it into `out`.
    fn write_int(&self, out: &mut [u8], shim: Shim, room: &Room, context: &StartContext<'_>) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(to) = out.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        put(shim.as_bytes());
        match self.mode {
            Mode::Mx => put(self.mx_header().as_bytes()),
            Mode::Md | Mode::Xd => put(self.md_header(room).as_bytes()),
        }
        let rest = out.get_mut(at..).unwrap_or_default();
        match self.mode {
            Mode::Mx => self.write_inserted(rest, context),
            Mode::Md | Mode::Xd if room.own => self.write_own(rest, context),
            Mode::Md | Mode::Xd => {}
        }
    }

    // int-2.1/md-36, int-2.1/md-37, int-2.1/md-38, int-2.1/md-08
    fn md_header(&self, room: &Room) -> MdHeader {
        let own = u8::from(room.own);
        let mut header = MdHeader::new(self.instructions, self.hop_ml, self.remaining_hops - own);
        if self.discard {
            // int-2.1/modes-07
            header.set_discard();
        }
        if room.mtu_exceeded {
            header.set_mtu_exceeded();
        }
        if let Some(domain) = self.domain {
            header.set_domain(domain.id, domain.instruction, domain.flags);
        }
        header
    }

    // int-2.1/mx-31, int-2.1/mx-32, int-2.1/mx-33
    fn mx_header(&self) -> MxHeader {
        let mut header = MxHeader::new(self.instructions);
        if self.discard {
            header.set_discard();
        }
        if let Some(domain) = self.domain {
            header.set_domain(domain.id, domain.instruction, domain.flags);
        }
        header
    }

    /// Writes the source's own hop and, below it, its source-only metadata.
    // int-2.1/md-20, int-2.1/md-21
    fn write_own(&self, out: &mut [u8], context: &StartContext<'_>) {
        let (hop, source_only) = out.split_at_mut(self.hop_ml.bytes().min(out.len()));
        let written = context.metadata.write(self.instructions, hop);
        let rest = hop.get_mut(written..).unwrap_or_default();
        rest.fill(0xff);
        let known = self.domain.and_then(|plan| Some((plan, context.domains.get(plan.id)?)));
        if let Some((plan, known)) = known {
            known.write(plan.instruction & !known.wire.source_only, context.values, rest);
            known.write(plan.instruction & known.wire.source_only, context.values, source_only);
        }
    }

    /// Writes the source-inserted metadata of an INT-MX header.
    // int-2.1/mx-10, int-2.1/mx-17
    fn write_inserted(&self, out: &mut [u8], context: &StartContext<'_>) {
        if let Some(plan) = self.domain
            && let Some(known) = context.domains.get(plan.id)
        {
            known.write(plan.instruction & known.wire.source_inserted, context.values, out);
        }
    }

    /// Marks a packet that carries INT behind its L4 header, and corrects lengths and checksums.
    fn mark(
        &self,
        bytes: &mut [u8],
        layers: &Layers,
        location: &Location,
        growth: usize,
        room: &Room,
        context: &StartContext<'_>,
    ) {
        let mut change = match location.encapsulation {
            // int-2.1/l4-06
            Encapsulation::UdpPort => set_udp_port(bytes, layers, self.udp_port),
            _ => {
                // int-2.1/l4-12
                set_dscp(bytes, layers, self.mark.applied_to(layers.dscp(bytes)));
                Change::default()
            }
        };
        let int = bytes.get(location.shim..location.end).map_or(Sum::ZERO, Sum::of);
        change.added = change.added.plus(int);
        change.grown = growth;
        if room.own {
            let hop_end = location.header + md::HEADER_BYTES + self.hop_ml.bytes();
            keep_checksum(bytes, layers, &self.md_header(room), &change, hop_end, context.choices);
        } else {
            carrier::correct_checksum(bytes, layers, &change);
        }
        carrier::set_lengths(bytes, layers, &change);
    }

    /// Writes a new UDP header, and a new IP header where the protocol is neither TCP nor UDP.
    // int-2.1/l4-07
    fn write_outer(
        &self,
        bytes: &mut [u8],
        layers: &mut Layers,
        flow: &FiveTuple,
        growth: usize,
        outer: usize,
    ) {
        let new_ip = outer > udp::HEADER_BYTES;
        let ip_bytes = if new_ip { ip_header_bytes(layers) } else { 0 };
        if new_ip {
            write_ip_header(bytes, layers, growth);
            layers.l4 = layers.l3 + ip_bytes;
        } else {
            set_protocol(bytes, layers, udp::PROTOCOL);
            let ip_only = Layers { transport: Transport::Other, ..*layers };
            carrier::set_lengths(bytes, &ip_only, &Change { grown: growth, ..Change::default() });
        }
        let length = layers.end + growth - layers.l4;
        let header = UdpHeader {
            // int-2.1/l4-08: entropy for load balancing, in the dynamic range.
            source_port: U16::new(0xc000 | (flow.entropy() & 0x3fff) as u16),
            destination_port: U16::new(self.udp_port),
            length: U16::new(u16::try_from(length).unwrap_or(u16::MAX)),
            // int-2.1/l4-09
            checksum: U16::ZERO,
        };
        if let Some(to) = bytes.get_mut(layers.l4..layers.l4 + udp::HEADER_BYTES) {
            to.copy_from_slice(header.as_bytes());
        }
        layers.transport = Transport::Udp;
        layers.protocol = udp::PROTOCOL;
    }
}

impl DomainPlan {
    fn new(config: &NodeConfig, domains: &KnownDomains) -> Result<Option<Self>, ConfigError> {
        let Some(source) = &config.source.domain else {
            return Ok(None);
        };
        let Some(known) = domains.get(source.id) else {
            let value = format!("domain {:#06x}", source.id);
            return Err(ConfigError::Missing { key: "source.domain.id".to_owned(), value });
        };
        let mut instruction = 0;
        for bit in &source.instructions {
            if known.wire.bit_words(usize::from(*bit)) == Words::default() {
                let value = format!("bit {bit} of domain {:#06x}", source.id);
                return Err(ConfigError::Missing { key: "source.domain.instructions".to_owned(), value });
            }
            instruction |= 0x8000_u16 >> bit;
        }
        let inserted = match config.source.mode {
            Mode::Mx => known.wire.source_inserted_words(instruction),
            Mode::Md | Mode::Xd => known.wire.source_only_words(instruction),
        };
        let inserted = inserted.ok_or_else(|| {
            ConfigError::out_of_range("source.domain", "more than 255 words", "at most 255 words")
        })?;
        Ok(Some(Self { id: source.id, instruction, flags: source.flags, inserted }))
    }
}

const fn ip_header_bytes(layers: &Layers) -> usize {
    match layers.ip {
        IpVersion::V4 => ipv4::HEADER_BYTES,
        IpVersion::V6 => ipv6::HEADER_BYTES,
    }
}

/// Writes an IP header like the original one, which now follows after `growth` bytes, in front of it.
fn write_ip_header(bytes: &mut [u8], layers: &Layers, growth: usize) {
    let inner_at = layers.l3 + growth;
    let length = layers.end - layers.l3 + growth;
    match layers.ip {
        IpVersion::V4 => {
            let Ok(inner) = view::<Ipv4Header>(bytes, inner_at, Header::Ipv4) else { return };
            let length = u16::try_from(length).unwrap_or(u16::MAX);
            let outer = Ipv4Header::around(inner, udp::PROTOCOL, length);
            if let Some(to) = bytes.get_mut(layers.l3..layers.l3 + ipv4::HEADER_BYTES) {
                to.copy_from_slice(outer.as_bytes());
            }
        }
        IpVersion::V6 => {
            let Ok(inner) = view::<Ipv6Header>(bytes, inner_at, Header::Ipv6) else { return };
            let length = u16::try_from(length - ipv6::HEADER_BYTES).unwrap_or(u16::MAX);
            let outer = Ipv6Header::around(inner, udp::PROTOCOL, length);
            if let Some(to) = bytes.get_mut(layers.l3..layers.l3 + ipv6::HEADER_BYTES) {
                to.copy_from_slice(outer.as_bytes());
            }
        }
    }
}
