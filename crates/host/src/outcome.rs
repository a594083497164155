//! The named counters of packets in the programs.

/// What a program does with a packet; each packet counts once, and its event in addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Outcome {
    /// Not IP, passed unchanged. In the programs 0 is no outcome.
    NotIp = 1,
    /// Not on the watchlist, passed unchanged.
    NotWatched,
    /// INT was started.
    Started,
    /// INT was removed.
    Stripped,
    /// The D bit was set: the packet ended here.
    Discarded,
    /// Sent through the shim, where INT is started.
    Steered,
    /// Came in without INT.
    NoInt,
    /// Carries INT already, passed unchanged.
    AlreadyInt,
    /// A DSCP that marks INT was cleared in a packet without INT.
    Remarked,
    /// Not readable, passed unchanged.
    Malformed,
    /// Not started, or not removed: the protocol cannot carry this encapsulation on a host.
    NotCarried,
    /// Not started: a fragment.
    Fragment,
    /// Not started: IPv6 extension headers.
    ExtensionHeader,
    /// Not started: a VLAN tag inside the frame.
    VlanTag,
    /// Not started: the fixed headers would exceed the MTU.
    NotStartedMtu,
    /// Not started: a checksum field of 0xffff could not be restored bit for bit.
    NotStartedChecksum,
    /// Several segments in one, which only the shim splits: not started in outgoing packets, dropped in
    /// incoming ones.
    Segments,
    /// The kernel had no room for the change, passed unchanged.
    NoRoom,
    /// An event was sent to the agent.
    Event,
    /// The event was lost: the buffer to the agent was full.
    EventLost,
    /// Not started: there is no proof that the destination removes INT from this flow.
    NoLease,
    /// Reported by this host, and passed unchanged.
    Postcard,
    /// Not started: another packet of the flow has had INT in this interval.
    BetweenSlices,
    /// Not started: too many different path MTUs, or too many flows, to keep apart.
    NotStartedClass,
    /// Not started: the shim is gone or down.
    ShimDown,
    /// Not started: TCP retransmits unacknowledged data.
    Unanswered,
    /// Not started: the agent has not run for a while.
    AgentSilent,
    /// A probe of a peer's agent: INT was removed, and the host does not receive it.
    Probe,
    /// A probe of a peer's agent, dropped because too many arrived at once.
    ProbeShed,
    /// Arrived with INT from an address without a lease, passed unchanged.
    Stranger,
    /// Not started: the application requested a transmit timestamp, and would receive two.
    Timestamped,
    /// A router's message that a datagram with INT was too large for a link. The agent uses it; it ends here,
    /// because the datagram of the application was not too large.
    IntTooBig,
    /// Arrived as several datagrams in one, or behind such: the shim splits them, and INT is removed from
    /// each there.
    TakenApart,
    /// Another agent's answer about a flow of a container of this host. The agent uses it; it ends here.
    Answer,
    /// Sent into the shim by the kernel or another program, and dropped there.
    NotSteered,
}

/// The volumes counted for watched outgoing traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Traffic {
    /// Watched packets, as they are on the wire.
    WatchedPackets,
    /// Their IP bytes, without INT.
    WatchedBytes,
    /// Watched packets that left with INT.
    IntPackets,
    /// Their IP bytes, without INT.
    IntBytes,
}

impl Traffic {
    /// All volumes.
    pub const ALL: [Self; 4] = [Self::WatchedPackets, Self::WatchedBytes, Self::IntPackets, Self::IntBytes];
}

impl Outcome {
    /// All outcomes, in the order of `bpf/intf.h`.
    pub const ALL: [Self; 35] = [
        Self::NotIp,
        Self::NotWatched,
        Self::Started,
        Self::Stripped,
        Self::Discarded,
        Self::Steered,
        Self::NoInt,
        Self::AlreadyInt,
        Self::Remarked,
        Self::Malformed,
        Self::NotCarried,
        Self::Fragment,
        Self::ExtensionHeader,
        Self::VlanTag,
        Self::NotStartedMtu,
        Self::NotStartedChecksum,
        Self::Segments,
        Self::NoRoom,
        Self::Event,
        Self::EventLost,
        Self::NoLease,
        Self::Postcard,
        Self::BetweenSlices,
        Self::NotStartedClass,
        Self::ShimDown,
        Self::Unanswered,
        Self::AgentSilent,
        Self::Probe,
        Self::ProbeShed,
        Self::Stranger,
        Self::Timestamped,
        Self::IntTooBig,
        Self::TakenApart,
        Self::Answer,
        Self::NotSteered,
    ];

    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIp => "not_ip",
            Self::NotWatched => "not_watched",
            Self::Started => "started",
            Self::Stripped => "stripped",
            Self::Discarded => "discarded",
            Self::Steered => "steered",
            Self::NoInt => "no_int",
            Self::AlreadyInt => "already_int",
            Self::Remarked => "remarked",
            Self::Malformed => "malformed",
            Self::NotCarried => "not_carried",
            Self::Fragment => "fragment",
            Self::ExtensionHeader => "extension_header",
            Self::VlanTag => "vlan_tag",
            Self::NotStartedMtu => "not_started_mtu",
            Self::NotStartedChecksum => "not_started_checksum",
            Self::Segments => "segments",
            Self::NoRoom => "no_room",
            Self::Event => "event",
            Self::EventLost => "event_lost",
            Self::NoLease => "no_lease",
            Self::Postcard => "postcard",
            Self::BetweenSlices => "between_slices",
            Self::NotStartedClass => "not_started_class",
            Self::ShimDown => "shim_down",
            Self::Unanswered => "unanswered",
            Self::AgentSilent => "agent_silent",
            Self::Probe => "probe",
            Self::ProbeShed => "probe_shed",
            Self::Stranger => "stranger",
            Self::Timestamped => "timestamped",
            Self::IntTooBig => "int_too_big",
            Self::TakenApart => "taken_apart",
            Self::Answer => "answer",
            Self::NotSteered => "not_steered",
        }
    }
}
