//! Egress MTU handling and checksum updates.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// `[mtu]`: handling of packets for which the egress MTU leaves no room for metadata.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MtuConfig {
    /// What a transit hop does; default `set-m-bit`.
    pub action: MtuAction,
    /// Whether the traffic source is notified; default `off`.
    pub icmp: Icmp,
    /// Maximum rate of such messages, messages a second, 1 to 1,000,000; default 100.
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

/// What a transit hop does if its metadata does not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MtuAction {
    /// It adds nothing and sets M.
    #[default]
    SetMBit,
    /// It reports the collected stack, empties it and adds its own metadata.
    IntermediateReport,
}

/// Whether a node reports the MTU to the traffic source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Icmp {
    /// No message.
    #[default]
    Off,
    /// The MTU with room for all remaining hops.
    Conservative,
    /// The MTU with room for this node's metadata and for what INT has added so far.
    Own,
}

/// `[checksum]`: how L4 checksums are kept correct.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChecksumConfig {
    /// The field to update; default `l4`.
    pub update: ChecksumUpdate,
}

/// The field that keeps a checksum correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChecksumUpdate {
    /// The L4 checksum itself.
    #[default]
    L4,
    /// The checksum complement, if the source requested it.
    Complement,
}
