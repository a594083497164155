//! Detection of latency changes that are reported.

use crate::config::{LatencyChange, SmartConfig};

/// The latencies of a packet known to this node, nanoseconds; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latencies {
    /// The time the packet spent in this node.
    pub(super) hop: u32,
    /// The time since the source, modulo 2^32; known if no hop of the stack gives a hop latency.
    pub(super) one_way: u32,
}

/// The minimum changes of latency that are reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensitivity {
    /// Of hop latencies.
    pub(super) hop: Step,
    /// Of one-way latencies.
    pub(super) one_way: Step,
}

/// How two latencies are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// They differ by more than this, nanoseconds.
    Difference(u32),
    /// They differ in these bits.
    Quantum(u32),
}

impl Sensitivity {
    pub(super) fn new(smart: &SmartConfig) -> Self {
        let least_change_ns = smart.min_hop_latency_change_ns;
        Self {
            hop: Step::new(smart.latency_change, least_change_ns),
            one_way: Step::new(
                smart.latency_change,
                smart.min_one_way_latency_change_ns.unwrap_or(least_change_ns),
            ),
        }
    }

    /// Whether the latencies known to this node differ between two packets.
    #[inline]
    pub(super) fn have_changed(self, before: Latencies, now: Latencies) -> bool {
        self.hop.is_over(before.hop.abs_diff(now.hop)) || {
            // A clock behind the source's gives a time just below 2^32, which is close to 0.
            let change = now.one_way.wrapping_sub(before.one_way);
            self.one_way.is_over(change.min(change.wrapping_neg()))
        }
    }

    /// Whether a hop's latency on the metadata stack differs between two packets.
    #[inline]
    pub(super) fn have_changed_upstream(self, before: &[u32], now: &[u32]) -> bool {
        before.len() != now.len()
            || before.iter().zip(now).any(|(before, now)| self.hop.is_over(before.abs_diff(*now)))
    }
}

impl Step {
    /// `least_change_ns` is rounded down to a power of two where latencies are compared by quantum.
    // sd-fabric-1.0/flow-04
    fn new(change: LatencyChange, least_change_ns: u32) -> Self {
        match change {
            LatencyChange::Difference => Self::Difference(least_change_ns),
            LatencyChange::Quantum => {
                Self::Quantum(least_change_ns.checked_ilog2().map_or(u32::MAX, |bits| u32::MAX << bits))
            }
        }
    }

    /// Whether latencies are compared by quantum, so that equal bits suffice.
    pub(super) const fn is_quantum(self) -> bool {
        matches!(self, Self::Quantum(_))
    }

    /// The stored part of a latency.
    pub(super) const fn kept(self, latency: u32) -> u32 {
        match self {
            Self::Difference(_) => latency,
            Self::Quantum(bits) => latency & bits,
        }
    }

    /// Whether stored latencies that differ by `change` count as different.
    const fn is_over(self, change: u32) -> bool {
        match self {
            // sd-fabric-1.0/flow-03: greater than the minimum change.
            Self::Difference(least_change_ns) => change > least_change_ns,
            Self::Quantum(_) => change != 0,
        }
    }
}

#[cfg(test)]
mod tests;
