//! The packet fragment in a report: its length and form.

use zerocopy::IntoBytes;

use inband_wire::ethernet;
use inband_wire::layers::{IpVersion, Link};
use inband_wire::report::InnerType;
use inband_wire::report::tlv::{TlvHeader, TlvType};
use inband_wire::words::Words;

use crate::config::{InnerForm, ReportConfig, ReportVersion};
use crate::encapsulation::IntSpan;
use crate::reported::Reported;

/// Prepares packets for reports.
#[derive(Clone, Debug)]
pub(crate) struct InnerContents {
    truncate: usize,
    form: Form,
    /// A buffer for assembled contents, reused between reports.
    together: Vec<u8>,
}

/// The form of a packet in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The packet, cut at a word boundary, because the lengths of 2.0 count words.
    Words,
    /// A TLV.
    Tlv,
    /// The packet, up to the end of the datagram.
    Bytes,
    /// An Ethernet frame up to the end of the datagram: 0.5 supports nothing else.
    Frame,
}

/// The inner contents of one report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inner<'a> {
    pub(crate) inner_type: InnerType,
    pub(crate) bytes: &'a [u8],
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

    /// The beginning of the packet in its report form, in at most `room` bytes; `None` if the packet's INT
    /// does not fit.
    pub(crate) fn of<'a>(&'a mut self, reported: &Reported<'a>, room: usize) -> Option<Inner<'a>> {
        let Reported { link, ip, packet, int, .. } = *reported;
        let fragment = packet.get(..self.kept(packet.len(), int, self.packet_room(link, room))?)?;
        Some(match (self.form, link) {
            (Form::Tlv, _) => {
                self.wrap_in_tlv(link, ip, fragment);
                Inner { inner_type: InnerType::Tlv, bytes: &self.together }
            }
            (Form::Frame, Link::Ip) => {
                self.put_into_frame(ip, fragment);
                Inner { inner_type: InnerType::Ethernet, bytes: &self.together }
            }
            _ => Inner { inner_type: inner_type(link, ip), bytes: fragment },
        })
    }

    /// How many of `room` bytes are available to the packet itself.
    const fn packet_room(&self, link: Link, room: usize) -> usize {
        match (self.form, link) {
            (Form::Tlv, _) => {
                let room = room.saturating_sub(size_of::<TlvHeader>());
                if room < MAX_TLV_BYTES { room } else { MAX_TLV_BYTES }
            }
            (Form::Frame, Link::Ip) => room.saturating_sub(ADDRESSES_BYTES + 2),
            _ => room,
        }
    }

    /// How many leading bytes of a packet of `length` bytes are reported: all of its INT, and `truncate`
    /// bytes of the rest, or fewer if `room` is short.
    // int-2.1/md-43: the metadata stack is in the report, however much of the packet is cut off.
    fn kept(&self, length: usize, int: IntSpan, room: usize) -> Option<usize> {
        let unit = match self.form {
            Form::Words | Form::Tlv => 4,
            Form::Bytes | Form::Frame => 1,
        };
        let int_end = int.end.min(length);
        let wanted = self.truncate + int.bytes;
        // A packet within the limit is padded rather than cut.
        let cut = (wanted / unit * unit).max(int_end.next_multiple_of(unit));
        let kept = if length <= wanted { length } else { cut.min(length) };
        let kept = if kept.next_multiple_of(unit) <= room { kept } else { room / unit * unit };
        (kept >= int_end).then_some(kept)
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

    /// Prepends an Ethernet header with zero addresses.
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

/// Maximum data of a TLV, whose length counts 255 words.
const MAX_TLV_BYTES: usize = 255 * 4;
/// Both addresses of an Ethernet header.
const ADDRESSES_BYTES: usize = 12;

#[cfg(test)]
mod tests;
