//! Datagrams of reports of the versions before 2.0.

use inband_wire::report::Draft;
use inband_wire::report::earlier::{DraftVersion, DropSummaryDraft, EarlierDraft, LatencyDraft};

use super::{MAX_QUEUED_BYTES, ReportQueue};
use crate::config::ReportVersion;

/// Maximum size of Host-INT's drop summary, including headers and the flow's own.
const MAX_SUMMARY_BYTES: usize = 128;
/// Maximum size of Host-INT's latency report.
const MAX_LATENCY_BYTES: usize = 128;

impl ReportQueue {
    /// Adds a datagram with the report `draft`; `false` if there is no room.
    ///
    /// The number is 32 bits wide, counted per hw_id, and starts at 1.
    pub(super) fn push_single(&mut self, version: DraftVersion, draft: &Draft<'_>) -> bool {
        let whole = self.single(version, 0, draft);
        self.push_written(whole.length(), |sequence, out| EarlierDraft { sequence, ..whole }.write(out))
    }

    /// The datagram of the report `draft` with this number.
    pub(super) fn single<'a>(
        &self,
        version: DraftVersion,
        sequence: u32,
        draft: &Draft<'a>,
    ) -> EarlierDraft<'a> {
        let (node_id, hw_id) = (self.node_id, self.hw_id);
        EarlierDraft { version, node_id, hw_id, sequence, report: *draft }
    }

    /// Adds Host-INT's report of lost packets, built from its number, if reports are of version 0.5.
    ///
    /// `None` if they are not; `false` if there is no room, or Host-INT has no summary for such a flow.
    pub(crate) fn push_summary(&mut self, summary: impl Fn(u32) -> DropSummaryDraft) -> Option<bool> {
        let is_0_5 = self.version == ReportVersion::V0_5;
        is_0_5.then(|| self.push_written(MAX_SUMMARY_BYTES, |sequence, out| summary(sequence).write(out)))
    }

    /// Adds Host-INT's report of a packet, built from its number, if reports are of version 0.5.
    ///
    /// `None` if they are not; `false` if there is no room.
    pub(crate) fn push_latency<'a>(&mut self, latency: impl Fn(u32) -> LatencyDraft<'a>) -> Option<bool> {
        let is_0_5 = self.version == ReportVersion::V0_5;
        is_0_5.then(|| self.push_written(MAX_LATENCY_BYTES, |sequence, out| latency(sequence).write(out)))
    }

    /// Adds the datagram that `write` builds, of at most `most` bytes.
    fn push_written(&mut self, most: usize, write: impl Fn(u32, &mut [u8]) -> Option<usize>) -> bool {
        if self.queued.is_empty() {
            self.arena.clear();
        }
        // report-0.5/header-05, report-1.0/header-05
        let sequence = self.sequence.wrapping_add(1);
        let start = self.arena.len();
        if start + most > MAX_QUEUED_BYTES {
            return false;
        }
        self.arena.resize(start + most, 0);
        let written = self.arena.get_mut(start..).and_then(|datagram| write(sequence, datagram));
        self.arena.truncate(start + written.unwrap_or(0));
        if written.is_some() {
            self.sequence = sequence;
            self.queued.push_back(start..self.arena.len());
        }
        written.is_some()
    }
}
