//! Planned changes to a fabric.

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
    /// Restores the link between a leaf and a spine.
    RestoreLink {
        /// Index of the leaf.
        leaf: usize,
        /// Index of the spine.
        spine: usize,
    },
    /// Changes the share of a leaf's traffic that goes over a spine: 1 is the default, 0 drains the link, 16
    /// is the maximum.
    SetWeight {
        /// Index of the leaf.
        leaf: usize,
        /// Index of the spine.
        spine: usize,
        /// The new weight.
        weight: u8,
    },
    /// Sends one flow over a spine, as long as that path is up.
    Pin {
        /// The flow.
        flow: FiveTuple,
        /// Index of the spine.
        spine: usize,
    },
    /// Returns a pinned flow to equal-cost multipath.
    Unpin {
        /// The flow.
        flow: FiveTuple,
    },
}

/// Synchronized bursts from many hosts to one, exceeding the capacity of its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incast {
    /// Indices of the sending hosts.
    pub sources: Vec<usize>,
    /// Index of the receiving host.
    pub destination: usize,
    /// Destination port; also the source port of the first source, incremented for each further one.
    pub port: u16,
    /// When the first burst starts.
    pub start_ns: Nanos,
    /// Interval between the starts of two bursts.
    pub every_ns: Nanos,
    /// Length of one burst.
    pub burst_ns: Nanos,
    /// Number of bursts.
    pub bursts: u64,
    /// Bytes of payload in each datagram.
    pub payload_bytes: u16,
    /// Interval between a source's datagrams.
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
