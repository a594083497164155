//! Packet counters, by name.

/// The outcome of a packet in a node.
///
/// Every packet counts exactly once among the *fates*; the other outcomes give reasons and may come in
/// addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Outcome {
    /// Fate: not IP, forwarded unchanged.
    NotIp,
    /// Fate: without INT, forwarded unchanged.
    NoInt,
    /// Fate: INT was started.
    Started,
    /// Fate: processed as a transit hop, whether or not metadata was added.
    Transit,
    /// Fate: INT was removed.
    Stripped,
    /// Fate: the D bit was set, so the sink discarded it.
    Discarded,
    /// Fate: the C bit was set, so the sink discarded it as a copy.
    CopyDiscarded,
    /// Fate: marked as INT but not readable, forwarded unchanged.
    Malformed,
    /// Fate: dropped, because it carries INT and its ingress interface accepts none.
    IntFromEdge,
    /// Fate: dropped, because the sink does not know its INT version.
    UnknownVersion,
    /// Fate: dropped, because the sink could not remove all INT and restore the original.
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
    /// No metadata: the Domain Specific ID is unknown.
    UnknownDomain,
    /// No metadata: the length field of the shim, of IP or of UDP cannot grow further.
    StackFull,
    /// No metadata: the buffer has no headroom.
    NoHeadroom,
    /// Not started: the protocol cannot carry this encapsulation.
    NotCarried,
    /// Not started: the fixed headers would exceed the egress MTU.
    NotStartedMtu,
    /// Not started: a length field has no room: of a shim, option or tunnel header for the fixed headers, of
    /// IP or UDP for those and the source's metadata.
    NotStartedLength,
    /// Not started: a checksum field of 0xffff could not be restored bit for bit.
    NotStartedChecksum,
    /// Not started: the buffer has no headroom.
    NotStartedHeadroom,
    /// Not started: the traffic is not known to be congestion controlled.
    NotStartedCongestion,
    /// A DSCP that marks INT was cleared on a packet without INT.
    Remarked,
    /// The sequence number of a flow was evicted in favor of another flow.
    FlowForgotten,
    /// A watched packet was copied, and INT was started in the copy.
    Cloned,
    /// A copy was shed: too many were pending.
    CloneShed,
    /// A packet was replicated to another interface, as it requested, with C set.
    Replicated,
    /// A follow-up packet was created for a packet that was forwarded without this node's metadata.
    FollowedUp,
    /// A copy, replica or follow-up, was shed: too many were pending.
    CopyShed,
    /// A probe was generated.
    ProbeMade,
    /// A probe was shed: too many were pending.
    ProbeShed,
    /// A "too big" message was sent: INT makes the packet exceed the MTU.
    IcmpSent,
    /// No "too big" message: the sender cannot act on it, or such a packet may not be answered.
    IcmpWithheld,
    /// No "too big" message: the rate limit was reached.
    IcmpLimited,
    /// A "too big" message was shed: too many were pending.
    IcmpShed,
    /// Packets of a numbered flow are missing, and have been for the hold time.
    LossFound,
    /// A report was queued.
    Reported,
    /// A report was shed: the queue was full.
    ReportShed,
    /// A report was suppressed: the packet's INT does not fit the path MTU to the collector.
    ReportMtuExceeded,
    /// A report was suppressed: its session has reached its rate limit.
    ReportLimited,
    /// A report was suppressed: its flow was reported less than an interval ago and is unchanged.
    ReportWithheld,
    /// A packet in a congested queue was not reported: the queue's quota is exhausted.
    QueueOverQuota,
}

impl Outcome {
    /// All outcomes, in display order.
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

    /// The fates: every packet has exactly one.
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

    /// The displayed name.
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

/// A counter per outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters([u64; Outcome::ALL.len()]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; Outcome::ALL.len()])
    }
}

impl Counters {
    /// The count of `outcome`.
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
