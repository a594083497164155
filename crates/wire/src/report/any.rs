//! Report datagrams of any version.

use crate::dissect::{Dissection, dissect_into};
use crate::error::ParseError;
use crate::int::code_points::CodePoints;
use crate::int::metadata::HopMetadata;
use crate::layers::{Link, Strictness};
use crate::report::earlier::{DropSummary, EarlierReport, SinkNodeId, read};
use crate::report::group::{ReportGroup, Reports};
use crate::report::individual::{Drop, IndividualReport};
use crate::report::version::ReportVersion;
use crate::report::{Deviation, Leniency};

/// A datagram of reports, of any version.
#[derive(Clone, Copy, Debug)]
pub enum AnyReport<'a> {
    /// A group of 2.0 reports.
    Group(ReportGroup<'a>),
    /// The single report in a datagram of an older version.
    Single(EarlierReport<'a>),
}

/// How a report datagram is read.
#[derive(Clone, Copy, Debug)]
pub struct ReportReading {
    /// How strictly it must follow its format.
    pub leniency: Leniency,
    /// Whether it may be truncated.
    pub strictness: Strictness,
    /// Whether Host-INT's latency reports have an extra word with the sink's node id.
    pub sink_node_id: SinkNodeId,
}

impl Default for ReportReading {
    fn default() -> Self {
        Self { leniency: Leniency::Strict, strictness: Strictness::Whole, sink_node_id: SinkNodeId::Auto }
    }
}

impl<'a> AnyReport<'a> {
    /// Reads the UDP payload `bytes` strictly.
    ///
    /// # Errors
    /// A datagram of an unknown version, or one that is invalid in its version.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::parse_with(bytes, ReportReading::default())
    }

    /// Reads the UDP payload `bytes`; its first four bits are the version.
    ///
    /// # Errors
    /// A datagram of an unknown version, or one that is invalid in its version.
    #[inline]
    pub fn parse_with(bytes: &'a [u8], reading: ReportReading) -> Result<Self, ParseError> {
        let ReportReading { leniency, strictness, sink_node_id } = reading;
        match bytes.first().map(|first| first >> 4) {
            Some(0) => read(bytes, leniency, strictness, sink_node_id).map(Self::Single),
            Some(1) => Self::parse_version_1(bytes, reading),
            _ => ReportGroup::parse_with(bytes, leniency, strictness).map(Self::Group),
        }
    }

    /// Reads a datagram of version 1: 1.0, or a 2.0 group header with the wrong version, recognised by a 1.0
    /// Length of 0.
    fn parse_version_1(bytes: &'a [u8], reading: ReportReading) -> Result<Self, ParseError> {
        let ReportReading { leniency, strictness, sink_node_id } = reading;
        let is_group = leniency == Leniency::Lenient && bytes.first().is_some_and(|first| first & 0x0f == 0);
        if is_group {
            return ReportGroup::parse_with(bytes, leniency, strictness).map(Self::Group);
        }
        read(bytes, leniency, strictness, sink_node_id).map(Self::Single)
    }

    /// The version of the format.
    #[must_use]
    pub const fn version(&self) -> ReportVersion {
        match self {
            Self::Group(_) => ReportVersion::V2_0,
            Self::Single(report) => report.version,
        }
    }

    /// The reporting node; `None` when only the sender's address or the stack in the packet identifies it.
    #[inline]
    #[must_use]
    pub fn node_id(&self) -> Option<u32> {
        match self {
            Self::Group(group) => Some(group.header.node_id()),
            Self::Single(report) => report.node_id,
        }
    }

    /// Which part of the node's hardware sent the datagram, 0 to 63.
    #[inline]
    #[must_use]
    pub fn hw_id(&self) -> u8 {
        match self {
            Self::Group(group) => group.header.hw_id(),
            Self::Single(report) => report.hw_id,
        }
    }

    /// Number of the datagram; wraps after [`ReportVersion::sequence_bits`] bits.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u32 {
        match self {
            Self::Group(group) => group.header.sequence(),
            Self::Single(report) => report.sequence,
        }
    }

    /// Deviation of the header from the format; `None` in a strict reading.
    #[must_use]
    pub const fn deviation(&self) -> Option<Deviation> {
        match self {
            Self::Group(group) => group.deviation,
            Self::Single(report) => report.deviation,
        }
    }

    /// Counts the reports of the datagram.
    ///
    /// # Errors
    /// The first that cannot be read.
    #[inline]
    pub fn count_reports(&self) -> Result<u64, ParseError> {
        match self {
            Self::Group(group) => group.reports().try_fold(0, |count, report| report.map(|_| count + 1)),
            Self::Single(_) => Ok(1),
        }
    }

    /// Iterates over the reports of the datagram; ends after the first that cannot be read.
    #[inline]
    #[must_use]
    pub fn reports(&self) -> AnyReports<'a> {
        match self {
            Self::Group(group) => AnyReports::Group(group.reports()),
            Self::Single(report) => AnyReports::Single(Some(*report)),
        }
    }
}

/// The reports of one datagram, in order.
#[derive(Clone, Debug)]
pub enum AnyReports<'a> {
    /// 2.0 reports.
    Group(Reports<'a>),
    /// One report of an older version; `None` once returned.
    Single(Option<EarlierReport<'a>>),
}

impl<'a> Iterator for AnyReports<'a> {
    type Item = Result<AnyIndividual<'a>, ParseError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Group(reports) => Some(reports.next()?.map(AnyIndividual::Individual)),
            Self::Single(report) => report.take().map(|report| Ok(AnyIndividual::Single(report))),
        }
    }
}

/// One report, of any version.
#[derive(Clone, Copy, Debug)]
pub enum AnyIndividual<'a> {
    /// An individual 2.0 report.
    Individual(IndividualReport<'a>),
    /// A report of an older version.
    Single(EarlierReport<'a>),
}

impl<'a> AnyIndividual<'a> {
    /// D: at least one packet was dropped.
    #[inline]
    #[must_use]
    pub const fn dropped(&self) -> bool {
        match self {
            Self::Individual(report) => report.dropped(),
            Self::Single(report) => report.dropped,
        }
    }

    /// Q: the packet met a congested queue.
    #[inline]
    #[must_use]
    pub const fn congested_queue(&self) -> bool {
        match self {
            Self::Individual(report) => report.congested_queue(),
            Self::Single(report) => report.congested_queue,
        }
    }

    /// F: the packet belongs to a tracked flow.
    #[inline]
    #[must_use]
    pub const fn tracked_flow(&self) -> bool {
        match self {
            Self::Individual(report) => report.tracked_flow(),
            Self::Single(report) => report.tracked_flow,
        }
    }

    /// I: a transit hop reports the stack collected so far; exists only in 2.0.
    #[inline]
    #[must_use]
    pub const fn intermediate(&self) -> bool {
        match self {
            Self::Individual(report) => report.intermediate(),
            Self::Single(_) => false,
        }
    }

    /// The node's own metadata for the packet, without its id; [`ReportVersion::timestamp_bits`] is the width
    /// of its timestamps.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        match self {
            Self::Individual(report) => report.metadata(),
            Self::Single(report) => report.metadata,
        }
    }

    /// Queue and drop reason, if the report has them.
    #[inline]
    #[must_use]
    pub fn drop(&self) -> Option<Drop> {
        match self {
            Self::Individual(report) => report.drop(),
            Self::Single(report) => report.drop,
        }
    }

    /// Host-INT: the lost packets of a flow.
    #[must_use]
    pub const fn drop_summary(&self) -> Option<&'a DropSummary> {
        match self {
            Self::Individual(_) => None,
            Self::Single(report) => report.drop_summary,
        }
    }

    /// The reported packet as far as it is present, with its link type and its offset in the datagram.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Option<(Link, &'a [u8], usize)> {
        match self {
            Self::Individual(report) => {
                let (link, packet, at) = report.packet()?;
                Some((link, packet, report.inner_at() + at))
            }
            Self::Single(report) => {
                let (link, packet) = report.packet?;
                Some((link, packet, report.packet_at))
            }
        }
    }

    /// The flow of the packet and its INT headers; offsets count from the packet's start.
    #[must_use]
    pub fn dissect(&self, code_points: &CodePoints<'_>) -> Dissection {
        let mut dissection = Dissection::default();
        self.dissect_into(code_points, &mut dissection);
        dissection
    }

    /// Like [`Self::dissect`], but fills an existing dissection.
    #[inline]
    pub fn dissect_into(&self, code_points: &CodePoints<'_>, dissection: &mut Dissection) {
        match self {
            Self::Individual(report) => match report.packet() {
                Some((link, packet, _)) => {
                    dissect_into(dissection, link, packet, code_points, Strictness::Truncated);
                }
                None => *dissection = Dissection::default(),
            },
            Self::Single(report) => *dissection = report.dissect(code_points),
        }
    }
}

#[cfg(test)]
mod tests;
