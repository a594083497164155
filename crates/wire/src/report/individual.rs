//! Individual reports.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{ErrorKind, Header, ParseError};
use crate::int::instruction::Instructions;
use crate::int::metadata::{HopMetadata, reserved};
use crate::layers::{Link, Strictness};
use crate::report::first_word::{FIRST_WORD_BYTES, FirstWord, InnerType, ReportType, TO_THE_END};
use crate::report::tlv::Tlvs;
use crate::report::{Deviation, Leniency};
use crate::view::{short, view};
use crate::words::Words;

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

/// Why and at which queue a packet was dropped (RepMdBits bit 15).
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
    /// Offset of the first byte after it.
    pub end: usize,
    /// Its first word.
    pub first_word: &'a FirstWord,
    /// Its deviation from the format; `None` in a strict reading.
    pub deviation: Option<Deviation>,
    is_md_length_wrong: bool,
    main: Option<&'a MainContents>,
    baseline: &'a [u8],
    domain_metadata: &'a [u8],
    inner: &'a [u8],
}

/// RepMdBits bit 15: queue id and drop reason.
pub const DROP_BIT: Instructions = Instructions(0x0001);
/// Length of the fixed main contents of an INT report, bytes.
pub const MAIN_BYTES: usize = size_of::<MainContents>();

impl<'a> IndividualReport<'a> {
    /// Reads the report at byte `at` of the datagram `bytes`.
    ///
    /// # Errors
    /// Lengths that exceed the datagram or contradict each other.
    #[inline(always)]
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
        let (length, mut deviation) = match first_word.report_length() {
            TO_THE_END => (left, None),
            // report-2.0: a report without contents is a mere notification; contents are a deviation.
            0 if leniency == Leniency::Lenient && left >= 4 && first_word.inner_type() != InnerType::None => {
                (left, Some(Deviation::ReportLength0))
            }
            words if leniency == Leniency::Lenient && Words::new(words).bytes() > left => {
                let is_cut = strictness == Strictness::Truncated;
                (left, (!is_cut).then_some(Deviation::ReportLengthPastEnd))
            }
            words => (Words::new(words).bytes(), None),
        };
        if length > left && strictness == Strictness::Whole {
            let kind = ErrorKind::TooLarge { field: "Report Length", found: length / 4, most: left / 4 };
            return Err(ParseError::new(at, Header::IndividualReport, kind));
        }
        let end = contents_at + length.min(left);
        let contents = bytes.get(contents_at..end).unwrap_or_default();
        let mut is_md_length_wrong = false;
        let main = match first_word.report_type() {
            ReportType::Int => Some(Main::parse(contents, at, first_word).or_else(|error| {
                is_md_length_wrong = leniency == Leniency::Lenient;
                Main::around_packet(contents, first_word).filter(|_| is_md_length_wrong).ok_or(error)
            })?),
            ReportType::InnerOnly | ReportType::Ioam | ReportType::Unknown(_) => None,
        };
        // report-2.0/individual-01, report-2.0/individual-07: without main contents the inner contents come
        // first. If the main contents are not defined, the place of the inner contents is not either.
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
            is_md_length_wrong,
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

    /// All deviations from the format; none in a strict reading.
    pub fn deviations(&self) -> impl Iterator<Item = Deviation> + use<> {
        let md_length = self.is_md_length_wrong.then_some(Deviation::MdLength);
        let is_lenient = self.deviation.is_some() || self.is_md_length_wrong;
        let inner =
            (is_lenient && self.ethernet_announced_as_ip()).then_some(Deviation::EthernetAnnouncedAsIp);
        self.deviation
            .into_iter()
            .chain(md_length)
            .chain(inner.filter(|inner| self.deviation != Some(*inner)))
    }

    /// D: at least one packet matching a watchlist was dropped.
    #[must_use]
    pub const fn dropped(&self) -> bool {
        self.first_word.dropped()
    }

    /// Q: the packet met a congested queue.
    #[must_use]
    pub const fn congested_queue(&self) -> bool {
        self.first_word.congested_queue()
    }

    // report-2.0/individual-10
    /// F: the packet belongs to a tracked flow.
    #[must_use]
    pub const fn tracked_flow(&self) -> bool {
        self.first_word.tracked_flow()
    }

    /// I: a transit hop reports the stack collected so far.
    #[must_use]
    pub const fn intermediate(&self) -> bool {
        self.first_word.intermediate()
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
    /// The baseline metadata, without the node id, which is in the group header.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> HopMetadata {
        HopMetadata::read(self.baseline_bits(), self.baseline)
    }

    /// The reserved RepMdBits that are set, 9 to 14, with their metadata; `None` where it was all ones.
    pub fn reserved(&self) -> impl Iterator<Item = (usize, Option<u32>)> + use<'a> {
        reserved(self.baseline_bits(), self.baseline)
    }

    /// RepMdBits whose metadata has the layout of a hop's: all but node id and drop reason.
    fn baseline_bits(&self) -> Instructions {
        self.rep_md_bits().without(Instructions::NODE_ID | DROP_BIT)
    }

    // report-2.0/metadata-03
    /// Queue and drop reason, if the report has them.
    #[must_use]
    pub fn drop(&self) -> Option<Drop> {
        if !self.rep_md_bits().contains(DROP_BIT) {
            return None;
        }
        let [queue_id, reason, _, _] = *self.baseline.last_chunk()?;
        Some(Drop { queue_id, reason })
    }

    // int-2.1/mx-26: here, or in the INT-MX header of the packet fragment.
    /// The domain-specific metadata, in a format defined by the domain.
    #[must_use]
    pub const fn domain_metadata(&self) -> &'a [u8] {
        self.domain_metadata
    }

    // report-2.0/tlv-05: domain-specific data without TLVs is all of them.
    /// The raw inner contents.
    #[must_use]
    pub const fn inner(&self) -> &'a [u8] {
        self.inner
    }

    /// Offset of the inner contents in the datagram.
    #[must_use]
    pub const fn inner_at(&self) -> usize {
        self.end - self.inner.len()
    }

    /// The reported packet as far as it is present, with its link type and its offset in the inner contents.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Option<(Link, &'a [u8], usize)> {
        // If the main contents are not defined, the place of a packet after them is not either.
        if matches!(self.first_word.report_type(), ReportType::Ioam | ReportType::Unknown(_)) {
            return None;
        }
        if (self.deviation.is_some() || self.is_md_length_wrong) && self.ethernet_announced_as_ip() {
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

/// The main contents of an INT report, split by their lengths.
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
        // report-2.0/individual-06, report-2.0/metadata-06: only domain metadata may exceed RepMdBits.
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

impl<'a> Main<'a> {
    /// Splits main contents with an impossible MD Length where the packet starts: after the metadata that
    /// RepMdBits ask for, after MD Length words, or one word later than either.
    #[cold]
    fn around_packet(contents: &'a [u8], first_word: &FirstWord) -> Option<Self> {
        let (fixed, rest) = MainContents::ref_from_prefix(contents).ok()?;
        let asked = Instructions(fixed.rep_md_bits.get()).without(Instructions::NODE_ID).words();
        let said = first_word.md_length().bytes();
        let places = [asked.bytes(), said, asked.bytes() + 4, said + 4];
        let starts = |at: &usize| {
            let inner = rest.get(*at..).filter(|_| *at >= asked.bytes());
            inner.is_some_and(|inner| is_packet(first_word.inner_type(), inner))
        };
        let (metadata, inner) = rest.split_at(places.into_iter().find(starts)?);
        let (baseline, domain_metadata) = metadata.split_at(asked.bytes());
        Some(Self { fixed, baseline, domain_metadata, inner })
    }
}

/// Whether `bytes` start like a packet of that type.
fn is_packet(inner_type: InnerType, bytes: &[u8]) -> bool {
    let version = |at: usize| bytes.get(at).map(|first| first >> 4);
    match inner_type {
        InnerType::Ethernet => match bytes.get(12..14) {
            Some([0x08, 0x00]) => version(14) == Some(4),
            Some([0x86, 0xdd]) => version(14) == Some(6),
            Some([0x81, 0x00] | [0x88, 0xa8]) => true,
            _ => false,
        },
        InnerType::Ipv4 => version(0) == Some(4),
        InnerType::Ipv6 => version(0) == Some(6),
        InnerType::None | InnerType::Tlv | InnerType::DomainExtension | InnerType::Unknown(_) => false,
    }
}

#[cfg(test)]
mod tests;
