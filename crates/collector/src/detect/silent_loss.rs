//! Links on which packets vanish without a drop report.

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, LinkEnds, Nanos, Phase, Severity, SilentLoss,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::outbox::Outbox;
use crate::paths::{LinkIndex, link_key};

use super::detector::{Common, Detector, Stop};

/// When a link is suspected of silent loss: `[events.silent_loss]`. How long a node must be silent on a flow
/// that the node before it reports is `paths.keep_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SilentLossSettings {
    /// Number of flows that end at the link. Default 3.
    pub flows: usize,
    /// Seconds within which all of them must end, and after the last of which the event ends. Default 60.
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
    stopped: HashMap<LinkIndex, Vec<Stop>>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self { settings: settings.clone(), stopped: HashMap::new() }
    }

    fn handle_link_release(&mut self, link: LinkIndex) {
        self.stopped.remove(&link);
    }

    /// Records a flow that ends at a link; with enough of them the link is suspected.
    fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let (link, stopped) = (stop.link, *stop);
        let window = Nanos::from_secs(self.settings.window_s);
        let is_recent = |known: &Stop| stopped.noticed_at.since(known.noticed_at) <= window;
        if self.stopped.len() >= self.settings.max_links && !self.stopped.contains_key(&link) {
            self.stopped.retain(|_, flows| flows.iter().any(is_recent));
            if self.stopped.len() >= self.settings.max_links {
                return;
            }
        }
        let flows = self.stopped.entry(link).or_default();
        flows.retain(|known| is_recent(known) && known.flow != stopped.flow);
        if flows.len() >= MAX_FLOWS {
            flows.remove(0);
        }
        flows.push(stopped);
        if flows.len() >= self.settings.flows {
            outbox.begin(event(flows, &stopped), Course::renewed_within(window));
        }
    }
}

fn event(flows: &[Stop], latest: &Stop) -> Event {
    let LinkEnds { from, egress_interface, to, ingress_interface } = latest.ends;
    let flows_named = flows.iter().map(|stopped| stopped.flow).collect();
    let silent_for = latest.silent_for;
    let detail = SilentLoss { from, egress_interface, to, ingress_interface, flows: flows_named, silent_for };
    let first = flows.first().unwrap_or(latest);
    Event {
        detail: EventDetail::SilentLoss(detail),
        severity: Severity::Warning,
        key: link_key(&latest.ends),
        first: first.noticed_at,
        last: latest.noticed_at,
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
