//! The writer of reports.

use inband_wire::int::Instructions;
use inband_wire::int::domain::set_bits;
use inband_wire::int::md::MdHeader;
use inband_wire::int::mx::MxHeader;
use inband_wire::report::earlier::DropSummary;
use inband_wire::report::{Draft, InnerType};

use crate::config::{ReportConfig, ReportVersion, SourceInserted, UnknownInstructions};
use crate::counters::Outcome;
use crate::domains::{KnownDomains, ValueContext};
use crate::inner::InnerContents;
use crate::loss::Loss;
use crate::report_queue::ReportQueue;
use crate::reported::{Inserted, Reported, Tracking};

/// Writes reports, each of one packet.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    inner: InnerContents,
    /// Metadata of the node's own hop that every report includes.
    always: Instructions,
    source_inserted: SourceInserted,
    /// The sink named in Host-INT's latency reports.
    sink_node_id: Option<u32>,
    queue: ReportQueue,
    domain_metadata: Vec<u8>,
}

/// The metadata requested for a report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    instructions: Instructions,
    domain_specific_id: u16,
    ds_instruction: u16,
    /// Whether the packet is forwarded and its stack is reported on the path.
    intermediate: bool,
    /// Whether this node's own hop is in the report instead of the packet.
    own_hop: bool,
}

impl Asked {
    /// No metadata: the packet contains it.
    pub(crate) const fn nothing() -> Self {
        Self {
            instructions: Instructions(0),
            domain_specific_id: 0,
            ds_instruction: 0,
            intermediate: false,
            own_hop: false,
        }
    }

    /// No metadata, for a forwarded packet whose stack is reported on the path.
    pub(crate) const fn nothing_yet() -> Self {
        Self { intermediate: true, ..Self::nothing() }
    }

    /// The metadata an INT-MD header requests from its sink.
    pub(crate) fn of_md(header: &MdHeader) -> Self {
        Self::new(header.instructions(), header.domain_specific_id(), header.ds_instruction())
    }

    /// The metadata an INT-MX header requests from every node.
    // int-2.1/mx-18
    pub(crate) fn of_mx(header: &MxHeader) -> Self {
        Self::new(header.instructions(), header.domain_specific_id(), header.ds_instruction())
    }

    /// The metadata that bitmaps and ids request.
    // int-2.1/md-32: bit 15 means a drop reason in a report, never the checksum complement.
    pub(crate) fn new(instructions: Instructions, domain_specific_id: u16, ds_instruction: u16) -> Self {
        let instructions = instructions.without(Instructions::CHECKSUM_COMPLEMENT);
        Self { instructions, domain_specific_id, ds_instruction, intermediate: false, own_hop: true }
    }

    /// Adds the metadata required in a report about this node's queue or a drop.
    // report-2.0/individual-09
    pub(crate) fn and_local(&self) -> Self {
        Self { instructions: self.instructions | LOCAL, own_hop: true, ..*self }
    }

    /// Whether the packet is forwarded with an empty stack, so that its metadata is lost if not reported.
    pub(crate) const fn is_intermediate(&self) -> bool {
        self.intermediate
    }

    /// Whether domain-specific values are requested.
    pub(crate) const fn needs_values(&self) -> bool {
        self.domain_specific_id != 0
    }
}

impl Reporter {
    pub(crate) fn new(node_id: u32, config: &ReportConfig, hw_id: u8) -> Self {
        Self {
            inner: InnerContents::new(config),
            always: match config.version {
                // Its switch-local header has a field for each.
                ReportVersion::V0_5 => LOCAL,
                ReportVersion::V1_0 | ReportVersion::V2_0 => Instructions(0),
            },
            source_inserted: config.source_inserted,
            sink_node_id: config.sink_node_id.then_some(node_id),
            queue: ReportQueue::new(node_id, config, hw_id),
            domain_metadata: Vec::new(),
        }
    }

    /// The complete datagrams, and the one that waits for more reports.
    pub(crate) fn queue(&mut self) -> &mut ReportQueue {
        &mut self.queue
    }

    // int-2.1/mx-19, int-2.1/mx-28, int-2.1/mx-29, int-2.1/mx-30: the draft leaves out what is missing.
    /// Queues the report of a packet of a tracked flow, with the available part of `asked`.
    pub(crate) fn report(
        &mut self,
        reported: &Reported<'_>,
        asked: &Asked,
        domains: &KnownDomains,
        unknown: UnknownInstructions,
    ) -> Outcome {
        // int-2.1/mx-21, report-2.0/metadata-08: the baseline without DSMdBits, or no report at all.
        let is_unknown = asked.domain_specific_id != 0 && domains.get(asked.domain_specific_id).is_none();
        if is_unknown && unknown == UnknownInstructions::Skip {
            return Outcome::UnknownDomain;
        }
        if let Some(latency) = reported.latency.filter(|_| reported.tracking == Tracking::FLOW) {
            let (now, sink) = (reported.hop.device.clock().unwrap_or_default(), self.sink_node_id);
            let pushed = self.queue.push_latency(|sequence| latency.draft(sequence, now, sink));
            if let Some(pushed) = pushed {
                return if pushed { Outcome::Reported } else { Outcome::ReportShed };
            }
        }
        let mut domain_metadata = std::mem::take(&mut self.domain_metadata);
        // int-2.1/mx-22, int-2.1/mx-23: in the fragment, or copied if configured or if a capture truncated
        // the packet.
        let is_copied =
            self.source_inserted == SourceInserted::Metadata || reported.packet.len() < reported.inserted.end;
        let copied = if is_copied { reported.inserted } else { Inserted::default() };
        let draft = self.draft(reported, asked, domains, &copied, &mut domain_metadata);
        let outcome = if !is_copied || draft.metadata_fits() {
            self.push(reported, draft)
        } else {
            // int-2.1/mx-22: what is too long to be copied is in the fragment.
            let draft = self.draft(reported, asked, domains, &Inserted::default(), &mut domain_metadata);
            self.push(reported, draft)
        };
        self.domain_metadata = domain_metadata;
        outcome
    }

    /// The report without its packet; the domain-specific metadata is written to `domain_metadata`.
    fn draft<'a>(
        &self,
        reported: &Reported<'_>,
        asked: &Asked,
        domains: &KnownDomains,
        copied: &Inserted<'_>,
        domain_metadata: &'a mut Vec<u8>,
    ) -> Draft<'a> {
        domain_metadata.clear();
        let ds_md_bits = write_domain(asked, domains, reported.values, copied, domain_metadata);
        let has_domain = asked.domain_specific_id != 0;
        Draft {
            inner_type: InnerType::None,
            dropped: reported.tracking.drop.is_some(),
            congested_queue: reported.tracking.queue,
            tracked_flow: reported.tracking.flow,
            intermediate: asked.intermediate,
            own_hop: asked.own_hop,
            metadata: reported.hop.metadata(),
            instructions: asked.instructions | if asked.own_hop { self.always } else { Instructions(0) },
            drop: reported.tracking.drop,
            domain: has_domain.then_some((asked.domain_specific_id, ds_md_bits, domain_metadata.as_slice())),
            inner: &[],
        }
    }

    /// Queues `draft` with the configured part of the packet.
    fn push(&mut self, reported: &Reported<'_>, draft: Draft<'_>) -> Outcome {
        let room = self.queue.room(&draft);
        let Some((room, inner)) = room.and_then(|room| Some((room, self.inner.of(reported, room.bytes)?)))
        else {
            return Outcome::ReportMtuExceeded;
        };
        let draft = Draft { inner_type: inner.inner_type, inner: inner.bytes, ..draft };
        let length = room.length_with(draft.inner.len());
        let is_pushed = self.queue.push(&draft, length, reported.hop.device.clock());
        if is_pushed { Outcome::Reported } else { Outcome::ReportShed }
    }

    /// Queues a loss report.
    pub(crate) fn report_loss(
        &mut self,
        loss: &Loss,
        summary: &DropSummary,
        domain: u16,
        now: u64,
    ) -> Outcome {
        if !self.queue.has_summaries() {
            return Outcome::ReportWithheld;
        }
        let host_int = self.queue.push_summary(|sequence| loss.host_int(*summary, sequence, now));
        let pushed = host_int.unwrap_or_else(|| {
            loss.with_report(summary, domain, |draft| self.queue.push(draft, draft.length(), Some(now)))
        });
        if pushed { Outcome::Reported } else { Outcome::ReportShed }
    }
}

/// Interfaces, hop latency, queue and timestamps: the metadata SD-Fabric reports of its own hop.
const LOCAL: Instructions = Instructions(0x7c00);

/// Writes the domain-specific metadata of a report, in bit order, and returns its DSMdBits: what every node
/// exports, and the part of `copied` that its reporting requirement asks of this node.
///
/// Source-inserted metadata that is not copied stays in the fragment, and has its bits cleared.
// report-2.0/modes-02, int-2.1/mx-05, int-2.1/mx-09, int-2.1/mx-20, int-2.1/mx-25, int-2.1/md-34
fn write_domain(
    asked: &Asked,
    domains: &KnownDomains,
    values: &ValueContext,
    copied: &Inserted<'_>,
    out: &mut Vec<u8>,
) -> u16 {
    let Some(known) = domains.get(asked.domain_specific_id) else {
        return 0;
    };
    let exported = known.available(asked.ds_instruction & !known.wire.source_inserted, values);
    // int-2.1/mx-11, int-2.1/mx-12, int-2.1/mx-13
    let for_this_node = known.for_all_nodes | if copied.is_sink { known.for_the_sink } else { 0 };
    let mut ds_md_bits = 0;
    for bit in set_bits(asked.ds_instruction) {
        let mask = 0x8000 >> bit;
        if exported & mask != 0 {
            let at = out.len();
            out.resize(at + known.wire.bit_words(bit).bytes(), 0);
            known.write(mask, values, out.get_mut(at..).unwrap_or_default());
            ds_md_bits |= mask;
        } else if for_this_node & mask != 0
            && let Some(metadata) = known.inserted(asked.ds_instruction, bit, copied.metadata)
        {
            // int-2.1/mx-24
            out.extend_from_slice(metadata);
            ds_md_bits |= mask;
        }
    }
    ds_md_bits
}
