//! The lease state of a flow: what keeps INT from it.

/// Whether a flow may have INT, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowState {
    /// The destination's sink removes INT from it.
    Proven,
    /// Neither probes nor questions are answered.
    NoAnswer,
    /// The destination's agent answers, but no probe arrives at its sink.
    ProbesLost,
    /// Probes arrive, but packets of the flow do not.
    OnlyProbesArrive,
    /// The destination's agent refuses INT of this host.
    Refused,
    /// The rate limit of probes was reached.
    Limited,
}

impl FlowState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Proven,
        Self::NoAnswer,
        Self::ProbesLost,
        Self::OnlyProbesArrive,
        Self::Refused,
        Self::Limited,
    ];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::NoAnswer => "no_answer",
            Self::ProbesLost => "probes_lost",
            Self::OnlyProbesArrive => "only_probes_arrive",
            Self::Refused => "refused",
            Self::Limited => "limited",
        }
    }

    /// An explanation, and what to check.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Proven => "its packets may have INT",
            Self::NoAnswer => "the destination runs no agent, or it cannot be reached",
            Self::ProbesLost => {
                "the agent answers, but no probe reaches its sink: a router clears the mark, drops what is so long or has \
                 a wrong checksum, or another device or program takes it"
            }
            Self::OnlyProbesArrive => {
                "probes arrive, but not the flow itself: NAT, a forwarded port, or another device"
            }
            Self::Refused => "the destination's agent refuses",
            Self::Limited => "host.probes_per_second or host.probes_per_minute is reached",
        }
    }
}
