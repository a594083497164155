//! What happened to the packets, counted by name?

/// What can become of a packet in one of the programs; each packet counts once, and its event beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Outcome {
    /// Not IP, passed as it came.
    NotIp,
    /// Not on the watchlist, passed as it came.
    NotWatched,
    /// INT was started.
    Started,
    /// INT was removed.
    Stripped,
    /// The D bit was set, so the packet ended here.
    Discarded,
    /// Sent through the shim, where INT is started.
    Steered,
    /// Came in without INT.
    NoInt,
    /// Carries INT already, passed as it came.
    AlreadyInt,
    /// A DSCP that marks INT was cleared on a packet without INT.
    Remarked,
    /// Not readable, passed as it came.
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
    /// Several segments in one, which only the shim takes apart: not started in what leaves, dropped where they came in.
    Segments,
    /// The kernel had no room for the change, passed as it came.
    NoRoom,
    /// The agent was told of the packet.
    Event,
    /// The agent was not told: too much waited for it.
    EventLost,
    /// Not started: it is not proven that the destination removes INT from this flow.
    NoLease,
    /// Reported by this host, and passed as it came.
    Postcard,
    /// Not started: another packet of the flow has had INT in this interval.
    BetweenSlices,
    /// Not started: more combinations of priority and path MTU, or more flows, than can be kept apart.
    NotStartedClass,
    /// Passed the shim without INT, behind a packet of its flow that has it, so that their order stays.
    Followed,
    /// Not started: the shim is gone or down.
    ShimDown,
    /// Not started: TCP repeats what nobody has acknowledged.
    Unanswered,
    /// Not started: the agent has not been at work for a while.
    AgentSilent,
    /// A probe of another agent; INT was removed from it, and it ends here.
    Probe,
    /// A probe of another agent, of which there were too many at a time; it ends here.
    ProbeShed,
    /// Came in with INT, from an address that has no lease; passed as it came.
    Stranger,
    /// Not started: the application wants to be told when the packet leaves, and would be told twice.
    Timestamped,
    /// A router's message that a datagram with INT was too large for a link. The agent uses it; it ends here, because
    /// what the application sent was not too large.
    IntTooBig,
    /// Came in as several datagrams in one, or behind such: the shim takes them apart, and INT is removed from each there.
    TakenApart,
    /// Another agent's answer about a flow of a container of this host. The agent uses it; it ends here.
    Answer,
    /// Not started: as many packets of the flow are in the shim as its processor takes without dropping some.
    ShimFull,
}

/// What is counted of watched traffic on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Traffic {
    /// Packets that were watched, as they are on the wire.
    WatchedPackets,
    /// Their IP bytes, without INT.
    WatchedBytes,
    /// Those of them that left with INT.
    IntPackets,
    /// Their IP bytes, without INT.
    IntBytes,
}

impl Traffic {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::WatchedPackets, Self::WatchedBytes, Self::IntPackets, Self::IntBytes];
}

impl Outcome {
    /// All outcomes, in the order of `bpf/intf.h`.
    pub const ALL: [Self; 36] = [
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
        Self::Followed,
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
        Self::ShimFull,
    ];

    /// The name users read.
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
            Self::Followed => "followed",
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
            Self::ShimFull => "shim_full",
        }
    }
}
