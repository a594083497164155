//! New flows, announced at a limited rate.

use inband_model::{Confidence, Event, EventDetail, Nanos, NewFlow, Severity};
use serde::{Deserialize, Serialize};

use crate::network::Network;
use crate::outbox::Outbox;

use super::detector::{Common, Detector, SeenPath};

/// Announcement of new flows: `[events.new_flow]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewFlowSettings {
    /// New flows announced per second; the next announcement contains the number of skipped ones. 0: none is
    /// announced. Default 16.
    pub per_second: u64,
}

impl Default for NewFlowSettings {
    fn default() -> NewFlowSettings {
        NewFlowSettings { per_second: 16 }
    }
}

pub(crate) type Settings = NewFlowSettings;

/// Counts new flows, to announce only as many per second as a reader can follow.
#[derive(Debug)]
pub(crate) struct State {
    settings: NewFlowSettings,
    second_began_at: Nanos,
    in_this_second: u64,
    unannounced: u64,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        let settings = settings.clone();
        Self { settings, second_began_at: Nanos::ZERO, in_this_second: 0, unannounced: 0 }
    }

    /// Announces a flow whose path is known for the first time, unless there are too many.
    fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, outbox: &mut Outbox) {
        if !path.is_first {
            return;
        }
        if path.now.since(self.second_began_at) >= Nanos::from_secs(1) {
            (self.second_began_at, self.in_this_second) = (path.now, 0);
        }
        if self.in_this_second >= self.settings.per_second {
            self.unannounced += 1;
            return;
        }
        self.in_this_second += 1;
        let unannounced = std::mem::take(&mut self.unannounced);
        let flow = network.flows[path.flow].flow;
        let detail = EventDetail::NewFlow(NewFlow { flow, path: Some(path.path.clone()), unannounced });
        let (severity, confidence) = (Severity::Info, Confidence::Certain);
        outbox.announce(Event::of_report(detail, severity, flow.to_string(), confidence, path.report));
    }
}
