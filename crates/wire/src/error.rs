//! Parse errors: the faulty header, its byte, and the fault.

use core::fmt;

use crate::words::Words;

/// Why bytes could not be read as the header they claim to be.
///
/// Prints as a sentence: `INT-MD header at byte 54: 12 bytes needed, 7 left`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseError {
    /// Offset of the faulty header in the bytes being read.
    pub at: usize,
    /// The header that was being read.
    pub header: Header,
    /// What was wrong with it.
    pub kind: ErrorKind,
}

impl ParseError {
    /// Creates an error about `header` at byte `at`.
    #[must_use]
    pub const fn new(at: usize, header: Header, kind: ErrorKind) -> Self {
        Self { at, header, kind }
    }

    /// Returns the error with its offset moved by `base` bytes, for bytes cut from a longer frame.
    #[must_use]
    pub const fn shifted(self, base: usize) -> Self {
        Self { at: self.at + base, ..self }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.header.name(), self.at, self.kind)
    }
}

impl core::error::Error for ParseError {}

/// The headers this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Header {
    /// IEEE 802.3 Ethernet.
    Ethernet,
    /// IEEE 802.1Q or 802.1ad tag.
    Vlan,
    /// RFC 791.
    Ipv4,
    /// RFC 8200.
    Ipv6,
    /// An extension header of RFC 8200.
    Ipv6Extension,
    /// RFC 9293.
    Tcp,
    /// RFC 768.
    Udp,
    /// RFC 2784 and 2890.
    Gre,
    /// VXLAN or VXLAN-GPE.
    Vxlan,
    /// RFC 8926.
    Geneve,
    /// An option of RFC 8926.
    GeneveOption,
    /// GTP-U of 3GPP TS 29.281.
    Gtpu,
    /// An extension header of GTP-U.
    GtpuExtension,
    /// A label stack entry of RFC 3032.
    Mpls,
    /// The INT shim of any encapsulation.
    Shim,
    /// INT-MD metadata header.
    IntMd,
    /// INT-MX header.
    IntMx,
    /// INT metadata header of the versions before 2.0.
    IntMetadata,
    /// INT metadata stack.
    MetadataStack,
    /// INT tail header of 0.5.
    IntTail,
    /// Telemetry Report group header.
    ReportGroup,
    /// Individual report of a group.
    IndividualReport,
    /// TLV inside an individual report.
    Tlv,
    /// Header of a report of a version before 2.0.
    ReportHeader,
    /// Drop header of a report 0.5.
    DropHeader,
    /// Switch-local header of a report 0.5.
    LocalHeader,
    /// Host-INT's summary of lost packets.
    DropSummary,
}

impl Header {
    /// The header's name as the specification writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "Ethernet header",
            Self::Vlan => "VLAN tag",
            Self::Ipv4 => "IPv4 header",
            Self::Ipv6 => "IPv6 header",
            Self::Ipv6Extension => "IPv6 extension header",
            Self::Tcp => "TCP header",
            Self::Udp => "UDP header",
            Self::Gre => "GRE header",
            Self::Vxlan => "VXLAN header",
            Self::Geneve => "Geneve header",
            Self::GeneveOption => "Geneve option",
            Self::Gtpu => "GTP-U header",
            Self::GtpuExtension => "GTP-U extension header",
            Self::Mpls => "MPLS label stack entry",
            Self::Shim => "INT shim",
            Self::IntMd => "INT-MD header",
            Self::IntMx => "INT-MX header",
            Self::IntMetadata => "INT metadata header",
            Self::MetadataStack => "INT metadata stack",
            Self::IntTail => "INT tail header",
            Self::ReportGroup => "report group header",
            Self::IndividualReport => "individual report",
            Self::Tlv => "report TLV",
            Self::ReportHeader => "report header",
            Self::DropHeader => "report drop header",
            Self::LocalHeader => "report switch-local header",
            Self::DropSummary => "drop summary",
        }
    }
}

/// What was wrong with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the header does.
    Short {
        /// Bytes the header needs.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// An unsupported version.
    Version {
        /// The version found.
        found: u8,
        /// The version expected.
        expected: u8,
    },
    /// A field is below its minimum legal value.
    TooSmall {
        /// The field's name.
        field: &'static str,
        /// The value found.
        found: usize,
        /// The minimum legal value.
        least: usize,
    },
    /// A field is above its maximum legal value.
    TooLarge {
        /// The field's name.
        field: &'static str,
        /// The value found.
        found: usize,
        /// The maximum legal value.
        most: usize,
    },
    /// A field differs from what other fields imply.
    Mismatch {
        /// The field's name.
        field: &'static str,
        /// The value found.
        found: usize,
        /// The value the other fields imply.
        expected: usize,
    },
    /// A field has an undefined value.
    Undefined {
        /// The field's name.
        field: &'static str,
        /// The value found.
        found: usize,
    },
    /// The metadata stack is not a whole number of hops.
    PartialHop {
        /// Length of the stack.
        stack: Words,
        /// Length of the metadata each hop adds.
        hop_ml: Words,
    },
    /// More headers of this kind than are accepted.
    TooMany {
        /// How many are accepted.
        most: usize,
    },
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short { needed, left } => {
                write!(f, "{needed} byte{} needed, {left} left", if needed == 1 { "" } else { "s" })
            }
            Self::Version { found, expected } => write!(f, "version {found} where {expected} is expected"),
            Self::TooSmall { field, found, least } => write!(f, "{field} {found} is less than {least}"),
            Self::TooLarge { field, found, most } => write!(f, "{field} {found} is more than {most}"),
            Self::Mismatch { field, found, expected } => {
                write!(f, "{field} is {found}, the other fields imply {expected}")
            }
            Self::Undefined { field, found } => write!(f, "{field} {found} has no meaning"),
            Self::PartialHop { stack, hop_ml } => {
                write!(
                    f,
                    "{} words are not a whole number of hops of {} words",
                    stack.count(),
                    hop_ml.count()
                )
            }
            Self::TooMany { most } => write!(f, "more than {most} of them"),
        }
    }
}

#[cfg(test)]
mod tests;
