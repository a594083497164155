//! One of the cores that do the work of a node together.

/// Which of the cores of a node a [`Node`](crate::Node) is.
///
/// The cores share one [`Profile`](crate::Profile) and no state, so none waits for another. The shell gives every
/// packet of a flow to the same core, as receive side scaling does. What a node has once is settled in this way:
///
/// * **Report sequence numbers** count per node id and hw_id, so each core reports under its own hw_id: that of the
///   session, and the core's index on top.
/// * **Rates**, `report.reports_per_second` and `mtu.icmp_per_second`, are divided by the number of cores.
/// * **Probes** are made by the first core.
/// * **Tables of flows**, for numbers, losses, the smart filter and its drops, are each core's own and have the
///   configured size on each: a flow is known on the core that has its packets.
/// * **Sampling, clones and quotas of queues** count on each core. The numbers of a source that are not those of a
///   flow are each core's own, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its place among the cores, from 0.
    pub(crate) index: u8,
    /// How many there are.
    pub(crate) count: u8,
}

impl Core {
    /// The only core of its node.
    pub const ONLY: Self = Self { index: 0, count: 1 };

    /// The core at `index` of `count`; `None` where there are not that many.
    #[must_use]
    pub const fn new(index: u8, count: u8) -> Option<Self> {
        if index < count { Some(Self { index, count }) } else { None }
    }

    /// Whether it does what one core does for all.
    pub(crate) const fn is_first(self) -> bool {
        self.index == 0
    }

    /// Its share of a rate.
    pub(crate) fn share(self, per_second: u32) -> u32 {
        per_second / u32::from(self.count)
    }
}
