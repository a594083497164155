//! Writes Host-INT's reports.

use core::net::IpAddr;

use zerocopy::IntoBytes;

use crate::flow::FiveTuple;
use crate::int::earlier::header_0_5::HeaderV0_5;
use crate::int::earlier::host_int::{HOP_WORDS, INSTRUCTION_BITMAP, MAX_HOP_COUNT};
use crate::int::earlier::shim::{HOST_INT, Shim};
use crate::int::earlier::{Layout, Metadata};
use crate::int::metadata::HopMetadata;
use crate::ipv4::{self, Ipv4Header};
use crate::report::earlier::header_0_5::{FixedHeader, NextProto};
use crate::report::earlier::host_int::DropSummary;
use crate::words::Words;
use crate::{tcp, udp};

/// A latency report: the headers of a packet, with the hops of its source and of the reporting sink.
#[derive(Clone, Copy, Debug)]
pub struct LatencyDraft<'a> {
    /// Number of the report, counted per destination together with drop summaries.
    pub sequence: u32,
    /// Time of the report, seconds since 1970.
    pub reported_at_s: u32,
    /// The sink's node id; `None` leaves its extra word out.
    pub sink_node_id: Option<u32>,
    /// IPv4 header without options, then 20 bytes of TCP or 8 of UDP, as they were received.
    pub headers: &'a [u8],
    /// The sink's hop: node id, interfaces, timestamps.
    pub sink: HopMetadata,
    /// The source's hop.
    pub source: HopMetadata,
    /// Number of the packet in its flow.
    pub flow_sequence: u32,
}

/// A summary of the packets that a flow has lost.
#[derive(Clone, Copy, Debug)]
pub struct DropSummaryDraft {
    /// Number of the report, counted per destination together with latency reports.
    pub sequence: u32,
    /// Time of the report, seconds since 1970.
    pub reported_at_s: u32,
    /// The gap.
    pub summary: DropSummary,
    /// The flow; IPv4, and TCP or UDP.
    pub flow: FiveTuple,
}

/// Shim, header, two hops and the sequence number; there is no tail.
const INT_WORDS: Words = Words::new(3 + 2 * HOP_WORDS.count() + 1);

impl LatencyDraft<'_> {
    /// Writes the UDP payload to the start of `out` and returns its length in bytes; `None` when `out` is too
    /// small.
    // host-int-0.5/report-03
    #[must_use]
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let mut writer = Writer { out, at: 0 };
        let mut header = FixedHeader::new(NextProto::Latency, 0, self.sequence, self.reported_at_s);
        header.set_flags(false, false, true);
        writer.put(header.as_bytes())?;
        if let Some(node_id) = self.sink_node_id {
            writer.put(&node_id.to_be_bytes())?;
        }
        writer.put(self.headers)?;
        writer.put(Shim::with_tail(HOST_INT, INT_WORDS).as_bytes())?;
        let mut int = HeaderV0_5::new(INSTRUCTION_BITMAP, MAX_HOP_COUNT);
        int.set_total_hop_count(2);
        writer.put(int.as_bytes())?;
        for hop in [self.sink, self.source] {
            let mut entry = [0; HOP_WORDS.bytes()];
            Metadata::from(hop).write(Layout::V0_5, INSTRUCTION_BITMAP, &mut entry);
            writer.put(&entry)?;
        }
        writer.put(&self.flow_sequence.to_be_bytes())?;
        Some(writer.at)
    }
}

impl DropSummaryDraft {
    /// Writes the UDP payload to the start of `out` and returns its length in bytes; `None` when `out` is too
    /// small, or the flow cannot be summarised in Host-INT.
    #[must_use]
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let mut writer = Writer { out, at: 0 };
        let mut header = FixedHeader::new(NextProto::DropSummary, 0, self.sequence, self.reported_at_s);
        header.set_flags(true, false, true);
        writer.put(header.as_bytes())?;
        writer.put(self.summary.as_bytes())?;
        writer.put(&self.ip()?)?;
        let [a, b] = self.flow.source_port.to_be_bytes();
        let [c, d] = self.flow.destination_port.to_be_bytes();
        match self.flow.protocol {
            tcp::PROTOCOL => {
                writer.put(&[a, b, c, d])?;
                writer.put(&[0; tcp::HEADER_BYTES - 4])?;
            }
            // host-int-0.5/report-06: the UDP length is 0 too.
            udp::PROTOCOL => writer.put(&[a, b, c, d, 0, 0, 0, 0])?,
            _ => return None,
        }
        Some(writer.at)
    }

    /// An IPv4 header with only version, length, protocol and addresses set.
    // host-int-0.5/report-06
    fn ip(&self) -> Option<[u8; ipv4::HEADER_BYTES]> {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (self.flow.source, self.flow.destination) else {
            return None;
        };
        let mut bytes = [0; ipv4::HEADER_BYTES];
        let complete = Ipv4Header::new(source, destination, self.flow.protocol, 0);
        let complete = complete.as_bytes();
        for kept in [0..1, ipv4::PROTOCOL_OFFSET..ipv4::PROTOCOL_OFFSET + 1, 12..ipv4::HEADER_BYTES] {
            bytes.get_mut(kept.clone())?.copy_from_slice(complete.get(kept)?);
        }
        Some(bytes)
    }
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.at + bytes.len();
        self.out.get_mut(self.at..end)?.copy_from_slice(bytes);
        self.at = end;
        Some(())
    }
}

#[cfg(test)]
mod tests;
