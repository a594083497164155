//! The reports that are measured.

use anyhow::{Context, Result};
use inband_node::Output;
use inband_wire::report::{GroupHeader, group};
use zerocopy::IntoBytes;

use crate::fabric::{self, Role, pass};

/// Datagrams of a sink's reports about different flows, each with the reports of `coalesced` packets.
pub(crate) struct Datagrams {
    bytes: Vec<Vec<u8>>,
    coalesced: usize,
    next_sequence: u32,
}

impl Datagrams {
    /// # Errors
    /// A node does not do its part.
    pub(crate) fn new(count: usize, coalesced: usize) -> Result<Self> {
        let mut ports = FIRST_PORT..;
        let mut datagram = || {
            let ports: Vec<_> = ports.by_ref().take(coalesced).collect();
            coalesce(&ports)
        };
        let bytes = (0..count).map(|_| datagram()).collect::<Result<_>>()?;
        Ok(Self { bytes, coalesced, next_sequence: 1 })
    }

    /// Datagrams of one report each, all on one flow and `bytes` long.
    ///
    /// # Errors
    /// A node does not do its part, or makes longer reports.
    pub(crate) fn of_one_flow(count: usize, bytes: usize) -> Result<Self> {
        let mut report = coalesce(&[FIRST_PORT])?;
        let padding = bytes.checked_sub(report.len()).context("the report is short enough")?;
        // The packet excerpt in the report is longer; the packet contains its own length.
        let words = u8::try_from((bytes - group::HEADER_BYTES) / 4 - 1).context("the length has room")?;
        report.extend(std::iter::repeat_n(0x5a, padding));
        report[group::HEADER_BYTES + 1] = words;
        Ok(Self { bytes: vec![report; count], coalesced: 1, next_sequence: 1 })
    }

    /// Continues the sequence numbers of the datagrams from the end of the last batch.
    pub(crate) fn renumber(&mut self) {
        for bytes in &mut self.bytes {
            let header = GroupHeader::new(0, self.next_sequence, SINK_ID);
            bytes[..group::HEADER_BYTES].copy_from_slice(header.as_bytes());
            self.next_sequence = self.next_sequence.wrapping_add(1);
        }
    }

    /// The datagrams, UDP payloads.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.iter().map(Vec::as_slice)
    }

    /// Number of reports in all datagrams.
    pub(crate) fn reports(&self) -> usize {
        self.bytes.len() * self.coalesced
    }
}

/// One datagram with the sink's report of one packet from each of these source ports.
fn coalesce(ports: &[u16]) -> Result<Vec<u8>> {
    let mut datagram = Vec::new();
    for port in ports {
        let frame = fabric::with_hops(PAYLOAD_BYTES, *port, HOPS)?;
        let mut sink = fabric::node(SINK_ID)?;
        pass(&mut sink, &frame, Role::Sink)?;
        let report =
            sink.poll_output().and_then(Output::into_report).context("the sink has a report")?.payload;
        let behind_header = if datagram.is_empty() { 0 } else { group::HEADER_BYTES };
        datagram.extend_from_slice(&report[behind_header..]);
    }
    Ok(datagram)
}

/// The node that reports.
const SINK_ID: u32 = 5;
/// Hops on the stack before the sink adds its own.
const HOPS: u32 = 4;
/// Long enough for the report to be cut at its default length.
const PAYLOAD_BYTES: usize = 100;
/// Flows differ in their source ports, from this one on.
const FIRST_PORT: u16 = 10_000;
