//! What does one individual report say?

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::layers::{Link, Strictness};
use crate::report::tlv::Tlvs;
use crate::report::{Deviation, Leniency};
use crate::view::{short, view};
use crate::words::Words;

/// The first word of an individual report, 4 bytes.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+---------------+---------------+-+-+-+-+-------+
/// |RepType| InType| Report Length |   MD Length   |D|Q|F|I| Rsvd  |
/// +-------+-------+---------------+---------------+-+-+-+-+-------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FirstWord {
    types: u8,
    report_length: u8,
    md_length: u8,
    flags: u8,
}

/// The fixed part of the main contents of an INT report (RepType 1), 8 bytes; metadata follows.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |           RepMdBits           |      Domain Specific ID       |
/// +-------------------------------+-------------------------------+
/// |           DSMdBits            |          DSMdstatus           |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct MainContents {
    /// Which baseline metadata follows.
    pub rep_md_bits: U16,
    /// Domain Specific ID; 0: the default domain.
    pub domain_specific_id: U16,
    /// Which domain-specific metadata follows.
    pub ds_md_bits: U16,
    /// Status bits of the domain.
    pub ds_md_status: U16,
}

/// RepType: what the main contents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportType {
    /// 0: none, only inner contents.
    InnerOnly,
    /// 1: INT metadata.
    Int,
    /// 2: IOAM, whose contents are not defined.
    Ioam,
    /// A reserved value.
    Unknown(u8),
}

/// InType: what the inner contents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InnerType {
    /// 0: none.
    None,
    /// 1: a sequence of TLVs.
    Tlv,
    /// 2: data whose format the Domain Specific ID defines.
    DomainExtension,
    /// 3: a packet from its Ethernet header on.
    Ethernet,
    /// 4: a packet from its IPv4 header on.
    Ipv4,
    /// 5: a packet from its IPv6 header on.
    Ipv6,
    /// A reserved value.
    Unknown(u8),
}

/// Why and where a packet was dropped (RepMdBits bit 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Drop {
    /// The queue, 8 bits.
    pub queue_id: u8,
    /// The drop reason; its meaning depends on the node's table.
    pub reason: u8,
}

/// One individual report, in place.
#[derive(Clone, Copy, Debug)]
pub struct IndividualReport<'a> {
    /// Offset of its first word in the datagram.
    pub at: usize,
    /// Offset of the first byte behind it.
    pub end: usize,
    /// Its first word.
    pub first_word: &'a FirstWord,
    /// Where it departs from the format; `None` in a strict reading.
    pub deviation: Option<Deviation>,
    main: Option<&'a MainContents>,
    baseline: &'a [u8],
    domain_metadata: &'a [u8],
    inner: &'a [u8],
}

/// Report Length that says "to the end of the datagram".
pub const TO_THE_END: u8 = 0xff;
/// RepMdBits bit 15: queue id and drop reason.
pub const DROP_BIT: Instructions = Instructions(0x0001);
/// Length of the first word, bytes.
pub const FIRST_WORD_BYTES: usize = size_of::<FirstWord>();
/// Length of the fixed main contents of an INT report, bytes.
pub const MAIN_BYTES: usize = size_of::<MainContents>();

const DROPPED: u8 = 0x80;
const CONGESTED_QUEUE: u8 = 0x40;
const TRACKED_FLOW: u8 = 0x20;
const INTERMEDIATE: u8 = 0x10;

impl FirstWord {
    /// Creates a first word; lengths are in words, `report_length` without this word.
    #[must_use]
    pub fn new(report_type: ReportType, inner_type: InnerType, report_length: u8, md_length: u8) -> Self {
        Self { types: report_type.code() << 4 | inner_type.code(), report_length, md_length, flags: 0 }
    }

    // report-2.0/individual-08, report-2.0/individual-09, report-2.0/individual-12: the reserved bits stay zero.
    /// Sets the tracking bits D, Q, F and I.
    pub fn set_flags(
        &mut self,
        dropped: bool,
        congested_queue: bool,
        tracked_flow: bool,
        intermediate: bool,
    ) {
        let bit = |set, bit| if set { bit } else { 0 };
        self.flags = bit(dropped, DROPPED)
            | bit(congested_queue, CONGESTED_QUEUE)
            | bit(tracked_flow, TRACKED_FLOW)
            | bit(intermediate, INTERMEDIATE);
    }

    /// What the main contents are.
    #[must_use]
    pub const fn report_type(&self) -> ReportType {
        match self.types >> 4 {
            0 => ReportType::InnerOnly,
            1 => ReportType::Int,
            2 => ReportType::Ioam,
            other => ReportType::Unknown(other),
        }
    }

    // report-2.0/individual-03
    /// What the inner contents are, as announced.
    #[must_use]
    pub const fn inner_type(&self) -> InnerType {
        match self.types & 0x0f {
            0 => InnerType::None,
            1 => InnerType::Tlv,
            2 => InnerType::DomainExtension,
            3 => InnerType::Ethernet,
            4 => InnerType::Ipv4,
            5 => InnerType::Ipv6,
            other => InnerType::Unknown(other),
        }
    }

    /// Length of main and inner contents in words; 0xff: to the end of the datagram.
    #[must_use]
    pub const fn report_length(&self) -> u8 {
        self.report_length
    }

    /// Length of the metadata in the main contents.
    #[must_use]
    pub const fn md_length(&self) -> Words {
        Words::new(self.md_length)
    }
}

impl ReportType {
    const fn code(self) -> u8 {
        match self {
            Self::InnerOnly => 0,
            Self::Int => 1,
            Self::Ioam => 2,
            Self::Unknown(code) => code & 0x0f,
        }
    }
}

impl InnerType {
    const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Tlv => 1,
            Self::DomainExtension => 2,
            Self::Ethernet => 3,
            Self::Ipv4 => 4,
            Self::Ipv6 => 5,
            Self::Unknown(code) => code & 0x0f,
        }
    }
}

impl<'a> IndividualReport<'a> {
    /// Reads the report at byte `at` of the datagram `bytes`.
    ///
    /// # Errors
    /// Lengths that reach past the datagram or contradict one another.
    #[inline]
    pub(crate) fn parse(
        bytes: &'a [u8],
        at: usize,
        leniency: Leniency,
        strictness: Strictness,
    ) -> Result<Self, ParseError> {
        let first_word: &FirstWord = view(bytes, at, Header::IndividualReport)?;
        let contents_at = at + FIRST_WORD_BYTES;
        let left = bytes.len() - contents_at;
        // report-2.0/individual-04, report-2.0/individual-05
        let (length, mut deviation) = match first_word.report_length {
            TO_THE_END => (left, None),
            // report-2.0: a report without contents is a mere notification; contents behind it are a deviation.
            0 if leniency == Leniency::Lenient && left >= 4 && first_word.inner_type() != InnerType::None => {
                (left, Some(Deviation::ReportLength0))
            }
            words => (Words::new(words).bytes(), None),
        };
        if length > left && strictness == Strictness::Whole {
            let kind = ErrorKind::TooLarge { field: "Report Length", found: length / 4, most: left / 4 };
            return Err(ParseError::new(at, Header::IndividualReport, kind));
        }
        let end = contents_at + length.min(left);
        let contents = bytes.get(contents_at..end).unwrap_or_default();
        let main = match first_word.report_type() {
            ReportType::Int => Some(Main::parse(contents, at, first_word)?),
            ReportType::InnerOnly | ReportType::Ioam | ReportType::Unknown(_) => None,
        };
        // report-2.0/individual-01, report-2.0/individual-07: without main contents the inner ones come first.
        // Where the main contents are not defined, neither is the place of the inner contents.
        let inner = match (&main, first_word.report_type()) {
            (Some(main), _) => main.inner,
            (None, ReportType::InnerOnly) => contents,
            (None, _) => &[],
        };
        let mut report = Self {
            at,
            end,
            first_word,
            deviation: None,
            main: main.as_ref().map(|main| main.fixed),
            baseline: main.as_ref().map_or(&[], |main| main.baseline),
            domain_metadata: main.as_ref().map_or(&[], |main| main.domain_metadata),
            inner,
        };
        if leniency == Leniency::Lenient && deviation.is_none() && report.ethernet_announced_as_ip() {
            deviation = Some(Deviation::EthernetAnnouncedAsIp);
        }
        report.deviation = deviation;
        Ok(report)
    }

    /// D: at least one packet matching a watchlist was dropped.
    #[must_use]
    pub const fn dropped(&self) -> bool {
        self.first_word.flags & DROPPED != 0
    }

    /// Q: the packet met a congested queue.
    #[must_use]
    pub const fn congested_queue(&self) -> bool {
        self.first_word.flags & CONGESTED_QUEUE != 0
    }

    // report-2.0/individual-10
    /// F: the packet belongs to a tracked flow.
    #[must_use]
    pub const fn tracked_flow(&self) -> bool {
        self.first_word.flags & TRACKED_FLOW != 0
    }

    /// I: a transit hop reports the stack collected so far.
    #[must_use]
    pub const fn intermediate(&self) -> bool {
        self.first_word.flags & INTERMEDIATE != 0
    }

    /// RepMdBits; zero where the report has no INT main contents.
    #[must_use]
    pub fn rep_md_bits(&self) -> Instructions {
        Instructions(self.main.map_or(0, |main| main.rep_md_bits.get()))
    }

    /// Domain Specific ID; 0: the default domain.
    #[must_use]
    pub fn domain_specific_id(&self) -> u16 {
        self.main.map_or(0, |main| main.domain_specific_id.get())
    }

    /// DSMdBits.
    #[must_use]
    pub fn ds_md_bits(&self) -> u16 {
        self.main.map_or(0, |main| main.ds_md_bits.get())
    }

    // report-2.0/metadata-01, report-2.0/metadata-02
    /// The baseline metadata; its node id is the group header's and not repeated here.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        let baseline = self.rep_md_bits().without(Instructions::NODE_ID | DROP_BIT);
        HopMetadata::read(baseline, self.baseline)
    }

    // report-2.0/metadata-03
    /// Queue and drop reason, where the report gives them.
    #[must_use]
    pub fn drop(&self) -> Option<Drop> {
        if !self.rep_md_bits().contains(DROP_BIT) {
            return None;
        }
        let [queue_id, reason, _, _] = *self.baseline.last_chunk()?;
        Some(Drop { queue_id, reason })
    }

    /// The domain-specific metadata; its format is known to the domain only.
    #[must_use]
    pub const fn domain_metadata(&self) -> &'a [u8] {
        self.domain_metadata
    }

    // report-2.0/tlv-05: domain-specific data without TLVs is all of them.
    /// The inner contents as they stand.
    #[must_use]
    pub const fn inner(&self) -> &'a [u8] {
        self.inner
    }

    /// Offset of the inner contents in the datagram.
    #[must_use]
    pub const fn inner_at(&self) -> usize {
        self.end - self.inner.len()
    }

    /// The reported packet, or the part of it that is here, with what it starts with and its offset in the
    /// inner contents.
    #[must_use]
    pub fn packet(&self) -> Option<(Link, &'a [u8], usize)> {
        // Where the main contents are not defined, neither is the place of a packet behind them.
        if matches!(self.first_word.report_type(), ReportType::Ioam | ReportType::Unknown(_)) {
            return None;
        }
        if self.deviation.is_some() && self.ethernet_announced_as_ip() {
            return Some((Link::Ethernet, self.inner, 0));
        }
        match self.first_word.inner_type() {
            InnerType::Ethernet => Some((Link::Ethernet, self.inner, 0)),
            InnerType::Ipv4 | InnerType::Ipv6 => Some((Link::Ip, self.inner, 0)),
            InnerType::Tlv => self.tlvs().flatten().find_map(|tlv| {
                let (link, packet) = tlv.packet()?;
                Some((link, packet, tlv.data_at))
            }),
            InnerType::None | InnerType::DomainExtension | InnerType::Unknown(_) => None,
        }
    }

    /// The TLVs of inner contents in TLV form; empty for other inner contents.
    #[must_use]
    pub fn tlvs(&self) -> Tlvs<'a> {
        let bytes = match self.first_word.inner_type() {
            InnerType::Tlv => self.inner,
            _ => &[],
        };
        Tlvs::new(bytes)
    }

    fn ethernet_announced_as_ip(&self) -> bool {
        let version = match self.first_word.inner_type() {
            InnerType::Ipv4 => 4,
            InnerType::Ipv6 => 6,
            _ => return false,
        };
        self.inner.first().is_some_and(|first| first >> 4 != version)
    }
}

/// The main contents of an INT report, split at their lengths.
struct Main<'a> {
    fixed: &'a MainContents,
    baseline: &'a [u8],
    domain_metadata: &'a [u8],
    inner: &'a [u8],
}

impl<'a> Main<'a> {
    #[inline]
    fn parse(contents: &'a [u8], at: usize, first_word: &FirstWord) -> Result<Self, ParseError> {
        let fault = |kind| Err(ParseError::new(at, Header::IndividualReport, kind));
        let Ok((fixed, rest)) = MainContents::ref_from_prefix(contents) else {
            return Err(short(at, Header::IndividualReport, MAIN_BYTES, contents.len()));
        };
        let md_length = first_word.md_length();
        if md_length.bytes() > rest.len() {
            let found = usize::from(md_length.count());
            return fault(ErrorKind::TooLarge { field: "MD Length", found, most: rest.len() / 4 });
        }
        let asked = Instructions(fixed.rep_md_bits.get()).without(Instructions::NODE_ID).words();
        let domain_words = md_length.checked_sub(asked);
        // report-2.0/individual-06, report-2.0/metadata-06: only domain-specific metadata may make the metadata longer than RepMdBits say.
        let has_domain_metadata = fixed.domain_specific_id.get() != 0 && fixed.ds_md_bits.get() != 0;
        if domain_words.is_none_or(|words| words.count() > 0 && !has_domain_metadata) {
            let (found, expected) = (usize::from(md_length.count()), usize::from(asked.count()));
            return fault(ErrorKind::Mismatch { field: "MD Length", found, expected });
        }
        // report-2.0/individual-02, report-2.0/metadata-07
        let (metadata, inner) = rest.split_at(md_length.bytes());
        let (baseline, domain_metadata) = metadata.split_at(asked.bytes());
        Ok(Self { fixed, baseline, domain_metadata, inner })
    }
}

#[cfg(test)]
mod tests;
