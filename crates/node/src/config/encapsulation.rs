//! How packets carry INT in a domain.

use std::net::Ipv4Addr;

use serde::Deserialize;

use inband_wire::int::{CodePoints, Dialect, Domain, DscpMark, Reading, TcpOptions};

use super::number::hex_u64;
use super::watch::PortRange;

/// `[encapsulation]`: how packets carry INT, the same on all nodes of a domain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EncapsulationConfig {
    /// The implementation whose deviations from the specification all nodes of the domain share; default
    /// none.
    pub dialect: Option<DialectName>,
    /// The encapsulation; default `dscp`, or that of the dialect.
    pub kind: Option<EncapsulationKind>,
    /// Which packet of a tunnel carries INT; default `outer`.
    pub layer: Layer,
    /// DSCP value that marks INT, 0 to 63; default 0x17, or that of the dialect.
    pub dscp: Option<u8>,
    /// Mask of the DSCP bits that carry the mark; default 0x3f, the whole code point, or that of the dialect.
    pub dscp_mask: Option<u8>,
    /// UDP destination port that marks INT; default 33122, or that of the dialect.
    pub udp_port: Option<u16>,
    /// 64-bit probe marker; default `0xaaaaaaaabbbbbbbb`.
    #[serde(deserialize_with = "hex_u64")]
    pub probe_marker: u64,
    /// TCP or UDP ports, source or destination, on which the probe marker is recognized; default: any.
    pub probe_marker_ports: Option<PortRange>,
    /// GRE protocol type that marks INT; default 0x4569.
    pub gre_protocol: u16,
    /// What `gre` puts after a GRE header it adds; default `ip`.
    pub gre_payload: GrePayload,
    /// VXLAN-GPE Next Protocol that marks INT; default 0x82, or the value of an earlier version: 0x08 for
    /// 1.0, 0x05 for 0.5 and 2016.
    pub vxlan_gpe_next_protocol: Option<u8>,
    /// Geneve option class of INT; default 0x0103, or for versions before 2.0 the 0x00ab of their examples.
    pub geneve_class: Option<u16>,
    /// Whether INT is before or after the TCP options; default `after`. Host-INT is always before them.
    pub tcp_options: TcpOptionsConfig,
    /// Whether INT 0.5 behind TCP or UDP corrects L4 checksum and UDP length; default true. Later versions
    /// always do.
    pub update_l4: bool,
    /// Outer source address where `gre` adds an IPv4 header; default 192.0.2.1.
    pub tunnel_source: Ipv4Addr,
    /// Outer destination address where `gre` adds an IPv4 header; default 192.0.2.2.
    pub tunnel_destination: Ipv4Addr,
}

impl Default for EncapsulationConfig {
    fn default() -> Self {
        Self {
            dialect: None,
            kind: None,
            layer: Layer::Outer,
            dscp: None,
            dscp_mask: None,
            udp_port: None,
            probe_marker: 0xaaaa_aaaa_bbbb_bbbb,
            probe_marker_ports: None,
            gre_protocol: 0x4569,
            gre_payload: GrePayload::Ip,
            vxlan_gpe_next_protocol: None,
            geneve_class: None,
            tcp_options: TcpOptionsConfig::After,
            update_l4: true,
            tunnel_source: Ipv4Addr::new(192, 0, 2, 1),
            tunnel_destination: Ipv4Addr::new(192, 0, 2, 2),
        }
    }
}

/// Implementations whose INT deviates from the specification in a known way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DialectName {
    /// GEANT int-platforms and Montimage: 1.0 or 0.5 with timestamps of 64 bits.
    Geant,
    /// `fabric.p4` of ONOS: 0.5 with a version of 2 bits.
    Onos,
    /// Transparent Security of CableLabs: 2.1 behind a new UDP header with its flags two bits lower.
    Cablelabs,
}

impl DialectName {
    /// Their deviations on the wire.
    #[must_use]
    pub const fn wire(self) -> Dialect {
        match self {
            Self::Geant => Dialect::Geant,
            Self::Onos => Dialect::Onos,
            Self::Cablelabs => Dialect::Cablelabs,
        }
    }
}

/// The INT encapsulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncapsulationKind {
    /// Behind TCP or UDP, marked by DSCP.
    Dscp,
    /// Behind UDP, marked by the destination port.
    UdpPort,
    /// Behind TCP or UDP, marked by a 64-bit value.
    ProbeMarker,
    /// Behind a new UDP header.
    Udp,
    /// Behind a GRE header.
    Gre,
    /// Behind a VXLAN-GPE header.
    VxlanGpe,
    /// In a Geneve option.
    Geneve,
}

impl EncapsulationKind {
    /// The name in configuration files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dscp => "dscp",
            Self::UdpPort => "udp-port",
            Self::ProbeMarker => "probe-marker",
            Self::Udp => "udp",
            Self::Gre => "gre",
            Self::VxlanGpe => "vxlan-gpe",
            Self::Geneve => "geneve",
        }
    }
}

/// What a source puts after a GRE header that it adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrePayload {
    /// The IP packet.
    #[default]
    Ip,
    /// The Ethernet frame, if there is one; the new packet gets a copy of its Ethernet header.
    Ethernet,
}

/// Which packet of a tunnel carries INT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The outermost one; a packet without a tunnel is its own outermost one.
    #[default]
    Outer,
    /// The innermost one, behind VXLAN, Geneve, GRE, GTP-U and IP in IP; a packet without a tunnel is its own
    /// innermost one.
    Inner,
}

/// The position of INT in a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpOptionsConfig {
    /// After the TCP options.
    #[default]
    After,
    /// Before the TCP options.
    Before,
}

impl EncapsulationConfig {
    /// The dialect of the domain.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect.map(DialectName::wire)
    }

    /// The encapsulation.
    #[must_use]
    pub fn kind(&self) -> EncapsulationKind {
        self.kind.unwrap_or(match self.dialect {
            Some(DialectName::Cablelabs) => EncapsulationKind::Udp,
            _ => EncapsulationKind::Dscp,
        })
    }

    /// The DSCP that marks INT.
    #[must_use]
    pub fn mark(&self) -> DscpMark {
        let own = self.dialect().and_then(Dialect::dscp).unwrap_or(DscpMark { value: 0x17, mask: 0x3f });
        DscpMark { value: self.dscp.unwrap_or(own.value), mask: self.dscp_mask.unwrap_or(own.mask) }
    }

    /// The UDP destination port that marks INT.
    #[must_use]
    pub fn udp_port(&self) -> u16 {
        self.udp_port.or_else(|| self.dialect()?.udp_port()).unwrap_or(33122)
    }

    /// How strictly INT of the domain must follow the formats.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.dialect().map_or(Reading::Strict, Reading::Of)
    }

    /// The position of INT relative to TCP options.
    #[must_use]
    pub const fn tcp_options(&self) -> TcpOptions {
        match self.tcp_options {
            TcpOptionsConfig::After => TcpOptions::After,
            TcpOptionsConfig::Before => TcpOptions::Before,
        }
    }

    /// The VXLAN-GPE Next Protocol values that mark INT: the configured one, then those of versions before
    /// 2.1.
    #[must_use]
    pub fn vxlan_gpe_next_protocols(&self) -> [u8; 4] {
        [self.vxlan_gpe_next_protocol.unwrap_or(0x82), 0x80, 0x08, 0x05]
    }

    /// The Geneve option classes of INT: the configured one, then that of the examples before 2.1.
    #[must_use]
    pub fn geneve_classes(&self) -> [u16; 2] {
        [self.geneve_class.unwrap_or(0x0103), 0x00ab]
    }

    /// Calls `read` with the code points of every encapsulation as configured here, and with `domains`.
    // int-2016/location-01
    pub fn with_code_points<T>(&self, domains: &[Domain], read: impl FnOnce(CodePoints<'_>) -> T) -> T {
        read(CodePoints {
            dscp: &[self.mark()],
            host_int_dscp: &[],
            udp_ports: &[self.udp_port()],
            probe_markers: &[self.probe_marker],
            gre_protocols: &[self.gre_protocol],
            vxlan_gpe_next_protocols: &self.vxlan_gpe_next_protocols(),
            geneve_classes: &self.geneve_classes(),
            tcp_options: self.tcp_options(),
            domains,
            reading: self.reading(),
            dialect_marks: &[],
        })
    }
}
