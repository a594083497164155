//! Links on which packets vanish without a drop report.

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, LinkEnds, Nanos, Phase, ReportReference, Severity,
    SilentLoss,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::paths::{LinkIndex, link_key};

use super::detector::{Common, Detector, Stop, StopPhase};

/// When a link is suspected of silent loss: `[events.silent_loss]`. How long a node must be silent on a flow
/// that the node before it reports is `paths.keep_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SilentLossSettings {
    /// Number of flows that end at the link. Default 3.
    pub flows: usize,
    /// Seconds within which all of them must end, or be reported to end still, and after the last of which the
    /// event ends; at least 1. Default 60.
    pub window_s: u64,
    /// Followed links. Default 1024: about 2 MB.
    pub max_links: usize,
}

impl Default for SilentLossSettings {
    fn default() -> SilentLossSettings {
        SilentLossSettings { flows: 3, window_s: 60, max_links: 1_024 }
    }
}

pub(crate) type Settings = SilentLossSettings;

/// The flows that ended at each link recently.
#[derive(Debug)]
pub(crate) struct State {
    settings: SilentLossSettings,
    stopped: HashMap<LinkIndex, Vec<Stopped>>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), stopped: HashMap::new() }
    }

    fn handle_link_release(&mut self, link: LinkIndex) {
        self.stopped.remove(&link);
    }

    /// Records a flow that ends at a link; with enough of them the link is suspected, as long as the node
    /// before it still reports them.
    fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let window = Nanos::from_secs(self.settings.window_s).max(LEAST_WINDOW);
        let silent_since = match stop.phase {
            StopPhase::Begins { silent_since } => silent_since,
            StopPhase::GoesOn => match self.stopped.get(&stop.link).and_then(|flows| of(flows, stop.flow)) {
                Some(known) if !known.is_within(CONFIRMED_EVERY, stop.noticed_at) => known.silent_since,
                // One that was not recorded shows nothing new either.
                _ => return,
            },
            StopPhase::Over => return self.resume(stop, outbox),
        };
        if self.stopped.len() >= self.settings.max_links && !self.stopped.contains_key(&stop.link) {
            self.stopped
                .retain(|_, flows| flows.iter().any(|known| known.is_within(window, stop.noticed_at)));
            if self.stopped.len() >= self.settings.max_links {
                return;
            }
        }
        let flows = self.stopped.entry(stop.link).or_default();
        flows.retain(|known| known.is_within(window, stop.noticed_at) && known.flow != stop.flow);
        if flows.len() >= MAX_FLOWS {
            flows.remove(0);
        }
        flows.push(Stopped {
            flow: stop.flow,
            noticed_at: stop.noticed_at,
            silent_since,
            report: stop.report,
        });
        if flows.len() >= self.settings.flows {
            outbox.begin(event(flows, &stop.ends), Course::renewed_within(window));
        }
    }
}

impl State {
    /// Records that a flow passes a link again; the link is suspected no longer with too few others.
    fn resume(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let Some(flows) = self.stopped.get_mut(&stop.link) else { return };
        flows.retain(|known| known.flow != stop.flow);
        if flows.len() < self.settings.flows.max(1) {
            outbox.calm(EventKind::SilentLoss, &link_key(&stop.ends), stop.noticed_at);
        }
        if flows.is_empty() {
            self.stopped.remove(&stop.link);
        }
    }
}

/// A flow that ends at a link.
#[derive(Debug, Clone, Copy)]
struct Stopped {
    flow: Flow,
    /// When it was last found to.
    noticed_at: Nanos,
    /// Since when the node behind the link has been silent on it.
    silent_since: Nanos,
    /// The latest report of the node before the link.
    report: ReportReference,
}

impl Stopped {
    fn is_within(&self, window: Nanos, now: Nanos) -> bool {
        now.since(self.noticed_at) <= window
    }
}

fn of(flows: &[Stopped], flow: Flow) -> Option<&Stopped> {
    flows.iter().find(|known| known.flow == flow)
}

/// The event of a link, from the flows that end at it, latest last.
fn event(flows: &[Stopped], ends: &LinkEnds) -> Event {
    let LinkEnds { from, egress_interface, to, ingress_interface } = *ends;
    let flows_named = flows.iter().map(|stopped| stopped.flow).collect();
    let first = flows.iter().map(|stopped| stopped.noticed_at).min().unwrap_or_default();
    let last = flows.last().map_or(first, |stopped| stopped.noticed_at);
    let silent_for = flows.last().map_or(Nanos::ZERO, |latest| latest.noticed_at.since(latest.silent_since));
    let detail = SilentLoss { from, egress_interface, to, ingress_interface, flows: flows_named, silent_for };
    Event {
        detail: EventDetail::SilentLoss(detail),
        severity: Severity::Warning,
        key: link_key(ends),
        first,
        last,
        count: flows.len() as u64,
        confidence: Confidence::Probable,
        evidence: flows.iter().take(MAX_EVIDENCE).map(|stopped| stopped.report).collect(),
        phase: Phase::Once,
        silenced: false,
        end_reason: None,
    }
}

/// Maximum number of flows remembered for a link.
const MAX_FLOWS: usize = 16;
/// How often a flow that still ends at a link is a new sign of it.
const CONFIRMED_EVERY: Nanos = Nanos::from_millis(250);
/// Shortest window: reports of one state may be this far apart.
const LEAST_WINDOW: Nanos = Nanos::from_secs(1);
/// Maximum number of reports cited.
const MAX_EVIDENCE: usize = 8;
