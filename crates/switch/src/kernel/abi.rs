//! The structures shared by the switch and its programs in the kernel; `bpf/abi.h` defines them in C.

use inband_linux::device::Device;
use inband_node::NodeConfig;
use inband_node::config::{
    ChecksumUpdate, EncapsulationKind, Icmp, IntVersion, InterfaceConfig, Layer, Mode, MtuAction,
    ReportFilter,
};
use inband_wire::int::TcpOptions;
use zerocopy::{Immutable, IntoBytes};

/// `struct config`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Settings {
    clock_offset: u64,
    probe_marker: u64,
    node_id: u32,
    engine_mark: u32,
    engine_device: u32,
    flags: u32,
    udp_port: u16,
    gre_protocol: u16,
    geneve_classes: [u16; 2],
    dscp: u8,
    dscp_mask: u8,
    vxlan_gpe_next_protocols: [u8; 4],
    kind: u16,
}

/// `struct port`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct PortSettings {
    level2_id: u32,
    mtu: u32,
    number: u32,
    id: u16,
    is_edge: u16,
    address: [u8; 6],
    flags: u16,
    device_mtu: u32,
    narrowest: u32,
    device: u32,
}

/// The channel to the engine and back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    /// Index of the device to the engine.
    pub(super) device: u32,
    /// The mark on packets from the engine.
    pub(super) mark: u32,
}

const STARTS_INT: u32 = 1;
const ALL_TO_ENGINE: u32 = 2;
const INT_TO_ENGINE: u32 = 4;
const KEEPS_COMPLEMENT: u32 = 8;
const BEFORE_TCP_OPTIONS: u32 = 16;
const RELIEVES: u32 = 32;
const ONLY_TRANSIT: u32 = 64;

const FORWARDS_FROM: u16 = 1;
const FORWARDS_TO: u16 = 2;

impl Settings {
    pub(super) fn new(config: &NodeConfig, engine: Engine, clock_offset: u64) -> Self {
        let encapsulation = &config.encapsulation;
        let mark = encapsulation.mark();
        Self {
            clock_offset,
            probe_marker: encapsulation.probe_marker.to_be(),
            node_id: config.node.id,
            engine_mark: engine.mark,
            engine_device: engine.device,
            flags: flags(config),
            udp_port: encapsulation.udp_port(),
            gre_protocol: encapsulation.gre_protocol,
            geneve_classes: encapsulation.geneve_classes(),
            dscp: mark.value,
            dscp_mask: mark.mask,
            vxlan_gpe_next_protocols: encapsulation.vxlan_gpe_next_protocols(),
            kind: match encapsulation.kind() {
                EncapsulationKind::Dscp => 0,
                EncapsulationKind::UdpPort | EncapsulationKind::Udp => 1,
                EncapsulationKind::Gre => 2,
                EncapsulationKind::VxlanGpe => 3,
                EncapsulationKind::Geneve => 4,
                EncapsulationKind::ProbeMarker => 5,
            },
        }
    }
}

fn flags(config: &NodeConfig) -> u32 {
    let is_watched = !config.watchlist.is_empty();
    let is_other = config.encapsulation.dialect().is_some()
        || config.encapsulation.layer == Layer::Inner
        || config.int_version() != IntVersion::V2_1;
    let looks_at_all = (is_watched && config.source.mode == Mode::Xd)
        || config.report.filter == ReportFilter::Smart
        || is_other;
    let bit = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    bit(is_watched, STARTS_INT)
        | bit(looks_at_all, ALL_TO_ENGINE)
        | bit(config.mtu.icmp != Icmp::Off, INT_TO_ENGINE)
        | bit(config.checksum.update == ChecksumUpdate::Complement, KEEPS_COMPLEMENT)
        | bit(config.encapsulation.tcp_options() == TcpOptions::Before, BEFORE_TCP_OPTIONS)
        | bit(config.mtu.action == MtuAction::IntermediateReport, RELIEVES)
        | bit(!config.interfaces.iter().any(leaves_int_to_engine), ONLY_TRANSIT)
}

impl PortSettings {
    /// `number` is the interface's position among the interfaces.
    pub(super) fn new(interface: &InterfaceConfig, device: &Device, number: u32) -> Self {
        Self {
            level2_id: interface.level2_id,
            // The device's may be lowered while the switch runs.
            mtu: interface.mtu.min(device.mtu),
            number,
            id: interface.id,
            is_edge: u16::from(leaves_int_to_engine(interface)),
            address: device.address.first_chunk().copied().unwrap_or_default(),
            flags: 0,
            device_mtu: device.mtu,
            narrowest: 0,
            device: device.index,
        }
    }

    /// The interface's position among the interfaces.
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// The settings for a switch whose narrowest device carries packets of `narrowest` bytes.
    pub(super) fn with_narrowest(self, narrowest: u32) -> Self {
        // Packets that come in at an edge have no INT.
        let carries_longer = self.is_edge == 0 && narrowest < self.device_mtu;
        Self { narrowest: if carries_longer { narrowest } else { 0 }, ..self }
    }

    /// The settings for packets that bypass the stack on arrival (`from`) and on departure (`to`).
    pub(super) fn with_fast_path(self, from: bool, to: bool) -> Self {
        let bit = |is_set: bool, flag: u16| if is_set { flag } else { 0 };
        Self { flags: bit(from, FORWARDS_FROM) | bit(to, FORWARDS_TO), ..self }
    }
}

/// The longest IP packet that every device carries, bytes.
pub(super) fn narrowest<'a>(devices: impl Iterator<Item = &'a Device>) -> u32 {
    devices.map(|device| device.mtu).min().unwrap_or(u32::MAX)
}

/// Whether the engine does all INT of an interface: it faces hosts, or no INT may come in by it.
pub(super) fn leaves_int_to_engine(interface: &InterfaceConfig) -> bool {
    interface.edge || interface.accept_int == Some(false)
}

/// `struct handed`: the header before a frame for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handed {
    /// Index of the device the packet came in by; 0: a foreign one.
    pub(super) ingress: u32,
    /// Index of the device it leaves by.
    pub(super) egress: u32,
    /// Time of arrival, nanoseconds since 1970; 0: unknown.
    pub(super) came_at: u64,
    /// Occupancy of the egress device's queue, bytes; all ones: unknown.
    pub(super) queue: u32,
    /// Whether it may have to wait in that queue.
    pub(super) may_wait: bool,
}

impl Handed {
    /// The length of the header, bytes.
    pub(super) const BYTES: usize = 40;

    /// Reads the header before `frame`, and a VLAN tag that the device has inserted into it. `None`: a
    /// foreign frame.
    pub(super) fn read(frame: &[u8]) -> Option<(Self, Option<VlanTag>, &[u8])> {
        let (addresses, rest) = frame.split_at_checked(ADDRESS_BYTES)?;
        let kind: [u8; 2] = *rest.first_chunk()?;
        let (tag, rest) = match u16::from_be_bytes(kind) {
            ETHERTYPE => (None, rest),
            0x8100 | 0x88a8 => (rest.first_chunk().copied(), rest.get(4..)?),
            _ => return None,
        };
        let (fields, frame) = rest.split_at_checked(Self::BYTES - ADDRESS_BYTES)?;
        let word = |at: usize| Some(u32::from_ne_bytes(*fields.get(at..)?.first_chunk()?));
        let is_ours = addresses.starts_with(b"\x02inbsw\x02inbsw")
            && fields.starts_with(&ETHERTYPE.to_be_bytes())
            && fields.get(2..4) == Some(&MAGIC.to_ne_bytes());
        let came_at = u64::from_ne_bytes(*fields.get(12..)?.first_chunk()?);
        let handed =
            Self { ingress: word(4)?, egress: word(8)?, came_at, queue: word(20)?, may_wait: word(24)? != 0 };
        is_ours.then_some((handed, tag, frame))
    }
}

/// The EtherType and the control information of a VLAN tag.
type VlanTag = [u8; 4];

const ADDRESS_BYTES: usize = 12;
const ETHERTYPE: u16 = 0x88b5;
const MAGIC: u16 = 0x4e49;
