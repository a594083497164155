//! On which links do packets vanish without a drop report?

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, Flow, LinkEnds, Nanos, Phase, ReportReference, Severity, SilentLoss,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::paths::LinkIndex;

/// When a link is suspected of losing packets in silence: `[events.silent_loss]`. How long a node must be silent on a
/// flow that the node before it reports is `paths.keep_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SilentLossSettings {
    /// Flows that get no further than the link. Default 3.
    pub flows: usize,
    /// Seconds in which they all must stop, and after the last of which the event ends. Default 60.
    pub window_s: u64,
    /// Links that are looked at. Default 1024: about 2 MB.
    pub max_links: usize,
}

impl Default for SilentLossSettings {
    fn default() -> SilentLossSettings {
        SilentLossSettings { flows: 3, window_s: 60, max_links: 1_024 }
    }
}

/// The flows that stopped at each link lately.
#[derive(Debug)]
pub(crate) struct SilentLosses {
    settings: SilentLossSettings,
    stopped: HashMap<LinkIndex, Vec<Stopped>>,
}

/// A flow that the node at the end of a link does not report any more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped {
    pub(crate) flow: Flow,
    pub(crate) noticed_at: Nanos,
    /// How long the node has been silent on it.
    pub(crate) silent_for: Nanos,
    /// The latest report of a node before the link.
    pub(crate) report: ReportReference,
}

impl SilentLosses {
    pub(crate) fn new(settings: SilentLossSettings) -> SilentLosses {
        SilentLosses { settings, stopped: HashMap::new() }
    }

    /// Takes in that a flow stops at a link; with enough of them the link is a suspect.
    pub(crate) fn record(&mut self, link: LinkIndex, ends: LinkEnds, stopped: Stopped, outbox: &mut Outbox) {
        let window = Nanos::from_secs(self.settings.window_s);
        let is_recent = |known: &Stopped| stopped.noticed_at.since(known.noticed_at) <= window;
        if self.stopped.len() >= self.settings.max_links && !self.stopped.contains_key(&link) {
            self.stopped.retain(|_, flows| flows.iter().any(is_recent));
            if self.stopped.len() >= self.settings.max_links {
                return;
            }
        }
        let flows = self.stopped.entry(link).or_default();
        flows.retain(|known| is_recent(known) && known.flow != stopped.flow);
        if flows.len() >= MOST_FLOWS {
            flows.remove(0);
        }
        flows.push(stopped);
        if flows.len() >= self.settings.flows {
            outbox.begin(event(ends, flows, &stopped), Course::renewed_within(window));
        }
    }
}

fn event(ends: LinkEnds, flows: &[Stopped], latest: &Stopped) -> Event {
    let LinkEnds { from, egress_interface, to, ingress_interface } = ends;
    let flows_named = flows.iter().map(|stopped| stopped.flow).collect();
    let silent_for = latest.silent_for;
    let detail = SilentLoss { from, egress_interface, to, ingress_interface, flows: flows_named, silent_for };
    let first = flows.first().unwrap_or(latest);
    Event {
        detail: EventDetail::SilentLoss(detail),
        severity: Severity::Warning,
        key: link_key(&ends),
        first: first.noticed_at,
        last: latest.noticed_at,
        count: flows.len() as u64,
        confidence: Confidence::Probable,
        evidence: flows.iter().take(MOST_EVIDENCE).map(|stopped| stopped.report).collect(),
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}

/// Names a link.
pub(crate) fn link_key(ends: &LinkEnds) -> String {
    let text = |id: Option<u16>| id.map_or("?".to_owned(), |id| id.to_string());
    let (egress, ingress) = (text(ends.egress_interface), text(ends.ingress_interface));
    format!("node {} egress {egress} to node {} ingress {ingress}", ends.from, ends.to)
}

/// Most flows of a link that are remembered.
const MOST_FLOWS: usize = 16;
/// Most reports that are named.
const MOST_EVIDENCE: usize = 8;
