//! The code points that mark INT in an INT domain.

use crate::int::dialect::{Dialect, Reading};
use crate::int::domain::{self, Domain};
use crate::int::dscp_mark::DscpMark;

/// The values that mark INT, one list per encapsulation; an empty list disables that encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePoints<'a> {
    /// DSCP values that mark INT after TCP or UDP.
    pub dscp: &'a [DscpMark],
    /// DSCP values that mark Host-INT; packets without its shape are ignored.
    pub host_int_dscp: &'a [DscpMark],
    /// UDP destination ports that mark INT (INT_TBD); also TCP ports for INT 0.5, where nothing else matches.
    pub udp_ports: &'a [u16],
    /// 64-bit probe markers after TCP or UDP.
    pub probe_markers: &'a [u64],
    /// GRE protocol types that mark INT (TBD_INT).
    pub gre_protocols: &'a [u16],
    /// VXLAN-GPE Next Protocol values that mark INT.
    pub vxlan_gpe_next_protocols: &'a [u8],
    /// Geneve option classes of INT.
    pub geneve_classes: &'a [u16],
    /// Whether INT precedes or follows the TCP options.
    pub tcp_options: TcpOptions,
    /// The domain-specific instructions whose lengths are known.
    pub domains: &'a [Domain],
    /// How closely INT must follow the formats.
    pub reading: Reading,
    /// Dialects whose own marks also count, where INT of that dialect parses completely.
    pub dialect_marks: &'a [Dialect],
}

/// Where INT is in a TCP segment; one choice per INT domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TcpOptions {
    /// INT follows the TCP options.
    #[default]
    After,
    /// INT follows the fixed 20 bytes and precedes the options.
    Before,
}

impl CodePoints<'static> {
    /// The values used where nothing is configured, for all versions: 0x82 and 0x0103 are those of 2.1, 0x80 and
    /// 0x00ab of 2.0, 0x08 of 1.0, 0x05 of 0.5 and 2016.
    pub const DEFAULT: Self = CodePoints {
        dscp: &[DscpMark { value: 0x17, mask: 0x3f }],
        host_int_dscp: &[DscpMark { value: 0x01, mask: 0x01 }],
        udp_ports: &[33122],
        probe_markers: &[0xaaaa_aaaa_bbbb_bbbb],
        gre_protocols: &[0x4569],
        vxlan_gpe_next_protocols: &[0x82, 0x80, 0x08, 0x05],
        geneve_classes: &[0x0103, 0x00ab],
        tcp_options: TcpOptions::After,
        domains: domain::WELL_KNOWN,
        reading: Reading::Strict,
        dialect_marks: &[],
    };

    /// No mark: no packet is INT, whatever it contains.
    pub const NONE: Self = CodePoints {
        dscp: &[],
        host_int_dscp: &[],
        udp_ports: &[],
        probe_markers: &[],
        gre_protocols: &[],
        vxlan_gpe_next_protocols: &[],
        geneve_classes: &[],
        tcp_options: TcpOptions::After,
        domains: &[],
        reading: Reading::Strict,
        dialect_marks: &[],
    };
}

impl Default for CodePoints<'static> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests;
