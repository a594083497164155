//! Telemetry reports: what INT nodes send to a collector over UDP.
//!
//! A 2.0 datagram is one [`group`] header and one or more [`individual`] reports of the same node; [`tlv`]
//! reads inner contents in TLV form, [`draft`] writes reports. [`earlier`] contains the versions before 2.0,
//! [`any`] covers datagrams of all versions.

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
    /// As specified.
    #[default]
    Strict,
    /// Including the deviations of some deployed nodes: version 1 in a 2.0 header, a Report Length of 0 with
    /// contents after it or past the datagram, an MD Length that contradicts RepMdBits, Ethernet announced as
    /// IPv4, a 1.0 header whose Length does not include it.
    Lenient,
}

/// An accepted deviation of a report from its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// The group header has version 1 and the layout of 2.0.
    Version1,
    /// Report Length is 0 and contents follow.
    ReportLength0,
    /// Report Length reaches past the end of the datagram.
    ReportLengthPastEnd,
    /// MD Length differs from the length that RepMdBits imply, or exceeds the report.
    MdLength,
    /// Inner contents announced as IPv4 or IPv6 start with an Ethernet header.
    EthernetAnnouncedAsIp,
    /// Length of a 1.0 report header is less than the header's length.
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
