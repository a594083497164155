//! The named counters of the program that watches drops.

/// What the program does with a dropped packet; each packet counts once, and its sample in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum DropOutcome {
    /// Counted with its flow, reason and device.
    Counted,
    /// Nothing was lost: the packet was used, or the sink discarded it for its D bit.
    NotLost,
    /// In another network namespace.
    Elsewhere,
    /// In a network namespace that cannot be determined from the packet.
    Nowhere,
    /// Not IP.
    NotIp,
    /// An IP header that cannot be read.
    Malformed,
    /// Not on the watchlist, or not for drops.
    NotWatched,
    /// There was no room for another count.
    NotHeld,
    /// A sample of the packet was sent to the agent.
    Sampled,
    /// The sample was lost: the buffer to the agent was full.
    SampleLost,
    /// With INT of a host whose INT the sink does not remove.
    Stranger,
}

impl DropOutcome {
    /// All outcomes, in the order of `bpf/drops.h`.
    pub const ALL: [Self; 11] = [
        Self::Counted,
        Self::NotLost,
        Self::Elsewhere,
        Self::Nowhere,
        Self::NotIp,
        Self::Malformed,
        Self::NotWatched,
        Self::NotHeld,
        Self::Sampled,
        Self::SampleLost,
        Self::Stranger,
    ];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counted => "drop_counted",
            Self::NotLost => "drop_not_lost",
            Self::Elsewhere => "drop_elsewhere",
            Self::Nowhere => "drop_nowhere",
            Self::NotIp => "drop_not_ip",
            Self::Malformed => "drop_malformed",
            Self::NotWatched => "drop_not_watched",
            Self::NotHeld => "drop_not_held",
            Self::Sampled => "drop_sampled",
            Self::SampleLost => "drop_sample_lost",
            Self::Stranger => "drop_stranger",
        }
    }
}
