//! The first word of an individual report: kind, length, flags.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

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
    /// 2: data in a format that the Domain Specific ID defines.
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

/// Report Length for "to the end of the datagram".
pub const TO_THE_END: u8 = 0xff;
/// Length of the first word, bytes.
pub const FIRST_WORD_BYTES: usize = size_of::<FirstWord>();
const DROPPED: u8 = 0x80;
const CONGESTED_QUEUE: u8 = 0x40;
const TRACKED_FLOW: u8 = 0x20;
const INTERMEDIATE: u8 = 0x10;

impl FirstWord {
    /// Creates a first word; lengths are in words, `report_length` excludes this word.
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

    /// D: at least one packet matching a watchlist was dropped.
    // report-2.0/individual-08
    #[must_use]
    pub const fn dropped(&self) -> bool {
        self.flags & DROPPED != 0
    }

    /// Q: the packet met a congested queue.
    // report-2.0/individual-09
    #[must_use]
    pub const fn congested_queue(&self) -> bool {
        self.flags & CONGESTED_QUEUE != 0
    }

    /// F: the packet belongs to a tracked flow.
    // report-2.0/individual-10
    #[must_use]
    pub const fn tracked_flow(&self) -> bool {
        self.flags & TRACKED_FLOW != 0
    }

    /// I: a transit hop reports the stack collected so far.
    // report-2.0/individual-11
    #[must_use]
    pub const fn intermediate(&self) -> bool {
        self.flags & INTERMEDIATE != 0
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
