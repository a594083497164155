//! What happens where the egress MTU leaves no room, and how checksums are kept right.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// `[mtu]`: what happens where the egress MTU leaves no room for metadata.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MtuConfig {
    /// What a transit hop does; default `set-m-bit`.
    pub action: MtuAction,
    /// Whether the traffic source is told; default `off`.
    pub icmp: Icmp,
    /// How often it is told at most, messages a second, 1 to 1,000,000; default 100.
    pub icmp_per_second: u32,
    /// This node's IPv4 address in such messages; default 192.0.0.8, the dummy address of RFC 7600.
    pub icmp_source_ipv4: Ipv4Addr,
    /// This node's IPv6 address in such messages; default 2001:db8::1, for documentation.
    pub icmp_source_ipv6: Ipv6Addr,
}

impl Default for MtuConfig {
    fn default() -> Self {
        Self {
            action: MtuAction::SetMBit,
            icmp: Icmp::Off,
            icmp_per_second: 100,
            icmp_source_ipv4: Ipv4Addr::new(192, 0, 0, 8),
            icmp_source_ipv6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
        }
    }
}

/// What a transit hop does whose metadata does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MtuAction {
    /// It adds nothing and sets M.
    #[default]
    SetMBit,
    /// It reports the stack so far, empties it and adds its own.
    IntermediateReport,
}

/// Whether a node tells the traffic source about the MTU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Icmp {
    /// It does not.
    #[default]
    Off,
    /// With room for all remaining hops.
    Conservative,
    /// With room for its own metadata, and for what INT added before.
    Own,
}

/// `[checksum]`: how L4 checksums are kept right.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChecksumConfig {
    /// Which field is changed; default `l4`.
    pub update: ChecksumUpdate,
}

/// Which field keeps a checksum right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChecksumUpdate {
    /// The L4 checksum itself.
    #[default]
    L4,
    /// The checksum complement, where the source asked for it.
    Complement,
}
