//! The identity of a stream.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use inband_model::NodeId;
use inband_wire::report::ReportVersion;

use super::space::SequenceSpace;

/// Identifies a stream: a sender with its own sequence numbers.
// report-2.0/group-03: per node id and hw_id to one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamKey {
    /// The reporting node; [`NodeId::NOT_AVAILABLE`] where it is unknown.
    pub(crate) node_id: NodeId,
    /// The address the reports come from, where the node is unknown.
    pub(crate) source: Option<IpAddr>,
    /// The part of the node that numbers the reports.
    pub(crate) hw_id: u8,
    /// The socket the reports were sent to.
    pub(crate) session: SocketAddr,
    /// The format of the reports, which determines the width of their numbers; 0.5 for Host-INT's as well.
    pub(crate) version: ReportVersion,
    /// Whether the numbers are narrower, because they are followed by padding.
    pub(crate) has_padded_numbers: bool,
}

impl Hash for StreamKey {
    /// Hashes whole words: a stream is looked up for each datagram.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let port = u64::from(self.session.port()) << 32;
        state.write_u64(u64::from(self.node_id.0) | port | u64::from(self.hw_id) << 48);
        match self.session.ip() {
            IpAddr::V4(address) => state.write_u64(address.to_bits().into()),
            IpAddr::V6(address) => state.write_u128(address.to_bits()),
        }
        // Where the node is known there is no source, and nodes use one version.
        if let Some(source) = self.source {
            source.hash(state);
        }
    }
}

impl StreamKey {
    /// The sequence space of the stream.
    pub(super) const fn space(&self) -> SequenceSpace {
        let padding = if self.has_padded_numbers { PADDING_BITS } else { 0 };
        SequenceSpace::new(self.version.sequence_bits() - padding)
    }

    /// The stream in the keys of events.
    pub(crate) fn event_key(&self) -> String {
        let (hw_id, session) = (self.hw_id, self.session);
        match self.source {
            None => format!("node {} hw {hw_id} to {session}", self.node_id),
            Some(source) => format!("node at {source} hw {hw_id} to {session}"),
        }
    }
}

/// Padding bits after the numbers of CableLabs' reports.
pub(crate) const PADDING_BITS: u32 = 6;
