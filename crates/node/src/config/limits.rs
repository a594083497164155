//! What happens where the egress MTU leaves no room, and how are checksums kept right?

use serde::Deserialize;

/// `[mtu]`: what happens where the egress MTU leaves no room for metadata.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MtuConfig {
    /// What a transit hop does; default `set-m-bit`.
    pub action: MtuAction,
    /// Whether the traffic source is told; default `off`.
    pub icmp: Icmp,
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
    /// With room for its own metadata.
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
