//! How do packets carry INT in this domain?

use std::net::Ipv4Addr;

use serde::Deserialize;

use inband_wire::int::{CodePoints, Domain, DscpMark, TcpOptions};

use super::number::hex_u64;

/// `[encapsulation]`: how packets carry INT, the same on all nodes of a domain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EncapsulationConfig {
    /// The encapsulation; default `dscp`.
    pub kind: EncapsulationKind,
    /// DSCP value that marks INT, 0 to 63; default 0x17.
    pub dscp: u8,
    /// Which DSCP bits carry the mark; default 0x3f, the whole code point.
    pub dscp_mask: u8,
    /// UDP destination port that marks INT; default 33122.
    pub udp_port: u16,
    /// 64-bit probe marker; default `0xaaaaaaaabbbbbbbb`.
    #[serde(deserialize_with = "hex_u64")]
    pub probe_marker: u64,
    /// GRE protocol type that marks INT; default 0x4569.
    pub gre_protocol: u16,
    /// VXLAN-GPE Next Protocol that marks INT; default 0x82.
    pub vxlan_gpe_next_protocol: u8,
    /// Geneve option class of INT; default 0x0103.
    pub geneve_class: u16,
    /// Whether INT stands before or after the TCP options; default `after`.
    pub tcp_options: TcpOptionsConfig,
    /// Outer source address where `gre` adds an IPv4 header; default 192.0.2.1.
    pub tunnel_source: Ipv4Addr,
    /// Outer destination address where `gre` adds an IPv4 header; default 192.0.2.2.
    pub tunnel_destination: Ipv4Addr,
}

impl Default for EncapsulationConfig {
    fn default() -> Self {
        Self {
            kind: EncapsulationKind::Dscp,
            dscp: 0x17,
            dscp_mask: 0x3f,
            udp_port: 33122,
            probe_marker: 0xaaaa_aaaa_bbbb_bbbb,
            gre_protocol: 0x4569,
            vxlan_gpe_next_protocol: 0x82,
            geneve_class: 0x0103,
            tcp_options: TcpOptionsConfig::After,
            tunnel_source: Ipv4Addr::new(192, 0, 2, 1),
            tunnel_destination: Ipv4Addr::new(192, 0, 2, 2),
        }
    }
}

/// The ways a packet can carry INT.
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

/// Where INT stands in a TCP segment.
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
    /// The DSCP that marks INT.
    #[must_use]
    pub const fn mark(&self) -> DscpMark {
        DscpMark { value: self.dscp, mask: self.dscp_mask }
    }

    /// Where INT stands beside TCP options.
    #[must_use]
    pub const fn tcp_options(&self) -> TcpOptions {
        match self.tcp_options {
            TcpOptionsConfig::After => TcpOptions::After,
            TcpOptionsConfig::Before => TcpOptions::Before,
        }
    }

    /// Calls `read` with the code points of every encapsulation as configured here, and with `domains`.
    pub fn with_code_points<T>(&self, domains: &[Domain], read: impl FnOnce(CodePoints<'_>) -> T) -> T {
        read(CodePoints {
            dscp: &[self.mark()],
            host_int_dscp: &[],
            udp_ports: &[self.udp_port],
            probe_markers: &[self.probe_marker],
            gre_protocols: &[self.gre_protocol],
            vxlan_gpe_next_protocols: &[self.vxlan_gpe_next_protocol],
            geneve_classes: &[self.geneve_class],
            tcp_options: self.tcp_options(),
            domains,
        })
    }
}
