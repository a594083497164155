//! Packets missing between those numbered by their source.

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, Nanos, NodeId, ReportReference, SequenceGap, Severity,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::deadlines::Deadlines;
use crate::ledger::{Arrival, LedgerSettings, Sequence, SequenceSpace};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::purge::Purge;
use crate::report::Missing;
use crate::sighting::Sighting;

use super::detector::{Common, Detector};

/// Numbering of packets by sources: `[events.sequence_gap]`.
///
/// Losses reported by Host-INT are announced whatever is set here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NumberSettings {
    /// Domain whose source-inserted metadata of INT-MX contains a number of 4 bytes. Only where nodes report
    /// every packet: what a filter holds back looks like a loss. Default: none.
    pub domain: Option<u16>,
    /// Words in front of the number in that metadata. Default 0.
    pub offset_words: usize,
    /// Domain whose metadata in a report 2.0 of dropped packets begins with the drop summary of Host-INT; 0:
    /// none. Default 0x4849, the value that nodes use.
    pub summary_domain: u16,
    /// Milliseconds until a gap counts as lost, or `paths.settle_ms` where that is more. Default 200.
    pub confirm_after_ms: u64,
    /// Seconds without another loss after which the event of a flow ends. Default 60.
    pub quiet_s: u64,
    /// Followed flows, counted at each node. Default 16,384: about 16 MB, and up to 8 KiB for each whose
    /// packets are reordered widely.
    pub max_flows: usize,
}

impl Default for NumberSettings {
    fn default() -> NumberSettings {
        NumberSettings {
            domain: None,
            offset_words: 0,
            summary_domain: 0x4849,
            confirm_after_ms: 200,
            quiet_s: 60,
            max_flows: 16_384,
        }
    }
}

pub(crate) type Settings = NumberSettings;

/// The numbers of packets, by flow and reporting node.
#[derive(Debug)]
pub(crate) struct State {
    settings: NumberSettings,
    ledger: LedgerSettings,
    flows: HashMap<(Flow, NodeId), Numbered>,
    confirmations: Deadlines<(Flow, NodeId)>,
    purge: Purge,
}

/// A flow whose packets are numbered.
#[derive(Debug)]
struct Numbered {
    sequence: Sequence,
    seen_at: Nanos,
    told: u64,
    /// The first report after the latest gap.
    report: ReportReference,
    is_watched: bool,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, common: &Common) -> Self {
        let ledger = LedgerSettings {
            reorder_window: REORDER_WINDOW,
            confirm_after_ms: settings.confirm_after_ms.max(common.settle.0.div_ceil(1_000_000)),
            ..LedgerSettings::default()
        };
        Self {
            settings: settings.clone(),
            ledger,
            flows: HashMap::new(),
            confirmations: Deadlines::new(),
            purge: Purge::default(),
        }
    }

    /// Handles the missing packets that a report states, and the number of its packet.
    #[inline]
    fn handle_report(&mut self, sighting: &Sighting<'_>, _: &Network, outbox: &mut Outbox) {
        if sighting.reading.missing.is_none() && sighting.reading.number.is_none() {
            return;
        }
        let share = sighting.share;
        let Some(flow) = sighting.reading.flow.filter(|flow| share.has_flow(flow)) else { return };
        if let Some(Missing { packets: lost @ 1.., dropped: None }) = sighting.reading.missing {
            self.announce(sighting.report, sighting.now, flow, lost.into(), outbox);
        }
        if let Some(number) = sighting.reading.number {
            self.record(sighting.report, flow, number);
        }
    }

    /// Counts as lost what has been missing long enough.
    fn handle_timeout(&mut self, now: Nanos, _: &Network, outbox: &mut Outbox) {
        while let Some(key) = self.confirmations.pop_due(now) {
            let Some(numbered) = self.flows.get_mut(&key) else { continue };
            numbered.is_watched = false;
            numbered.sequence.confirm(&self.ledger, now);
            let lost = numbered.sequence.lost().saturating_sub(numbered.told);
            numbered.told += lost;
            if let Some(due) = numbered.sequence.next_confirmation(&self.ledger) {
                numbered.is_watched = true;
                self.confirmations.set(due, key);
            }
            if lost > 0 {
                // The packets are missing up to the present, however long the confirmation took.
                let report = numbered.report;
                self.announce(report, now, key.0, lost, outbox);
            }
        }
    }

    fn next_timeout(&self) -> Option<Nanos> {
        self.confirmations.next()
    }
}

impl State {
    /// Records the number of a reported packet.
    fn record(&mut self, report: ReportReference, flow: Flow, number: u32) {
        let (key, now) = ((flow, report.node_id), report.received_at);
        let Some(numbered) = self.flows.get_mut(&key) else {
            if self.flows.len() >= self.settings.max_flows {
                self.purge(now);
                if self.flows.len() >= self.settings.max_flows {
                    return;
                }
            }
            let sequence = Sequence::new(SequenceSpace::new(u32::BITS), &self.ledger, now, number);
            self.flows.insert(key, Numbered { sequence, seen_at: now, told: 0, report, is_watched: false });
            return;
        };
        numbered.seen_at = now;
        let arrival = numbered.sequence.arrive(&self.ledger, now, number);
        // A late packet may have been counted as lost.
        numbered.told = numbered.told.min(numbered.sequence.lost());
        match arrival {
            Arrival::InOrder => return,
            Arrival::Gap(_) => numbered.report = report,
            _ => {}
        }
        if !numbered.is_watched
            && let Some(due) = numbered.sequence.next_confirmation(&self.ledger)
        {
            numbered.is_watched = true;
            self.confirmations.set(due, key);
        }
    }

    /// Evicts silent flows.
    fn purge(&mut self, now: Nanos) {
        if self.purge.begins(now) {
            let idle = Nanos::from_secs(self.settings.quiet_s);
            self.flows.retain(|_, numbered| now.since(numbered.seen_at) <= idle);
        }
    }

    /// Announces that more packets of a flow are missing, with those since the event began.
    #[cold]
    fn announce(&self, report: ReportReference, now: Nanos, flow: Flow, lost: u64, outbox: &mut Outbox) {
        let (node_id, key) = (report.node_id, format!("{flow} at node {}", report.node_id));
        let before = outbox.active_count(EventKind::SequenceGap, &key);
        let lost = lost.saturating_add(before);
        let detail = EventDetail::SequenceGap(SequenceGap { flow, node_id, lost });
        let event = Event::of_report(detail, Severity::Warning, key, Confidence::Certain, report);
        let course = Course::renewed_within(Nanos::from_secs(self.settings.quiet_s));
        outbox.begin(Event { last: now, count: lost, ..event }, course);
    }
}

/// Numbers of a flow that are remembered individually: packets of 500 ms at 8,000 a second.
const REORDER_WINDOW: u32 = 4_096;
