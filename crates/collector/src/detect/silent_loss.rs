//! Links on which packets vanish without a drop report.

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, EventKind, Flow, LinkEnds, Nanos, Phase, ReportReference, Severity,
    SilentLoss,
};
use serde::{Deserialize, Serialize};

use crate::book::{Course, MIN_QUIET, Signs};
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
    /// Seconds within which all of them must end, or be reported to end still, and after the last of which
    /// the event ends; at least 1. Default 60.
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

/// The links at which flows ended recently.
#[derive(Debug)]
pub(crate) struct State {
    settings: SilentLossSettings,
    suspects: HashMap<LinkIndex, Suspect>,
}

/// A link at which flows end.
#[derive(Debug, Default)]
struct Suspect {
    /// These flows, the latest confirmed last.
    flows: Vec<Stopped>,
    signs: Signs,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), suspects: HashMap::new() }
    }

    fn handle_link_release(&mut self, link: LinkIndex) {
        self.suspects.remove(&link);
    }

    /// Records a flow that ends at a link; with enough of them the link is suspected, as long as the node
    /// before it still reports them.
    fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
        match stop.phase {
            StopPhase::Begins { silent_since } => self.begin(stop, silent_since, outbox),
            StopPhase::GoesOn => self.go_on(stop, outbox),
            StopPhase::Over => self.resume(stop, outbox),
        }
    }
}

impl State {
    fn begin(&mut self, stop: &Stop, silent_since: Nanos, outbox: &mut Outbox) {
        let window = self.settings.window();
        if self.suspects.len() >= self.settings.max_links && !self.suspects.contains_key(&stop.link) {
            let is_recent = |known: &Stopped| known.is_within(window, stop.noticed_at);
            self.suspects.retain(|_, suspect| suspect.flows.iter().any(is_recent));
            if self.suspects.len() >= self.settings.max_links {
                return;
            }
        }
        let suspect = self.suspects.entry(stop.link).or_default();
        suspect.put(stop, silent_since, window);
        if suspect.flows.len() >= self.settings.flows {
            suspect.announce(&self.settings, stop, outbox);
        }
    }

    /// Records that a known flow still ends at a link; what is not announced is in the next announcement.
    fn go_on(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let Some(suspect) = self.suspects.get_mut(&stop.link) else { return };
        // A flow that was not recorded shows nothing new either.
        let Some(known) = suspect.flows.iter().find(|known| known.flow == stop.flow) else { return };
        suspect.put(stop, known.silent_since, self.settings.window());
        let is_suspected = suspect.flows.len() >= self.settings.flows;
        if is_suspected && suspect.signs.are_due(stop.noticed_at, self.settings.course()) {
            suspect.announce(&self.settings, stop, outbox);
        }
    }

    /// Records that a flow passes a link again; the link is suspected no longer with too few others.
    fn resume(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let Some(suspect) = self.suspects.get_mut(&stop.link) else { return };
        suspect.flows.retain(|known| known.flow != stop.flow);
        if suspect.flows.len() < self.settings.flows.max(1) {
            outbox.calm(EventKind::SilentLoss, &link_key(&stop.ends), stop.noticed_at);
        }
        if suspect.flows.is_empty() {
            self.suspects.remove(&stop.link);
        }
    }
}

impl SilentLossSettings {
    fn window(&self) -> Nanos {
        Nanos::from_secs(self.window_s).max(MIN_QUIET)
    }

    fn course(&self) -> Course {
        Course::renewed_within(self.window())
    }
}

impl Suspect {
    /// Puts a flow behind the others, and forgets those that ended before the window.
    fn put(&mut self, stop: &Stop, silent_since: Nanos, window: Nanos) {
        let Stop { flow, noticed_at, report, .. } = *stop;
        self.flows.retain(|known| known.is_within(window, noticed_at) && known.flow != flow);
        if self.flows.len() >= MAX_FLOWS {
            self.flows.remove(0);
        }
        self.flows.push(Stopped { flow, noticed_at, silent_since, report });
    }

    fn announce(&mut self, settings: &SilentLossSettings, stop: &Stop, outbox: &mut Outbox) {
        self.signs.announce(stop.noticed_at);
        outbox.begin(event(&self.flows, &stop.ends), settings.course());
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
/// Maximum number of reports cited.
const MAX_EVIDENCE: usize = 8;
