//! Writes reports of versions 1.0 and 0.5.

use zerocopy::IntoBytes;

use crate::int::instruction::Instructions;
use crate::int::metadata::HopMetadata;
use crate::report::draft::Draft;
use crate::report::earlier::drop_header::DropHeader;
use crate::report::earlier::header_0_5::{self, FixedHeader, NextProto};
use crate::report::earlier::header_1_0::{self, HeaderV1_0, RepMdBits};
use crate::report::earlier::local_header::{LocalHeader, low_32_bits};
use crate::report::first_word::InnerType;
use crate::report::individual::Drop;

/// The version in which an [`EarlierDraft`] is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DraftVersion {
    /// Telemetry Report 0.5.
    V0_5,
    /// Telemetry Report 1.0.
    V1_0,
}

/// A datagram with one report of version 1.0 or 0.5, before serialization.
///
/// What the version cannot carry is left out: domain-specific metadata and I, in 0.5 also hop latency and
/// utilization. In 0.5, a report with a drop reason has a drop header, one with other metadata a switch-local
/// header.
#[derive(Clone, Copy, Debug)]
pub struct EarlierDraft<'a> {
    /// The version to write.
    pub version: DraftVersion,
    /// The reporting node.
    pub node_id: u32,
    /// Which part of the node's hardware sends the report, 0 to 63.
    pub hw_id: u8,
    /// Number of the report, counted per node, hw_id and destination.
    pub sequence: u32,
    /// The report; its ingress timestamp goes into the header, 0 when not available.
    pub report: Draft<'a>,
}

impl EarlierDraft<'_> {
    /// Length of the datagram's payload, bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.header_bytes() + self.report.inner.len()
    }

    /// Writes the payload to the start of `out` and returns its length in bytes.
    ///
    /// `None` when `out` is too small, or the version cannot carry the inner contents: 0.5 carries only
    /// packets from their Ethernet header on, 1.0 also from their IP header on.
    #[must_use]
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let next_proto = self.next_proto()?;
        let length = self.length();
        let (header, inner) = out.get_mut(..length)?.split_at_mut_checked(self.header_bytes())?;
        match self.version {
            DraftVersion::V0_5 => self.write_0_5(header)?,
            DraftVersion::V1_0 => self.write_1_0(next_proto, header)?,
        }
        inner.copy_from_slice(self.report.inner);
        Some(length)
    }

    /// NProto of 1.0; 0 for everything 0.5 can carry.
    // report-1.0/header-04
    fn next_proto(&self) -> Option<u8> {
        match (self.report.inner_type, self.version) {
            (InnerType::Ethernet, _) => Some(0),
            (InnerType::None, _) if self.report.inner.is_empty() => Some(0),
            (InnerType::Ipv4, DraftVersion::V1_0) => Some(1),
            (InnerType::Ipv6, DraftVersion::V1_0) => Some(2),
            _ => None,
        }
    }

    fn header_bytes(&self) -> usize {
        match self.version {
            DraftVersion::V0_5 => {
                header_0_5::HEADER_BYTES
                    + match self.next_proto_0_5() {
                        NextProto::Drop => size_of::<DropHeader>(),
                        NextProto::Local => size_of::<LocalHeader>(),
                        _ => 0,
                    }
            }
            DraftVersion::V1_0 => header_1_0::HEADER_BYTES + self.rep_md_bits().words().bytes(),
        }
    }

    fn next_proto_0_5(&self) -> NextProto {
        let local = Instructions::INTERFACES | Instructions::QUEUE | Instructions::EGRESS_TIMESTAMP;
        let has_local =
            self.report.metadata.available(self.report.instructions & local) != Instructions::default();
        match self.report.drop {
            Some(_) => NextProto::Drop,
            None if self.report.own_hop || has_local => NextProto::Local,
            None => NextProto::Ethernet,
        }
    }

    fn ingress_timestamp(&self) -> u32 {
        self.report.metadata.ingress_timestamp.map_or(0, low_32_bits)
    }

    fn write_0_5(&self, out: &mut [u8]) -> Option<()> {
        let report = &self.report;
        let next_proto = self.next_proto_0_5();
        let mut header = FixedHeader::new(next_proto, self.hw_id, self.sequence, self.ingress_timestamp());
        header.set_flags(report.dropped, report.congested_queue, report.tracked_flow);
        let (fixed, rest) = out.split_at_mut_checked(header_0_5::HEADER_BYTES)?;
        fixed.copy_from_slice(header.as_bytes());
        let wanted = self.wanted();
        match report.drop {
            Some(Drop { queue_id, reason }) => {
                let header = DropHeader::new(self.node_id, wanted.interfaces, queue_id, reason);
                rest.copy_from_slice(header.as_bytes());
            }
            None if next_proto == NextProto::Local => {
                rest.copy_from_slice(LocalHeader::new(self.node_id, &wanted).as_bytes());
            }
            None => {}
        }
        Some(())
    }

    fn write_1_0(&self, next_proto: u8, out: &mut [u8]) -> Option<()> {
        let report = &self.report;
        let bits = self.rep_md_bits();
        let (hw_id, node_id, sequence) = (self.hw_id, self.node_id, self.sequence);
        let mut header =
            HeaderV1_0::new(next_proto, bits, hw_id, node_id, sequence, self.ingress_timestamp());
        header.set_flags(report.dropped, report.congested_queue, report.tracked_flow);
        let (fixed, metadata) = out.split_at_mut_checked(header_1_0::HEADER_BYTES)?;
        fixed.copy_from_slice(header.as_bytes());
        for (bit, to) in bits.iter().zip(metadata.as_chunks_mut::<4>().0) {
            *to = self.word_1_0(bit);
        }
        Some(())
    }

    /// The metadata for one bit of RepMdBits, which is set only when there is a value.
    fn word_1_0(&self, bit: u8) -> [u8; 4] {
        let hop = &self.report.metadata;
        let value = match bit {
            0 => hop.interfaces.map(|ids| u32::from(ids.ingress) << 16 | u32::from(ids.egress)),
            1 => hop.hop_latency,
            2 => hop.queue.map(|queue| u32::from(queue.id) << 24 | queue.occupancy.min(0x00ff_ffff)),
            3 => hop.egress_timestamp.map(low_32_bits),
            4 => self.report.drop.map(|drop| u32::from_be_bytes([drop.queue_id, drop.reason, 0, 0])),
            _ => hop.egress_utilization,
        };
        value.unwrap_or_default().to_be_bytes()
    }

    // report-1.0/header-06
    fn rep_md_bits(&self) -> RepMdBits {
        RepMdBits::of(self.report.metadata.available(self.report.instructions), self.report.drop.is_some())
    }

    /// The metadata that the report asks for.
    fn wanted(&self) -> HopMetadata {
        let mut wanted = self.report.metadata;
        let is_wanted = |bit| self.report.instructions.contains(bit);
        wanted.interfaces = wanted.interfaces.filter(|_| is_wanted(Instructions::INTERFACES));
        wanted.queue = wanted.queue.filter(|_| is_wanted(Instructions::QUEUE));
        wanted.egress_timestamp =
            wanted.egress_timestamp.filter(|_| is_wanted(Instructions::EGRESS_TIMESTAMP));
        wanted
    }
}

#[cfg(test)]
mod tests;
