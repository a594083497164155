//! Statistics of an interface.

/// A node and its egress interface, if reported.
pub type Interface = (u32, Option<u32>);

/// Statistics of an egress interface. Percentiles are at most 1.6 % off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InterfaceSums {
    /// The number of hops.
    pub count: u64,
    /// The median latency.
    pub p50: Option<u64>,
    /// The 99th percentile of the latency.
    pub p99: Option<u64>,
    /// The maximum latency.
    pub max: Option<u64>,
    /// The maximum queue occupancy.
    pub depth: Option<u64>,
    /// The maximum utilization.
    pub utilization: Option<u64>,
    /// Reports of packets that the interface dropped.
    pub drops: u64,
}
