//! The packet fields that the flow watchlist matches.

use inband_wire::FiveTuple;

/// The packet fields that the watchlist matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The five-tuple of the innermost packet.
    pub flow: FiveTuple,
    /// Its DSCP.
    pub dscp: u8,
    /// The network identifier of VXLAN or Geneve around it.
    pub vni: Option<u32>,
    /// The ingress interface.
    pub ingress: u16,
}
