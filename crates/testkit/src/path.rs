//! Test paths of INT nodes, and plans for their configuration.

use inband_node::config::{
    ChecksumUpdate, DialectName, DomainConfig, EncapsulationKind, GrePayload, Icmp, Instruction, IntVersion,
    InterfaceConfig, Layer, Mode, MtuAction, NodeConfig, SinkMetadata, SourceDomain, SourceInserted,
    TcpOptionsConfig, UnknownInstructions, WatchEntry,
};
use inband_node::frame::MAX_GROWTH;
use inband_node::{DeviceMetadata, Frame, Node, OwnPacket, Passage, Verdict};
use inband_wire::Link;
use inband_wire::int::{Buffer, Instructions, Queue};

/// The choices that all nodes of an INT domain share. Every array is a valid plan; zeros give the simplest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainPlan(pub [u8; DomainPlan::BYTES]);

/// The instructions 0.5 does not have.
const NOT_IN_0_5: Instructions = Instructions(
    Instructions::LEVEL2_INTERFACES.0 | Instructions::BUFFER.0 | Instructions::CHECKSUM_COMPLEMENT.0,
);
/// The instructions of Host-INT.
const HOST_INT: Instructions = Instructions(
    Instructions::NODE_ID.0
        | Instructions::INTERFACES.0
        | Instructions::INGRESS_TIMESTAMP.0
        | Instructions::EGRESS_TIMESTAMP.0,
);

/// The choices of one node. Every array is a valid plan; zeros give the simplest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePlan(pub [u8; NodePlan::BYTES]);

impl DomainPlan {
    /// Length of a plan, bytes.
    pub const BYTES: usize = 8;

    /// The version a source writes; most plans have 2.1.
    #[must_use]
    pub const fn version(&self) -> IntVersion {
        match self.0[1] {
            0..=199 => IntVersion::V2_1,
            200..=213 => IntVersion::V1_0,
            214..=227 => IntVersion::V0_5,
            228..=241 => IntVersion::V2016,
            242..=255 => IntVersion::Host0_5,
        }
    }

    /// The encapsulation, one that the version supports.
    #[must_use]
    pub fn kind(&self) -> EncapsulationKind {
        let kinds: &[EncapsulationKind] = match self.version() {
            IntVersion::V2_1 => &[
                EncapsulationKind::Dscp,
                EncapsulationKind::UdpPort,
                EncapsulationKind::Udp,
                EncapsulationKind::ProbeMarker,
                EncapsulationKind::Gre,
                EncapsulationKind::VxlanGpe,
                EncapsulationKind::Geneve,
            ],
            IntVersion::V1_0 => &[
                EncapsulationKind::Dscp,
                EncapsulationKind::ProbeMarker,
                EncapsulationKind::VxlanGpe,
                EncapsulationKind::Geneve,
            ],
            IntVersion::V0_5 => &[
                EncapsulationKind::Dscp,
                EncapsulationKind::UdpPort,
                EncapsulationKind::VxlanGpe,
                EncapsulationKind::Geneve,
            ],
            IntVersion::V2016 => &[EncapsulationKind::VxlanGpe, EncapsulationKind::Geneve],
            IntVersion::Host0_5 => &[EncapsulationKind::Dscp, EncapsulationKind::Udp],
        };
        match (self.dialect_before_2(), kinds[usize::from(self.0[0]) % kinds.len()]) {
            (Some(_), _) => EncapsulationKind::Dscp,
            (None, kind) => kind,
        }
    }

    /// The dialect; most plans have none.
    #[must_use]
    pub fn dialect(&self) -> Option<DialectName> {
        let may_be_cablelabs = self.version() == IntVersion::V2_1
            && self.mode() == Mode::Md
            && self.kind() == EncapsulationKind::Udp
            && self.0[6] & 0xc0 == 0xc0;
        if may_be_cablelabs { Some(DialectName::Cablelabs) } else { self.dialect_before_2() }
    }

    const fn dialect_before_2(&self) -> Option<DialectName> {
        match (self.version(), self.0[6] & 0xc0) {
            (IntVersion::V0_5, 0xc0) => Some(DialectName::Onos),
            (IntVersion::V0_5 | IntVersion::V1_0, 0x80) => Some(DialectName::Geant),
            _ => None,
        }
    }

    /// The layer of a tunnel that carries INT; the inner one requires an encapsulation behind TCP or UDP.
    #[must_use]
    pub fn layer(&self) -> Layer {
        let may_be_inner = matches!(
            self.kind(),
            EncapsulationKind::Dscp
                | EncapsulationKind::UdpPort
                | EncapsulationKind::Udp
                | EncapsulationKind::ProbeMarker
        );
        let is_inner = self.0[3] & 0x40 != 0 && may_be_inner && self.version() == IntVersion::V2_1;
        if is_inner { Layer::Inner } else { Layer::Outer }
    }

    /// MD or MX; the versions before 2.0 have no MX.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let is_md = self.version() != IntVersion::V2_1 || self.0[1].is_multiple_of(2);
        if is_md { Mode::Md } else { Mode::Mx }
    }

    /// The baseline instructions; MX has no checksum complement.
    #[must_use]
    pub fn instructions(&self) -> Instructions {
        let all = Instructions(u16::from_be_bytes([self.0[2], self.0[3]])).without(Instructions::RESERVED);
        let other_than = match self.version() {
            IntVersion::V2_1 if self.mode() == Mode::Md => return all,
            IntVersion::V2_1 => return all.without(Instructions::CHECKSUM_COMPLEMENT),
            IntVersion::V1_0 => Instructions::BUFFER,
            IntVersion::V0_5 => NOT_IN_0_5,
            IntVersion::V2016 => NOT_IN_0_5 | Instructions::EGRESS_TIMESTAMP,
            IntVersion::Host0_5 => return HOST_INT,
        };
        match all.without(other_than) {
            // A header before 2.0 with an empty bitmap does not count as INT.
            Instructions(0) => Instructions::NODE_ID,
            some => some,
        }
    }

    /// Whether L4 checksums and UDP lengths are kept correct, which 0.5 leaves to the domain.
    #[must_use]
    pub fn updates_l4(&self) -> bool {
        self.version() != IntVersion::V0_5 || self.0[5] & 64 == 0
    }

    /// The domain-specific instructions; `None`: none.
    #[must_use]
    pub fn domain(&self) -> Option<DomainConfig> {
        let choice = self.0[7];
        if choice.is_multiple_of(4) || self.version() != IntVersion::V2_1 {
            return None;
        }
        let (shared, own) = match self.mode() {
            Mode::Mx => ("export", "source-inserted"),
            Mode::Md | Mode::Xd => ("every-hop", "source-only"),
        };
        let value = ["flow-id", "ethernet-source", "sequence-number"][usize::from(choice / 4) % 3];
        let words = 1 + choice / 16 % 4;
        let reporting = if choice & 64 == 0 { "all-nodes" } else { "sink-node" };
        let mutability = if choice & 128 == 0 { "source-only" } else { "cumulative" };
        let text = format!(
            "id = 0x5454\n\
             [[metadata]]\nbit = 3\nwords = {words}\nplacement = \"{shared}\"\nvalue = \"{value}\"\n\
             [[metadata]]\nbit = 9\nwords = 2\nplacement = \"{own}\"\nvalue = \"a61af6b1647d0000\"\n\
             reporting = \"{reporting}\"\nmutability = \"{mutability}\"\n"
        );
        Some(toml::from_str(&text).expect("a domain as in the documentation"))
    }

    /// The configuration of one node of this domain; packets enter by interface 1 and leave by 2.
    #[must_use]
    pub fn node(&self, id: u32, place: Place, plan: &NodePlan) -> NodeConfig {
        let mut config = NodeConfig::new(id);
        let (is_first, is_last) = (place != Place::Inside && place != Place::Last, place.is_last());
        // The packets may look like INT, and are then treated as INT.
        let accept_int = Some(true);
        let interface = |id, edge, mtu| InterfaceConfig { edge, accept_int, mtu, ..InterfaceConfig::new(id) };
        config.interfaces = vec![interface(1, is_first, 9000), interface(2, is_last, plan.mtu())];
        config.watchlist = vec![WatchEntry::default()];
        config.node.int_version = Some(self.version());
        config.encapsulation.kind = Some(self.kind());
        config.encapsulation.dialect = self.dialect();
        config.encapsulation.update_l4 = self.updates_l4();
        let flags = self.0[5];
        if flags & 128 != 0 {
            config.encapsulation.gre_payload = GrePayload::Ethernet;
        }
        if flags & 2 != 0 {
            config.encapsulation.tcp_options = TcpOptionsConfig::Before;
        }
        if flags & 32 != 0 {
            (config.encapsulation.dscp, config.encapsulation.dscp_mask) = (Some(0x20), Some(0x20));
        } else if self.0[6] & 0x3f != 0 && self.dialect().is_none() {
            config.encapsulation.dscp = Some(self.0[6] & 0x3f);
        }
        config.encapsulation.layer = self.layer();
        config.source.mode = self.mode();
        let asked = self.instructions();
        let is_asked = |instruction: &Instruction| asked.contains(instruction.bit());
        config.source.instructions = Instruction::OF_2_1.into_iter().filter(is_asked).collect();
        config.source.remaining_hops = if self.0[4] == 0 { 8 } else { self.0[4] % 12 };
        config.source.own_metadata = flags & 1 == 0 || self.version() == IntVersion::Host0_5;
        config.node.unknown_instructions =
            if flags & 4 == 0 { UnknownInstructions::Pad } else { UnknownInstructions::Skip };
        config.sink.own_metadata = match flags / 8 % 3 {
            0 => SinkMetadata::Stack,
            1 => SinkMetadata::Report,
            _ => SinkMetadata::None,
        };
        if let Some(mut domain) = self.domain().filter(|_| is_first || !plan.ignores_domain()) {
            let flags = u16::from(self.0[6]);
            domain.set_flags = if plan.0[0] & 64 == 0 { 0 } else { 0x0100 << (id % 8) };
            config.source.domain = Some(SourceDomain { id: domain.id, instructions: vec![3, 9], flags });
            config.domains = vec![domain];
        }
        if plan.0[0] & 1 != 0 {
            config.checksum.update = ChecksumUpdate::Complement;
        }
        if plan.0[0] & 4 != 0 {
            config.mtu.action = MtuAction::IntermediateReport;
        }
        if plan.0[0] & 8 != 0 {
            config.report.source_inserted = SourceInserted::Metadata;
        }
        config.mtu.icmp = match plan.0[0] / 16 % 4 {
            1 if self.version() == IntVersion::V2_1 => Icmp::Own,
            2 if self.version() == IntVersion::V2_1 => Icmp::Conservative,
            _ => Icmp::Off,
        };
        config
    }
}

/// The place of a node in its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Packets enter the domain here.
    First,
    /// Packets pass between other nodes of the domain.
    Inside,
    /// Packets leave the domain here.
    Last,
    /// The domain is one node.
    Alone,
}

impl Place {
    /// The place of node `index` of `count`.
    #[must_use]
    pub const fn of(index: usize, count: usize) -> Self {
        match (index == 0, index + 1 == count) {
            (true, true) => Self::Alone,
            (true, false) => Self::First,
            (false, true) => Self::Last,
            (false, false) => Self::Inside,
        }
    }

    /// Whether packets leave the domain here.
    #[must_use]
    pub const fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Alone)
    }
}

impl NodePlan {
    /// Length of a plan, bytes.
    pub const BYTES: usize = 4;

    /// The egress MTU, bytes.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        match u16::from_be_bytes([self.0[2], self.0[3]]) {
            0 => 9000,
            value => 40 + u32::from(value % 2000),
        }
    }

    /// Whether the domain-specific instructions are unknown to the node.
    #[must_use]
    pub const fn ignores_domain(&self) -> bool {
        self.0[0] & 2 != 0
    }

    /// The device's measurements for a packet; the second byte selects those that are missing.
    #[must_use]
    pub fn passage(&self) -> Passage {
        let missing = self.0[1];
        let unless = |bit: u8| missing & bit == 0;
        let metadata = DeviceMetadata {
            ingress_timestamp: unless(1).then_some(1_700_000_000_000_000_000),
            egress_timestamp: unless(2).then_some(1_700_000_000_000_001_000),
            hop_latency: unless(4).then_some(1000),
            queue: unless(8).then_some(Queue { id: 3, occupancy: 258 }),
            buffer: unless(16).then_some(Buffer { id: 1, occupancy: 0x00ff_ffff }),
            egress_utilization: unless(32).then_some(u32::from(missing)),
            counters: None,
        };
        Passage { ingress: 1, egress: 2, metadata }
    }
}

/// Creates the nodes of a domain, with ids from 1.
///
/// # Panics
/// A plan that gives no valid node.
#[must_use]
pub fn nodes(domain: &DomainPlan, plans: &[NodePlan]) -> Vec<Node> {
    nodes_with(domain, plans, |_| {})
}

/// As [`nodes`], after a `change` of each node's configuration.
///
/// # Panics
/// A plan that gives no valid node.
#[must_use]
pub fn nodes_with(domain: &DomainPlan, plans: &[NodePlan], change: impl Fn(&mut NodeConfig)) -> Vec<Node> {
    let place = |index| Place::of(index, plans.len());
    plans
        .iter()
        .zip(1..)
        .enumerate()
        .map(|(index, (plan, id))| {
            let mut config = domain.node(id, place(index), plan);
            change(&mut config);
            Node::new(&config).expect("every plan makes a node")
        })
        .collect()
}

/// Sends an Ethernet frame through a node, in a buffer of 0xa5 with as much headroom as a node may need;
/// `None` if the node consumed it.
///
/// # Panics
/// The node wrote past the frame.
pub fn send(node: &mut Node, frame: &[u8], passage: &Passage) -> Option<Vec<u8>> {
    send_with(node, Link::Ethernet, frame, passage, MAX_GROWTH)
}

/// Sends a frame through a node, with `headroom` bytes of headroom.
///
/// # Panics
/// The node wrote past the frame.
pub fn send_with(
    node: &mut Node,
    link: Link,
    frame: &[u8],
    passage: &Passage,
    headroom: usize,
) -> Option<Vec<u8>> {
    const TAILROOM: [u8; 16] = [0xa5; 16];
    let mut buffer = vec![0xa5; headroom];
    buffer.extend(frame);
    let end = buffer.len();
    buffer.extend(TAILROOM);
    let mut frame = Frame::new(&mut buffer, headroom..end)?;
    let verdict = node.handle_frame(link, &mut frame, passage);
    let sent = frame.bytes().to_vec();
    assert_eq!(buffer[end..], TAILROOM, "bytes behind the frame");
    match verdict {
        Verdict::Forward => Some(sent),
        Verdict::Consume | Verdict::Drop => None,
    }
}

/// The payload of the node's next output, a report.
///
/// # Panics
/// The output is a packet.
#[must_use]
pub fn next_report(node: &mut Node) -> Option<Vec<u8>> {
    node.poll_output().map(|output| output.into_report().expect("a report").payload.to_vec())
}

/// The next packet generated by the node; reports before it are skipped.
#[must_use]
pub fn next_packet(node: &mut Node) -> Option<OwnPacket> {
    loop {
        if let Some(packet) = node.poll_output()?.into_packet() {
            return Some(packet);
        }
    }
}
