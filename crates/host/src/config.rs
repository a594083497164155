//! The part of a node's configuration that the programs in the kernel follow.

use inband_node::config::{
    ChecksumUpdate, EncapsulationKind, IntVersion, Layer, Mode, NodeConfig, TcpOptionsConfig,
};
use inband_wire::int::Instructions;
use inband_wire::int::earlier::host_int;
use inband_wire::int::metadata::NOT_AVAILABLE;

use crate::abi::Config;
use crate::coverage::Coverage;
use crate::error::HostError;

/// Shim and header of INT 2.1.
const FIXED_BYTES: u32 = 4 + 12;
const UDP_BYTES: u32 = 8;
/// The bytes that a Host-INT source inserts, and that each further hop adds.
const HOST_INT_BYTES: u32 = 36;
const HOST_INT_HOP_BYTES: u32 = 16;
const _: () = assert!(HOST_INT_BYTES as usize == host_int::INSERTED_BYTES);
const _: () = assert!(HOST_INT_HOP_BYTES as usize == host_int::HOP_WORDS.bytes());

/// The INT of one host: a node's configuration, and the interface that its packets leave by.
#[derive(Clone, Debug)]
pub struct HostInt {
    /// The configuration; only `[encapsulation]`, `[source]`, `[sink]` and `[[watch]]` are used.
    pub node: NodeConfig,
    /// Identifier of the interface that packets of this host come from.
    pub ingress: u16,
    /// Identifier of the interface that leads into the domain.
    pub egress: u16,
    /// What is added to the monotonic clock to get the clock of timestamps, nanoseconds.
    pub clock_offset: u64,
    /// Minimum time between two events of a flow, microseconds; 0: an event for every packet.
    pub interval_us: u32,
    /// Bytes that INT may add along the whole path: segments of super-packets with INT are smaller by that.
    pub room: u32,
    /// Whether every packet gets INT, or one of a flow in each interval.
    pub coverage: Coverage,
    /// The load of the interface that leads into the domain, hundredths of a percent; `None`: unknown.
    pub egress_utilization: Option<u32>,
}

/// The devices that a packet passes, by interface index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wiring {
    /// The device that leads into the domain.
    pub(crate) device: u32,
    /// Where packets enter its shim; 0: no shim.
    pub(crate) shim_in: u32,
    /// Where they leave it.
    pub(crate) shim_out: u32,
}

impl HostInt {
    /// The INT of `node` without devices: interfaces without identifiers, the monotonic clock, an event for
    /// every packet.
    #[must_use]
    pub const fn of(node: NodeConfig) -> Self {
        Self {
            node,
            ingress: 0,
            egress: 0,
            clock_offset: 0,
            interval_us: 0,
            room: 0,
            coverage: Coverage::All,
            egress_utilization: None,
        }
    }

    /// Bytes that INT may add to a packet along `hops` nodes: headers, and metadata of each node.
    #[must_use]
    pub fn room_for(node: &NodeConfig, hops: u8) -> u32 {
        let source = &node.source;
        let outer = match node.encapsulation.kind() {
            EncapsulationKind::Udp => UDP_BYTES,
            _ => 0,
        };
        let stack = match source.mode {
            Mode::Xd => return 0,
            _ if node.int_version() == IntVersion::Host0_5 => {
                let further = u32::from(hops.min(host_int::MAX_HOP_COUNT).saturating_sub(1));
                return outer + HOST_INT_BYTES + further * HOST_INT_HOP_BYTES;
            }
            Mode::Md => {
                u32::from(source.instructions.bitmap().words().count())
                    * 4
                    * u32::from(hops.min(source.remaining_hops))
            }
            Mode::Mx => 0,
        };
        outer + FIXED_BYTES + stack
    }

    /// Writes the configuration as the programs on `wiring` read it.
    ///
    /// # Errors
    /// A setting that the programs cannot follow.
    pub(crate) fn wired(&self, wiring: &Wiring) -> Result<Config, HostError> {
        let Wiring { device, shim_in, shim_out } = *wiring;
        Ok(Config { device, shim_in, shim_out, ..self.config()? })
    }

    /// Writes the configuration as the programs read it.
    ///
    /// # Errors
    /// A setting that the programs cannot follow.
    pub(crate) fn config(&self) -> Result<Config, HostError> {
        self.check()?;
        let interface = |id| self.node.interfaces.iter().find(|interface| interface.id == id);
        let level2 = |id| interface(id).map_or(NOT_AVAILABLE, |interface| interface.level2_id);
        let (encapsulation, source) = (&self.node.encapsulation, &self.node.source);
        let (instructions, mark) = (source.instructions.bitmap(), encapsulation.mark());
        let is_host_int = self.node.int_version() == IntVersion::Host0_5;
        Ok(Config {
            node_id: self.node.node.id,
            ingress_interface: self.ingress,
            egress_interface: self.egress,
            ingress_interface_level2: level2(self.ingress),
            egress_interface_level2: level2(self.egress),
            clock_offset: self.clock_offset,
            egress_utilization: self.egress_utilization.unwrap_or(NOT_AVAILABLE),
            mtu: interface(self.egress).map_or(u32::MAX, |interface| interface.mtu),
            instructions: instructions.0,
            udp_port: encapsulation.udp_port(),
            carriage: match encapsulation.kind() {
                EncapsulationKind::UdpPort => 1,
                EncapsulationKind::Udp => 2,
                _ => 0,
            },
            mode: match source.mode {
                Mode::Md => 0,
                Mode::Mx => 1,
                Mode::Xd => 2,
            },
            dscp: mark.value,
            dscp_mask: mark.mask,
            // Host-INT is placed before the TCP options, whatever is configured.
            before_tcp_options: u8::from(
                is_host_int || encapsulation.tcp_options == TcpOptionsConfig::Before,
            ),
            restore_dscp: u8::from(self.node.sink.restore_dscp),
            own_metadata: u8::from(source.own_metadata),
            discard: u8::from(source.discard),
            hop_words: instructions.words().count(),
            remaining_hops: source.remaining_hops,
            complement: u8::from(
                !is_host_int
                    && self.node.checksum.update == ChecksumUpdate::Complement
                    && instructions.contains(Instructions::CHECKSUM_COMPLEMENT),
            ),
            version: u8::from(is_host_int),
            interval_us: self.interval_us,
            room: self.room,
            slices: u32::from(self.coverage == Coverage::Slices),
            ..Config::default()
        })
    }

    pub(crate) fn check(&self) -> Result<(), HostError> {
        let unsupported = |key, value: &str, instead| {
            Err(HostError::Unsupported { key, value: format!("\"{value}\""), instead })
        };
        let kind = self.node.encapsulation.kind();
        let is_known =
            matches!(kind, EncapsulationKind::Dscp | EncapsulationKind::UdpPort | EncapsulationKind::Udp);
        if !is_known {
            return unsupported("encapsulation.kind", kind.name(), "\"dscp\", \"udp-port\" or \"udp\"");
        }
        if let Some(dialect) = self.node.encapsulation.dialect() {
            return unsupported("encapsulation.dialect", dialect.name(), "none");
        }
        if self.node.encapsulation.layer == Layer::Inner {
            return unsupported("encapsulation.layer", "inner", "\"outer\"");
        }
        if self.node.source.congestion_controlled_only {
            let (key, value) = ("source.congestion_controlled_only", "true".to_owned());
            return Err(HostError::Unsupported { key, value, instead: "a watchlist of protocols and ports" });
        }
        if self.node.source.clone > 0 {
            let value = self.node.source.clone.to_string();
            let instead = "0: INT in the packets themselves";
            return Err(HostError::Unsupported { key: "source.clone", value, instead });
        }
        if self.node.report.sessions().iter().any(|session| session.port_entropy) {
            let instead = "false: a host has one socket for each session";
            let value = "true".to_owned();
            return Err(HostError::Unsupported { key: "report.port_entropy", value, instead });
        }
        let version = self.node.int_version();
        if !matches!(version, IntVersion::V2_1 | IntVersion::Host0_5) {
            return unsupported("node.int_version", version.wire().name(), "\"2.1\" or \"host-0.5\"");
        }
        if version == IntVersion::Host0_5 && kind == EncapsulationKind::UdpPort {
            return unsupported("encapsulation.kind", kind.name(), "\"dscp\" or \"udp\" with \"host-0.5\"");
        }
        if version == IntVersion::Host0_5 && self.node.source.mode == Mode::Mx {
            return unsupported("source.mode", "mx", "\"md\" or \"xd\" with \"host-0.5\"");
        }
        if let Some(domain) = &self.node.source.domain {
            let value = format!("{:#06x}", domain.id);
            return Err(HostError::Unsupported {
                key: "source.domain.id",
                value,
                instead: "baseline instructions",
            });
        }
        if self.node.source.instructions.bitmap().intersects(Instructions::RESERVED) {
            return unsupported("source.instructions", "reserved", "instructions that have a name");
        }
        Ok(())
    }
}
