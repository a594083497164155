//! The report of a loss, in Host-INT's format and as a report 2.0.

use zerocopy::IntoBytes;

use inband_wire::int::HopMetadata;
use inband_wire::int::Instructions;
use inband_wire::report::Draft;
use inband_wire::report::earlier::host_int::Gap;
use inband_wire::report::earlier::{DropSummary, DropSummaryDraft};

use super::Loss;
use super::headers::headers;

/// DSMdBits of a loss report 2.0: the first bit is Host-INT's drop summary, 6 words.
const DS_MD_BITS: u16 = 0x8000;

impl Loss {
    /// The summary of a sink with this id.
    #[must_use]
    pub fn summary(&self, sink: u32) -> DropSummary {
        let gap =
            Gap { seen_at_s: seconds(self.gap.opened_at), sequence: self.gap.after, count: self.gap.missing };
        DropSummary::new(self.source.node_id, sink, self.source.ingress, self.egress, gap)
    }

    /// The report of Host-INT, with the report's number and the time, nanoseconds since 1970.
    #[must_use]
    pub fn host_int(&self, summary: DropSummary, sequence: u32, now: u64) -> DropSummaryDraft {
        DropSummaryDraft { sequence, reported_at_s: seconds(now), summary, flow: self.flow }
    }

    /// Passes the report 2.0 to `write`: D and F, the summary as domain-specific metadata of `domain`, and
    /// the flow's headers as the packet.
    pub fn with_report<T>(
        &self,
        summary: &DropSummary,
        domain: u16,
        write: impl FnOnce(&Draft<'_>) -> T,
    ) -> T {
        let (inner_type, headers) = headers(&self.flow);
        write(&Draft {
            inner_type,
            dropped: true,
            congested_queue: false,
            tracked_flow: true,
            intermediate: false,
            own_hop: true,
            metadata: HopMetadata::default(),
            instructions: Instructions::default(),
            drop: None,
            domain: Some((domain, DS_MD_BITS, summary.as_bytes())),
            inner: &headers,
        })
    }
}

/// Whole seconds, truncated to 32 bits.
fn seconds(ns: u64) -> u32 {
    u32::try_from(ns / 1_000_000_000 % (1 << 32)).unwrap_or_default()
}
