//! What of a packet the flow watchlist looks at.

use inband_wire::FiveTuple;

/// What of a packet the watchlist looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The five-tuple of the innermost packet.
    pub flow: FiveTuple,
    /// Its DSCP.
    pub dscp: u8,
    /// The network identifier of VXLAN or Geneve around it.
    pub vni: Option<u32>,
    /// The interface the packet came in by.
    pub ingress: u16,
}
