//! Pending report datagrams, numbered.

mod single;

use std::collections::VecDeque;
use std::ops::Range;

use zerocopy::IntoBytes;

use inband_wire::report::earlier::DraftVersion;
use inband_wire::report::{Draft, GroupHeader, group};

use crate::config::{ReportConfig, ReportVersion};

/// Datagrams of one or more reports, in order, up to [`MAX_QUEUED_BYTES`].
#[derive(Clone, Debug)]
pub(crate) struct ReportQueue {
    version: ReportVersion,
    node_id: u32,
    hw_id: u8,
    group: usize,
    group_ns: u64,
    /// Largest payload of a datagram that the path to the collector carries, bytes.
    max_payload_bytes: usize,
    sequence: u32,
    arena: Vec<u8>,
    queued: VecDeque<Range<usize>>,
    open: Option<OpenGroup>,
}

/// The datagram that further reports may join, at the end of the arena.
#[derive(Clone, Copy, Debug)]
struct OpenGroup {
    start: usize,
    reports: usize,
    /// When its first report was created, nanoseconds of the device's clock.
    since: Option<u64>,
}

/// The space for the inner contents of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Maximum bytes of inner contents.
    pub(crate) bytes: usize,
    /// Length of the report without any, bytes.
    without: usize,
}

impl Room {
    /// Length of the report with `inner` bytes of contents, which are padded to whole words.
    pub(crate) const fn length_with(&self, inner: usize) -> usize {
        self.without + inner.next_multiple_of(4)
    }
}

/// Maximum pending bytes; the excess is counted as shed.
const MAX_QUEUED_BYTES: usize = 1 << 20;
/// Maximum size of a datagram of several reports, so that it is not fragmented on common networks.
const MAX_GROUP_BYTES: usize = 1400;
/// Bytes after its first word from which a report runs to the end of its datagram.
const TO_THE_END_BYTES: usize = 255 * 4;

impl ReportQueue {
    pub(crate) fn new(node_id: u32, config: &ReportConfig, hw_id: u8) -> Self {
        Self {
            version: config.version,
            node_id,
            hw_id,
            group: usize::from(config.group.get()),
            group_ns: config.group_ms.saturating_mul(1_000_000),
            max_payload_bytes: config.max_payload_bytes(),
            sequence: 0,
            arena: Vec::new(),
            queued: VecDeque::new(),
            open: None,
        }
    }

    /// Whether its reports have a field for the number of lost packets.
    pub(crate) const fn has_summaries(&self) -> bool {
        !matches!(self.version, ReportVersion::V1_0)
    }

    /// The room for inner contents of `draft`, which has none yet, in a datagram of its own; `None` if it
    /// exceeds the path MTU without any.
    pub(crate) fn room(&self, draft: &Draft<'_>) -> Option<Room> {
        let (header, without) = match self.version {
            ReportVersion::V2_0 => (group::HEADER_BYTES, draft.length()),
            ReportVersion::V1_0 => (0, self.single(DraftVersion::V1_0, 0, draft).length()),
            ReportVersion::V0_5 => (0, self.single(DraftVersion::V0_5, 0, draft).length()),
        };
        let bytes = self.max_payload_bytes.checked_sub(header + without)?;
        Some(Room { bytes, without })
    }

    /// Whether a datagram is complete.
    pub(crate) fn is_ready(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Returns the oldest complete datagram.
    pub(crate) fn poll(&mut self) -> Option<&[u8]> {
        let range = self.queued.pop_front()?;
        self.arena.get(range)
    }

    /// Completes the datagram that further reports could have joined.
    pub(crate) fn flush(&mut self) {
        if let Some(open) = self.open.take() {
            self.queued.push_back(open.start..self.arena.len());
        }
    }

    /// Completes the open datagram if its wait has expired at `now`.
    pub(crate) fn handle_timeout(&mut self, now: u64) {
        // A clock that was set back does not prolong the wait.
        if let Some(since) = self.open.as_mut().and_then(|open| open.since.as_mut()) {
            *since = (*since).min(now);
        }
        let is_due =
            |open: OpenGroup| open.since.is_some_and(|since| now.saturating_sub(since) >= self.group_ns);
        if self.open.is_some_and(is_due) {
            self.flush();
        }
    }

    /// Adds the report `draft` of `length` bytes, created at `now`; `false` if there is no room.
    pub(crate) fn push(&mut self, draft: &Draft<'_>, length: usize, now: Option<u64>) -> bool {
        match self.version {
            ReportVersion::V2_0 => self.push_to_group(draft, length, now),
            ReportVersion::V1_0 => self.push_single(DraftVersion::V1_0, draft),
            ReportVersion::V0_5 => self.push_single(DraftVersion::V0_5, draft),
        }
    }

    // report-2.0/group-05: several reports may share a datagram.
    fn push_to_group(&mut self, draft: &Draft<'_>, length: usize, now: Option<u64>) -> bool {
        if let Some(now) = now {
            self.handle_timeout(now);
        }
        let max = self.max_payload_bytes.min(MAX_GROUP_BYTES);
        let fits = |open: OpenGroup| self.arena.len() - open.start + length <= max;
        if self.open.is_some_and(|open| !fits(open)) {
            self.flush();
        }
        let Some(mut open) = self.open.or_else(|| self.begin(now)) else {
            return false;
        };
        self.open = Some(open);
        if !self.append(draft, length) {
            if open.reports == 0 {
                self.abandon(open);
            }
            return false;
        }
        open.reports += 1;
        self.open = Some(open);
        if open.reports >= self.group || length > TO_THE_END_BYTES {
            self.flush();
        }
        true
    }

    /// Starts a datagram with its group header.
    fn begin(&mut self, now: Option<u64>) -> Option<OpenGroup> {
        if self.queued.is_empty() {
            self.arena.clear();
        }
        let start = self.arena.len();
        if start + group::HEADER_BYTES > MAX_QUEUED_BYTES {
            return None;
        }
        // report-2.0/group-03: the number counts datagrams and starts at 1, as in deployed nodes.
        self.sequence = self.sequence.wrapping_add(1);
        let header = GroupHeader::new(self.hw_id, self.sequence, self.node_id);
        self.arena.extend_from_slice(header.as_bytes());
        Some(OpenGroup { start, reports: 0, since: now })
    }

    /// Removes a datagram that is empty.
    fn abandon(&mut self, open: OpenGroup) {
        self.arena.truncate(open.start);
        self.sequence = self.sequence.wrapping_sub(1);
        self.open = None;
    }

    fn append(&mut self, draft: &Draft<'_>, length: usize) -> bool {
        let start = self.arena.len();
        let end = start + length;
        if end > MAX_QUEUED_BYTES {
            return false;
        }
        self.arena.resize(end, 0);
        let written = self.arena.get_mut(start..).and_then(|report| draft.write(report));
        if written.is_none() {
            self.arena.truncate(start);
        }
        written.is_some()
    }
}
