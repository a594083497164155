//! Telemetry Report 2.0: what INT nodes send to a collector over UDP.
//!
//! A datagram is one [`group`] header and one or more [`individual`] reports of the same node;
//! [`tlv`] reads inner contents in TLV form, [`draft`] writes reports.

pub mod draft;
pub mod first_word;
pub mod group;
pub mod individual;
pub mod tlv;

pub use draft::Draft;
pub use first_word::{FirstWord, InnerType, ReportType};
pub use group::{GroupHeader, ReportGroup};
pub use individual::{Drop, IndividualReport};
pub use tlv::{Tlv, TlvType};

/// How strictly a report must follow its format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leniency {
    /// To the letter.
    #[default]
    Strict,
    /// Also as some deployed nodes write it: version 1 in a 2.0 header, a Report Length of 0 with contents
    /// behind it, Ethernet announced as IPv4.
    Lenient,
}

/// Where a report departs from its format and was read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// The group header says version 1, the layout is that of 2.0.
    Version1,
    /// Report Length is 0 and contents follow.
    ReportLength0,
    /// Inner contents announced as IPv4 or IPv6 start with an Ethernet header.
    EthernetAnnouncedAsIp,
}

impl Deviation {
    /// The deviation as a sentence for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version1 => "version 1 in a 2.0 report group header",
            Self::ReportLength0 => "Report Length 0 with contents behind it",
            Self::EthernetAnnouncedAsIp => "Ethernet frame announced as an IP packet",
        }
    }
}
