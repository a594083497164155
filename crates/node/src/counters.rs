//! What happened to the packets, counted by name.

/// What can happen to a packet in a node.
///
/// Every packet counts exactly once among the *fates*; the other outcomes say why, and may come on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Outcome {
    /// Fate: not IP, forwarded as it came.
    NotIp,
    /// Fate: without INT, forwarded as it came.
    NoInt,
    /// Fate: INT was started.
    Started,
    /// Fate: a transit hop's work was done, whether or not metadata was added.
    Transit,
    /// Fate: INT was removed.
    Stripped,
    /// Fate: the D bit was set, so the sink discarded it.
    Discarded,
    /// Fate: the C bit was set, so the sink discarded it: another node had made a copy of it.
    CopyDiscarded,
    /// Fate: marked as INT but not readable, forwarded as it came.
    Malformed,
    /// Fate: it came with INT by an interface that accepts none, and was dropped.
    IntFromEdge,
    /// Fate: its INT is of a version that the sink does not know, and it was dropped.
    UnknownVersion,
    /// Fate: the sink could not take all INT out and restore what was there before, and dropped it.
    NotStripped,
    /// Fate: the device dropped it.
    Dropped,
    /// Metadata was added to the stack.
    Pushed,
    /// No metadata: no hop was left, E was set.
    HopsExceeded,
    /// No metadata: the egress MTU would be exceeded, M was set.
    MtuExceeded,
    /// The egress MTU would be exceeded: the stack was reported and removed to make room.
    IntermediateReport,
    /// No metadata: a reserved instruction bit is set.
    ReservedInstruction,
    /// No metadata: the Domain Specific ID is not known.
    UnknownDomain,
    /// No metadata: the shim's length field cannot grow further.
    StackFull,
    /// No metadata: the buffer has no headroom.
    NoHeadroom,
    /// Not started: the protocol cannot carry this encapsulation.
    NotCarried,
    /// Not started: the fixed headers would exceed the egress MTU.
    NotStartedMtu,
    /// Not started: the length of a shim, option or tunnel header has no room for the fixed headers.
    NotStartedLength,
    /// Not started: a checksum field of 0xffff could not be restored bit for bit.
    NotStartedChecksum,
    /// Not started: the buffer has no headroom.
    NotStartedHeadroom,
    /// Not started: the traffic is not known to be congestion controlled.
    NotStartedCongestion,
    /// A DSCP that marks INT was cleared on a packet without INT.
    Remarked,
    /// The sequence number of a flow was forgotten, because others took its place.
    FlowForgotten,
    /// A watched packet was copied, and INT was started in the copy.
    Cloned,
    /// A copy was lost: too many waited to be sent.
    CloneShed,
    /// A packet that asked for it was copied for another interface, with C set.
    Replicated,
    /// A follow-up packet was made of a packet that went ahead without this node's metadata.
    FollowedUp,
    /// A copy, replica or follow-up, was lost: too many waited to be sent.
    CopyShed,
    /// A probe was made.
    ProbeMade,
    /// A probe was lost: too many waited to be sent.
    ProbeShed,
    /// The sender of a packet was told that INT makes it too big.
    IcmpSent,
    /// It was not told: it cannot help it, or such a packet may not be answered.
    IcmpWithheld,
    /// It was not told: there were too many messages.
    IcmpLimited,
    /// A message was lost: too many waited to be sent.
    IcmpShed,
    /// Packets of a numbered flow are missing, and have been for the hold time.
    LossFound,
    /// A report was queued.
    Reported,
    /// A report was lost: the queue was full.
    ReportShed,
    /// A report was not made: the packet's INT does not fit the path MTU to the collector.
    ReportMtuExceeded,
    /// A report was not made: its session has had enough of them within a second.
    ReportLimited,
    /// A report was not made: its flow was reported less than an interval ago, and nothing has changed.
    ReportWithheld,
    /// A packet in a congested queue was not reported: the quota of the queue is used up.
    QueueOverQuota,
}

impl Outcome {
    /// All outcomes, in the order they are shown.
    pub const ALL: [Self; 46] = [
        Self::NotIp,
        Self::NoInt,
        Self::Started,
        Self::Transit,
        Self::Stripped,
        Self::Discarded,
        Self::CopyDiscarded,
        Self::Malformed,
        Self::IntFromEdge,
        Self::UnknownVersion,
        Self::NotStripped,
        Self::Dropped,
        Self::Pushed,
        Self::HopsExceeded,
        Self::MtuExceeded,
        Self::IntermediateReport,
        Self::ReservedInstruction,
        Self::UnknownDomain,
        Self::StackFull,
        Self::NoHeadroom,
        Self::NotCarried,
        Self::NotStartedMtu,
        Self::NotStartedLength,
        Self::NotStartedChecksum,
        Self::NotStartedHeadroom,
        Self::NotStartedCongestion,
        Self::Remarked,
        Self::FlowForgotten,
        Self::Cloned,
        Self::CloneShed,
        Self::Replicated,
        Self::FollowedUp,
        Self::CopyShed,
        Self::ProbeMade,
        Self::ProbeShed,
        Self::IcmpSent,
        Self::IcmpWithheld,
        Self::IcmpLimited,
        Self::IcmpShed,
        Self::LossFound,
        Self::Reported,
        Self::ReportShed,
        Self::ReportMtuExceeded,
        Self::ReportLimited,
        Self::ReportWithheld,
        Self::QueueOverQuota,
    ];

    /// The outcomes of which every packet has exactly one.
    pub const FATES: [Self; 12] = [
        Self::NotIp,
        Self::NoInt,
        Self::Started,
        Self::Transit,
        Self::Stripped,
        Self::Discarded,
        Self::CopyDiscarded,
        Self::Malformed,
        Self::IntFromEdge,
        Self::UnknownVersion,
        Self::NotStripped,
        Self::Dropped,
    ];

    /// Whether it is the fate of a packet that this node drops.
    pub(crate) const fn is_drop(self) -> bool {
        matches!(self, Self::IntFromEdge | Self::UnknownVersion | Self::NotStripped)
    }

    /// The name users read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIp => "not_ip",
            Self::NoInt => "no_int",
            Self::Started => "started",
            Self::Transit => "transit",
            Self::Stripped => "stripped",
            Self::Discarded => "discarded",
            Self::CopyDiscarded => "copy_discarded",
            Self::Malformed => "malformed",
            Self::IntFromEdge => "int_from_edge",
            Self::UnknownVersion => "unknown_version",
            Self::NotStripped => "not_stripped",
            Self::Dropped => "dropped",
            Self::Pushed => "pushed",
            Self::HopsExceeded => "hops_exceeded",
            Self::MtuExceeded => "mtu_exceeded",
            Self::IntermediateReport => "intermediate_report",
            Self::ReservedInstruction => "reserved_instruction",
            Self::UnknownDomain => "unknown_domain",
            Self::StackFull => "stack_full",
            Self::NoHeadroom => "no_headroom",
            Self::NotCarried => "not_carried",
            Self::NotStartedMtu => "not_started_mtu",
            Self::NotStartedLength => "not_started_length",
            Self::NotStartedChecksum => "not_started_checksum",
            Self::NotStartedHeadroom => "not_started_headroom",
            Self::NotStartedCongestion => "not_started_congestion",
            Self::Remarked => "remarked",
            Self::FlowForgotten => "flow_forgotten",
            Self::Cloned => "cloned",
            Self::CloneShed => "clone_shed",
            Self::Replicated => "replicated",
            Self::FollowedUp => "followed_up",
            Self::CopyShed => "copy_shed",
            Self::ProbeMade => "probe_made",
            Self::ProbeShed => "probe_shed",
            Self::IcmpSent => "icmp_sent",
            Self::IcmpWithheld => "icmp_withheld",
            Self::IcmpLimited => "icmp_limited",
            Self::IcmpShed => "icmp_shed",
            Self::LossFound => "loss_found",
            Self::Reported => "reported",
            Self::ReportShed => "report_shed",
            Self::ReportMtuExceeded => "report_mtu_exceeded",
            Self::ReportLimited => "report_limited",
            Self::ReportWithheld => "report_withheld",
            Self::QueueOverQuota => "queue_over_quota",
        }
    }
}

/// How often each outcome happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters([u64; Outcome::ALL.len()]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; Outcome::ALL.len()])
    }
}

impl Counters {
    /// How often `outcome` happened.
    #[must_use]
    pub fn get(&self, outcome: Outcome) -> u64 {
        self.0.get(outcome as usize).copied().unwrap_or(0)
    }

    /// All outcomes with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Outcome, u64)> + '_ {
        Outcome::ALL.into_iter().map(|outcome| (outcome, self.get(outcome)))
    }

    /// Packets handled: the sum of all fates.
    #[must_use]
    pub fn packets(&self) -> u64 {
        Outcome::FATES.into_iter().map(|fate| self.get(fate)).sum()
    }

    pub(crate) fn add(&mut self, outcome: Outcome, times: u64) {
        if let Some(count) = self.0.get_mut(outcome as usize) {
            *count += times;
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, outcome: Outcome) {
        if let Some(count) = self.0.get_mut(outcome as usize) {
            *count += 1;
        }
    }
}
