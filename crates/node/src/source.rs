//! The source: starts INT 2.1 in a packet.

use zerocopy::IntoBytes;

use inband_wire::int::locate::{Encapsulation, HEADER_WORDS, HeaderType};
use inband_wire::int::md::{self, MdHeader};
use inband_wire::int::mx::MxHeader;
use inband_wire::int::shim::SHIM_BYTES;
use inband_wire::int::{Deviation, Deviations, Instructions, Location};
use inband_wire::layers::{Layers, Link};
use inband_wire::{FiveTuple, Words};

use crate::carrier::{self, Growth, Limits};
use crate::config::{EncapsulationKind, Mode, NodeConfig};
use crate::counters::Outcome;
use crate::domains::{KnownDomains, ValueContext};
use crate::encapsulation::{Carriage, Insertion, Place};
use crate::error::ConfigError;
use crate::frame::Frame;
use crate::passage::Hop;
use crate::reporter::Asked;
use crate::transit::{Choices, keep_checksum};

/// The compiled configuration of this node's source.
#[derive(Clone, Debug)]
pub(crate) struct SourcePlan {
    pub(crate) mode: Mode,
    pub(crate) own_metadata: bool,
    instructions: Instructions,
    domain: Option<DomainPlan>,
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
    /// The bits of `instruction` whose metadata only the source writes; none in INT-MX.
    source_only: u16,
    /// What the source puts into the packet in addition to per-hop metadata.
    inserted: Words,
}

/// The inputs for starting INT in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartContext<'a> {
    pub(crate) link: Link,
    /// The five-tuple of the packet, where [`SourcePlan::needs_flow`].
    pub(crate) flow: &'a FiveTuple,
    pub(crate) hop: &'a Hop<'a>,
    pub(crate) domains: &'a KnownDomains,
    pub(crate) values: &'a ValueContext,
    pub(crate) limits: Limits,
    pub(crate) choices: Choices,
    /// Whether the sink discards the packet; `None`: as configured for all.
    pub(crate) discard: Option<bool>,
}

/// INT that a source put into a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) location: Location,
    /// Whether the source's own metadata is omitted because of the MTU.
    pub(crate) mtu_exceeded: bool,
    /// Whether the packet holds the source's metadata, and with it the source's packet numbers.
    pub(crate) has_numbers: bool,
}

/// How much of the INT header and metadata fits into one packet.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Whether the source's own metadata is added.
    own: bool,
    /// Whether it is omitted because of the MTU.
    mtu_exceeded: bool,
    /// How many hops may add metadata, including this one.
    remaining_hops: u8,
    /// Length of the INT header and what follows it, without the shim.
    int: Words,
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
        // int-2.1/md-10, int-2.1/md-11: baseline and domain-specific metadata of one hop, up to 31 words.
        let hop_ml = hop_words
            .and_then(|words| words.checked_add(instructions.words()))
            .filter(|hop_ml| source.mode != Mode::Md || *hop_ml <= md::MAX_HOP_ML)
            .ok_or_else(|| {
                ConfigError::out_of_range(
                    "source.instructions",
                    "more than 31 words a hop",
                    "at most 31 words",
                )
            })?;
        let inserted = domain.map_or(0, |plan| usize::from(plan.inserted.count()));
        let hop = if source.mode == Mode::Md { usize::from(hop_ml.count()) } else { 0 };
        let words = usize::from(HEADER_WORDS.count()) + hop + inserted;
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
            hop_ml,
            remaining_hops: source.remaining_hops,
            // int-2.1/modes-07: a copy ends at the sink.
            discard: source.discard || source.clone > 0,
        })
    }

    /// Whether the output depends on the packet's flow: outer headers and domain-specific values may.
    pub(crate) const fn needs_flow(&self, carriage: &Carriage) -> bool {
        self.has_domain() || matches!(carriage.kind, EncapsulationKind::Udp | EncapsulationKind::Gre)
    }

    /// Whether a packet gets domain-specific fields.
    pub(crate) const fn has_domain(&self) -> bool {
        self.domain.is_some()
    }

    /// Whether a packet carries its flow sequence number.
    pub(crate) fn numbers_flows(&self, domains: &KnownDomains) -> bool {
        let is_numbered = |plan: DomainPlan| {
            domains.get(plan.id).is_some_and(|known| known.flow_sequence & plan.instruction != 0)
        };
        self.mode != Mode::Xd && self.domain.is_some_and(is_numbered)
    }

    /// The metadata an XD node requests from itself.
    pub(crate) fn asked(&self) -> Asked {
        let (id, instruction) = self.domain.map_or((0, 0), |plan| (plan.id, plan.instruction));
        Asked::new(self.instructions, id, instruction)
    }

    /// Starts INT in the packet; `layers` become those of the packet that carries it.
    ///
    /// # Errors
    /// The reason why INT cannot be started; the packet is unchanged.
    // int-2.1/source-01, int-2.1/source-02
    pub(crate) fn start(
        &self,
        carriage: &Carriage,
        frame: &mut Frame<'_>,
        layers: &mut Layers,
        context: &StartContext<'_>,
    ) -> Result<Started, Outcome> {
        let place = carriage.place(frame.bytes(), layers).ok_or(Outcome::NotCarried)?;
        if carrier::is_ambiguous(frame.bytes(), layers) {
            return Err(Outcome::NotStartedChecksum);
        }
        let room = self.room(frame.bytes(), layers, &place, context.limits)?;
        let header_type = if self.mode == Mode::Mx { HeaderType::Mx } else { HeaderType::Md };
        let insertion =
            Insertion { place, header_type, int: room.int, link: context.link, flow: context.flow };
        let shim = carriage.shim(frame.bytes(), layers, &insertion);
        let bytes = frame.open_gap(place.at, insertion.growth()).ok_or(Outcome::NotStartedHeadroom)?;
        let location = Location { deviations: carriage.deviations(), ..insertion.location() };
        if let Some(int) = bytes.get_mut(location.shim..location.end) {
            self.write_int(int, shim, &room, context, location.deviations);
        }
        if let Some(change) = carriage.start(bytes, layers, &insertion) {
            if room.own {
                let hop_end = location.header + md::HEADER_BYTES + self.hop_ml.bytes();
                keep_checksum(bytes, layers, self.instructions, &change, hop_end, context.choices);
            } else {
                carrier::correct_checksum(bytes, layers, &change);
            }
        }
        let has_numbers = room.own || self.mode == Mode::Mx;
        Ok(Started { location, mtu_exceeded: room.mtu_exceeded, has_numbers })
    }

    /// Computes what fits: after the shim, within the MTU, and within the length fields.
    fn room(&self, bytes: &[u8], layers: &Layers, place: &Place, limits: Limits) -> Result<Room, Outcome> {
        let inserted = self.inserted();
        let always = if self.mode == Mode::Mx { inserted } else { Words::default() };
        let int = HEADER_WORDS.checked_add(always).unwrap_or(Words::MAX);
        let limits = place.limits(limits);
        let check =
            |int: Words| carrier::check_growth(bytes, layers, place.outer + SHIM_BYTES + int.bytes(), limits);
        // int-2.1/mtu-07: without room for the fixed headers INT is not started.
        if int > place.most {
            return Err(Outcome::NotStartedLength);
        }
        not_started(check(int))?;
        let remaining_hops = self.remaining_hops(place, inserted);
        let fixed = Room { own: false, mtu_exceeded: false, remaining_hops, int };
        let own = self.hop_ml.checked_add(inserted).unwrap_or_default();
        // int-2.1/md-04: E is 0 at the source, also if no hop may add anything.
        let wants_own = self.mode == Mode::Md && self.own_metadata && remaining_hops > 0;
        if !wants_own || own == Words::default() {
            return Ok(fixed);
        }
        let with_own = int.checked_add(own).filter(|int| *int <= place.most);
        match with_own.map(|int| (int, check(int))) {
            Some((int, Growth::Fits)) => Ok(Room { own: true, int, ..fixed }),
            // int-2.1/md-28: where not even this hop has room in the length fields, INT is not started.
            Some((_, Growth::ExceedsLength)) => Err(Outcome::NotStartedLength),
            // int-2.1/mtu-08: with room for the fixed headers only, INT starts with M set.
            Some((_, Growth::ExceedsMtu)) | None => Ok(Room { mtu_exceeded: true, ..fixed }),
        }
    }

    /// Bytes a packet grows by when this node starts INT in it, or, with `all_hops`, when every permitted hop
    /// adds its metadata; `None` if INT cannot be started in it.
    // int-2.1/mtu-03, int-2.1/mtu-04
    pub(crate) fn growth(
        &self,
        carriage: &Carriage,
        bytes: &[u8],
        layers: &Layers,
        all_hops: bool,
    ) -> Option<usize> {
        let place = carriage.place(bytes, layers)?;
        let inserted = self.inserted();
        let hops = match (self.mode, all_hops) {
            (Mode::Mx | Mode::Xd, _) => 0,
            (Mode::Md, true) => self.remaining_hops(&place, inserted),
            (Mode::Md, false) => u8::from(self.own_metadata && self.remaining_hops > 0),
        };
        let fixed = place.outer + SHIM_BYTES + md::HEADER_BYTES;
        Some(fixed + inserted.bytes() + usize::from(hops) * self.hop_ml.bytes())
    }

    /// Metadata written only by this node: source-inserted metadata, or source-only metadata beside its own.
    fn inserted(&self) -> Words {
        let is_written = self.mode == Mode::Mx || self.own_metadata;
        self.domain.filter(|_| is_written).map_or(Words::default(), |plan| plan.inserted)
    }

    /// How many hops may add metadata: as configured, but in Geneve at most as many as fit the option.
    // int-2.1/source-03, int-2.1/md-08, int-2.1/geneve-04
    fn remaining_hops(&self, place: &Place, inserted: Words) -> u8 {
        if place.encapsulation != Encapsulation::Geneve {
            return self.remaining_hops;
        }
        let free = place.most.checked_sub(HEADER_WORDS).and_then(|free| free.checked_sub(inserted));
        let hops = free.unwrap_or_default().count().checked_div(self.hop_ml.count());
        hops.map_or(self.remaining_hops, |hops| hops.min(self.remaining_hops))
    }

    /// Writes shim, INT header and what the source adds after it into `out`.
    fn write_int(
        &self,
        out: &mut [u8],
        shim: [u8; SHIM_BYTES],
        room: &Room,
        context: &StartContext<'_>,
        deviations: Deviations,
    ) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(to) = out.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        put(&shim);
        match self.mode {
            Mode::Mx => put(self.mx_header(context).as_bytes()),
            Mode::Md | Mode::Xd if deviations.contains(Deviation::LowFlags) => {
                put(self.md_header(room, context).with_lowered_flags().as_bytes());
            }
            Mode::Md | Mode::Xd => put(self.md_header(room, context).as_bytes()),
        }
        let rest = out.get_mut(at..).unwrap_or_default();
        match self.mode {
            Mode::Mx => self.write_inserted(rest, context),
            Mode::Md | Mode::Xd if room.own => self.write_own(rest, context),
            Mode::Md | Mode::Xd => {}
        }
    }

    // int-2.1/md-01, int-2.1/md-36, int-2.1/md-37, int-2.1/md-38, int-2.1/md-08
    fn md_header(&self, room: &Room, context: &StartContext<'_>) -> MdHeader {
        let own = u8::from(room.own);
        let mut header =
            MdHeader::new(self.instructions, self.hop_ml, room.remaining_hops.saturating_sub(own));
        if context.discard.unwrap_or(self.discard) {
            // int-2.1/modes-07
            header.set_discard();
        }
        if room.mtu_exceeded {
            header.set_mtu_exceeded();
        }
        if let Some(domain) = self.domain {
            // int-2.1/md-42: DS Instruction announces which source-only metadata is in the packet.
            let absent = if room.own { 0 } else { domain.source_only };
            header.set_domain(domain.id, domain.instruction & !absent, domain.flags);
        }
        header
    }

    // int-2.1/mx-01, int-2.1/mx-31, int-2.1/mx-32, int-2.1/mx-33
    fn mx_header(&self, context: &StartContext<'_>) -> MxHeader {
        let mut header = MxHeader::new(self.instructions);
        if context.discard.unwrap_or(self.discard) {
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
        let written = context.hop.metadata().write(self.instructions, hop);
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
}

/// The reason why INT is not started in a packet that cannot grow.
#[inline]
pub(crate) const fn not_started(growth: Growth) -> Result<(), Outcome> {
    match growth {
        Growth::Fits => Ok(()),
        Growth::ExceedsMtu => Err(Outcome::NotStartedMtu),
        Growth::ExceedsLength => Err(Outcome::NotStartedLength),
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
        let (source_only, inserted) = match config.source.mode {
            Mode::Mx => (0, known.wire.source_inserted_words(instruction)),
            Mode::Md | Mode::Xd => (known.wire.source_only, known.wire.source_only_words(instruction)),
        };
        let inserted = inserted.ok_or_else(|| {
            ConfigError::out_of_range("source.domain", "more than 255 words", "at most 255 words")
        })?;
        Ok(Some(Self { id: source.id, instruction, flags: source.flags, source_only, inserted }))
    }
}
