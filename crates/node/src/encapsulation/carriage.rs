//! How packets of an INT domain carry INT.

use std::net::Ipv4Addr;

use inband_wire::int::locate::Encapsulation;
use inband_wire::int::{CodePoints, Deviations, Dialect, DscpMark, Location, Reading, TcpOptions, Version};
use inband_wire::layers::{Layers, ports};

use crate::config::{EncapsulationKind, GrePayload, Layer, NodeConfig};

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
    /// First and last port of TCP or UDP on which the marker is recognized; `None`: any.
    pub(crate) probe_marker_ports: Option<(u16, u16)>,
    pub(crate) gre_protocol: u16,
    pub(crate) gre_payload: GrePayload,
    /// The value that is written, followed by those that are read.
    pub(crate) vxlan_gpe_next_protocol: u8,
    pub(crate) vxlan_gpe_next_protocols: [u8; 4],
    /// The value that is written, followed by those that are read.
    pub(crate) geneve_class: u16,
    pub(crate) geneve_classes: [u16; 2],
    pub(crate) tcp_options: TcpOptions,
    /// Whether 0.5 behind TCP and UDP corrects L4 checksum and UDP length.
    pub(crate) update_l4: bool,
    pub(crate) tunnel_source: Ipv4Addr,
    pub(crate) tunnel_destination: Ipv4Addr,
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

    /// The deviations of a header that this domain's source writes.
    pub(crate) fn deviations(&self) -> Deviations {
        self.dialect.map_or(Deviations::NONE, |dialect| dialect.deviations(self.version))
    }

    /// Whether INT at `location` keeps L4 checksum and UDP length correct.
    pub(crate) fn keeps_l4(&self, location: &Location) -> bool {
        let is_in_tunnel = matches!(location.encapsulation, Encapsulation::VxlanGpe | Encapsulation::Geneve);
        self.update_l4 || is_in_tunnel || location.version != Version::V0_5
    }

    /// Whether the probe marker is recognized on the packet's ports.
    // int-2.1/l4-22
    pub(crate) fn has_marker_ports(&self, bytes: &[u8], layers: &Layers) -> bool {
        let Some((first, last)) = self.probe_marker_ports else { return true };
        let (source, destination) = ports(bytes, layers.l4);
        [source, destination].iter().any(|port| (first..=last).contains(port))
    }

    /// Calls `read` with the code points of this encapsulation.
    ///
    /// Kept out of line: inlined, its values are assembled for every packet, even if `read` is not called.
    #[inline(never)]
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
            reading: match self.dialect {
                None => Reading::Strict,
                Some(dialect) => Reading::OfVersion(dialect, self.version),
            },
            dialect_marks: &[],
        })
    }
}
