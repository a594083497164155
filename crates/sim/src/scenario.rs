//! What can be made to happen to a fabric at a time of one's choice.

use inband_wire::FiveTuple;

use crate::flow::{Bursts, UdpTraffic};
use crate::time::Nanos;

/// A change to the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Takes the link between a leaf and a spine out of service. Packets on it and in its queues are lost.
    FailLink {
        /// Index of the leaf.
        leaf: usize,
        /// Index of the spine.
        spine: usize,
    },
    /// Puts the link between a leaf and a spine back into service.
    RestoreLink {
        /// Index of the leaf.
        leaf: usize,
        /// Index of the spine.
        spine: usize,
    },
    /// Changes the share of a leaf's traffic that goes over a spine: 1 is the default, 0 drains the link, 16 is the
    /// most.
    SetWeight {
        /// Index of the leaf.
        leaf: usize,
        /// Index of the spine.
        spine: usize,
        /// The new weight.
        weight: u8,
    },
    /// Sends one flow over a spine, as long as that way is up.
    Pin {
        /// The flow.
        flow: FiveTuple,
        /// Index of the spine.
        spine: usize,
    },
    /// Leaves a pinned flow to equal-cost multipath again.
    Unpin {
        /// The flow.
        flow: FiveTuple,
    },
}

/// Many hosts that send to one at the same moments, faster together than its link carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incast {
    /// Indices of the sending hosts.
    pub sources: Vec<usize>,
    /// Index of the receiving host.
    pub destination: usize,
    /// Destination port; the source port of the first source, and one more for each other, too.
    pub port: u16,
    /// When the first burst begins.
    pub start_ns: Nanos,
    /// From the beginning of one burst to the beginning of the next.
    pub every_ns: Nanos,
    /// Length of one burst.
    pub burst_ns: Nanos,
    /// Bursts.
    pub bursts: u64,
    /// Bytes of payload in each datagram.
    pub payload_bytes: u16,
    /// From one datagram of a source to its next.
    pub interval_ns: Nanos,
}

impl Incast {
    /// The traffic of each of its sources.
    pub(crate) fn traffic(&self) -> UdpTraffic {
        let in_burst = self.burst_ns / self.interval_ns.max(1) + 1;
        let off_ns = self.every_ns.saturating_sub(in_burst * self.interval_ns);
        UdpTraffic {
            payload_bytes: self.payload_bytes,
            interval_ns: self.interval_ns,
            datagrams: Some(in_burst * self.bursts),
            bursts: Some(Bursts { on_ns: self.burst_ns, off_ns, regular: true }),
        }
    }
}
