//! Statistics of interfaces.

/// A node and its egress interface, if reported.
pub type Interface = (u32, Option<u32>);

/// Statistics of egress interfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// The interfaces, sorted.
    sums: Vec<(Interface, InterfaceSums)>,
    /// The interval of the minutes that percentiles are taken from; `None`: from all.
    pub one_in: Option<u64>,
}

impl Interfaces {
    /// Those of `sums`, which are sorted by interface.
    pub(super) fn sorted(sums: Vec<(Interface, InterfaceSums)>, one_in: Option<u64>) -> Self {
        Self { sums, one_in }
    }

    /// All interfaces, sorted.
    #[must_use]
    pub fn all(&self) -> &[(Interface, InterfaceSums)] {
        &self.sums
    }

    /// The interfaces of a node, sorted.
    #[must_use]
    pub fn of_node(&self, node: u32) -> &[(Interface, InterfaceSums)] {
        let start = self.sums.partition_point(|((of, _), _)| *of < node);
        let rest = &self.sums[start..];
        &rest[..rest.partition_point(|((of, _), _)| *of == node)]
    }
}

impl FromIterator<(Interface, InterfaceSums)> for Interfaces {
    fn from_iter<I: IntoIterator<Item = (Interface, InterfaceSums)>>(sums: I) -> Self {
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(interface, _)| *interface);
        Self { sums, one_in: None }
    }
}

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
