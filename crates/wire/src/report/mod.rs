//! Telemetry reports: what INT nodes send to a collector over UDP.
//!
//! A datagram of 2.0 is one [`group`] header and one or more [`individual`] reports of the same node;
//! [`tlv`] reads inner contents in TLV form, [`draft`] writes reports. [`earlier`] holds the versions before 2.0,
//! [`any`] shows a datagram of whichever version.

pub mod any;
pub mod draft;
pub mod earlier;
pub mod first_word;
pub mod group;
pub mod individual;
pub mod tlv;
pub mod version;

pub use any::{AnyIndividual, AnyReport, ReportReading};
pub use draft::Draft;
pub use first_word::{FirstWord, InnerType, ReportType};
pub use group::{GroupHeader, ReportGroup};
pub use individual::{Drop, IndividualReport};
pub use tlv::{Tlv, TlvType};
pub use version::ReportVersion;

/// How strictly a report must follow its format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leniency {
    /// To the letter.
    #[default]
    Strict,
    /// Also as some deployed nodes write it: version 1 in a 2.0 header, a Report Length of 0 with contents
    /// behind it or past the datagram, an MD Length that RepMdBits contradict, Ethernet announced as IPv4, a 1.0
    /// header whose Length does not count it.
    Lenient,
}

/// Where a report departs from its format and was read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// The group header says version 1, the layout is that of 2.0.
    Version1,
    /// Report Length is 0 and contents follow.
    ReportLength0,
    /// Report Length reaches past the end of the datagram.
    ReportLengthPastEnd,
    /// MD Length is not the length that RepMdBits say, or reaches past the report.
    MdLength,
    /// Inner contents announced as IPv4 or IPv6 start with an Ethernet header.
    EthernetAnnouncedAsIp,
    /// Length of a 1.0 report header is less than the header.
    HeaderLength,
}

impl Deviation {
    /// The deviation as a sentence for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version1 => "version 1 in a 2.0 report group header",
            Self::ReportLength0 => "Report Length 0 with contents behind it",
            Self::ReportLengthPastEnd => "Report Length past the end of the datagram",
            Self::MdLength => "MD Length that RepMdBits contradict",
            Self::EthernetAnnouncedAsIp => "Ethernet frame announced as an IP packet",
            Self::HeaderLength => "Length of a 1.0 report header that does not count the header",
        }
    }
}
