//! How much of a packet goes into a report, and in which form?

use zerocopy::IntoBytes;

use inband_wire::ethernet;
use inband_wire::layers::{IpVersion, Link};
use inband_wire::report::InnerType;
use inband_wire::report::tlv::{TlvHeader, TlvType};
use inband_wire::words::Words;

use crate::config::{InnerForm, ReportConfig, ReportVersion};

/// Puts packets into reports.
#[derive(Clone, Debug)]
pub(crate) struct InnerContents {
    truncate: usize,
    form: Form,
    /// Contents that had to be put together; here so that its memory is used again.
    together: Vec<u8>,
}

/// What a packet is in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Itself, cut at a word boundary, because the lengths of 2.0 count words.
    Words,
    /// A TLV.
    Tlv,
    /// Itself, up to the end of the datagram.
    Bytes,
    /// An Ethernet frame up to the end of the datagram: 0.5 knows nothing else.
    Frame,
}

/// The inner contents of one report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inner<'a> {
    pub(crate) inner_type: InnerType,
    pub(crate) bytes: &'a [u8],
    /// How many bytes of the packet are in there.
    pub(crate) kept: usize,
}

impl InnerContents {
    pub(crate) fn new(config: &ReportConfig) -> Self {
        let form = match (config.version, config.inner) {
            (ReportVersion::V2_0, InnerForm::Packet) => Form::Words,
            (ReportVersion::V2_0, InnerForm::Tlv) => Form::Tlv,
            (ReportVersion::V1_0, _) => Form::Bytes,
            (ReportVersion::V0_5, _) => Form::Frame,
        };
        Self { truncate: usize::from(config.truncate), form, together: Vec::new() }
    }

    /// The beginning of `packet` as a report has it.
    pub(crate) fn of<'a>(&'a mut self, link: Link, ip: IpVersion, packet: &'a [u8]) -> Inner<'a> {
        let fragment = self.fragment(packet);
        let kept = fragment.len();
        match (self.form, link) {
            (Form::Tlv, _) => {
                self.wrap_in_tlv(link, ip, fragment);
                Inner { inner_type: InnerType::Tlv, bytes: &self.together, kept }
            }
            (Form::Frame, Link::Ip) => {
                self.put_into_frame(ip, fragment);
                Inner { inner_type: InnerType::Ethernet, bytes: &self.together, kept }
            }
            _ => Inner { inner_type: inner_type(link, ip), bytes: fragment, kept },
        }
    }

    fn fragment<'b>(&self, packet: &'b [u8]) -> &'b [u8] {
        let most = match self.form {
            Form::Tlv => self.truncate.min(MOST_TLV_BYTES),
            Form::Words | Form::Bytes | Form::Frame => self.truncate,
        };
        let cut = match self.form {
            Form::Words | Form::Tlv => most / 4 * 4,
            Form::Bytes | Form::Frame => most,
        };
        // What is short enough is padded rather than cut.
        if packet.len() <= most { packet } else { packet.get(..cut).unwrap_or(packet) }
    }

    // report-2.0/tlv-01, report-2.0/tlv-02, report-2.0/tlv-03, report-2.0/tlv-04
    fn wrap_in_tlv(&mut self, link: Link, ip: IpVersion, fragment: &[u8]) {
        let tlv_type = match (link, ip) {
            (Link::Ethernet, _) => TlvType::Ethernet,
            (Link::Ip, IpVersion::V4) => TlvType::Ipv4,
            (Link::Ip, IpVersion::V6) => TlvType::Ipv6,
        };
        let words = u8::try_from(fragment.len().div_ceil(4)).unwrap_or(u8::MAX);
        self.together.clear();
        self.together.extend_from_slice(TlvHeader::new(tlv_type, Words::new(words), 0).as_bytes());
        self.together.extend_from_slice(fragment);
        self.together.resize(self.together.len().next_multiple_of(4), 0);
    }

    /// Puts an Ethernet header without addresses in front.
    fn put_into_frame(&mut self, ip: IpVersion, fragment: &[u8]) {
        let ethertype = match ip {
            IpVersion::V4 => ethernet::IPV4,
            IpVersion::V6 => ethernet::IPV6,
        };
        self.together.clear();
        self.together.resize(ADDRESSES_BYTES, 0);
        self.together.extend_from_slice(&ethertype.to_be_bytes());
        self.together.extend_from_slice(fragment);
    }
}

const fn inner_type(link: Link, ip: IpVersion) -> InnerType {
    match (link, ip) {
        (Link::Ethernet, _) => InnerType::Ethernet,
        (Link::Ip, IpVersion::V4) => InnerType::Ipv4,
        (Link::Ip, IpVersion::V6) => InnerType::Ipv6,
    }
}

/// Most data of a TLV, whose length counts 255 words.
const MOST_TLV_BYTES: usize = 255 * 4;
/// Both addresses of an Ethernet header.
const ADDRESSES_BYTES: usize = 12;

#[cfg(test)]
mod tests;
