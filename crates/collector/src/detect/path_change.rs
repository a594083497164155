//! Changes of path.

use hashbrown::HashMap;
use inband_model::{
    Confidence, EndReason, Event, EventDetail, EventKind, Nanos, PathChange, PathChangeKind, Severity,
};

use crate::book::Course;
use crate::flows::{FLAPS, FlowEntry, FlowIndex};
use crate::network::Network;
use crate::outbox::Outbox;

use super::detector::{ChangeStage, Common, Detector, NoSettings, SeenChange};

pub(crate) type Settings = NoSettings;

/// The flows that flap.
#[derive(Debug)]
pub(crate) struct State {
    /// When a flap of each followed flow was last announced.
    flaps_announced_at: HashMap<FlowIndex, Nanos>,
}

impl Detector for State {
    type Settings = Settings;

    fn new(_: &Settings, _: &Common) -> Self {
        Self { flaps_announced_at: HashMap::new() }
    }

    fn handle_change(&mut self, change: &SeenChange, network: &Network, outbox: &mut Outbox) {
        match change.stage {
            ChangeStage::Seen { flaps: true } => self.announce_flap(change, network, outbox),
            ChangeStage::Seen { flaps: false } => begin(change, network, outbox),
            ChangeStage::Settled => {
                let is_dead = left_a_dead_link(change, change.change.changed_at, network);
                let kind = if is_dead { PathChangeKind::Reroute } else { PathChangeKind::EcmpMove };
                end(Event { last: change.now, ..decided(change, kind, network) }, outbox);
            }
            // The kind of the change can no longer be determined.
            ChangeStage::Superseded => end(decided(change, PathChangeKind::EcmpMove, network), outbox),
            ChangeStage::Forgotten => {
                let event = decided(change, PathChangeKind::EcmpMove, network);
                end(Event { last: change.now, ..event }, outbox);
            }
        }
    }

    fn handle_eviction(&mut self, index: FlowIndex, _: &FlowEntry, _: Nanos, _: &mut Outbox) {
        self.flaps_announced_at.remove(&index);
    }
}

impl State {
    /// Announces that a flow flaps, at most once per flap window.
    fn announce_flap(&mut self, change: &SeenChange, network: &Network, outbox: &mut Outbox) {
        let announced_at = self.flaps_announced_at.get(&change.index);
        if announced_at.is_some_and(|at| change.now.since(*at) <= network.settings.flap_window()) {
            return;
        }
        self.flaps_announced_at.insert(change.index, change.now);
        let event = event(change, PathChangeKind::Flap, change.change.confidence, network);
        outbox.announce(Event { count: FLAPS as u64, ..event });
    }
}

/// Announces a reroute, or the beginning of a change that may turn out to be one.
fn begin(change: &SeenChange, network: &Network, outbox: &mut Outbox) {
    let confidence = change.change.confidence;
    if left_a_dead_link(change, network.alive_since(change.now), network) {
        outbox.announce(event(change, PathChangeKind::Reroute, confidence, network));
    } else {
        let event = event(change, PathChangeKind::EcmpMove, confidence, network);
        outbox.begin(event, Course::UNTIL_ENDED);
    }
}

/// Announces the outcome of a change whose beginning has been announced.
fn end(event: Event, outbox: &mut Outbox) {
    if outbox.is_active(EventKind::PathChange, &event.key) {
        outbox.end(event, EndReason::Over);
    }
}

/// Whether a link used only by the old path has carried no flow since a time.
fn left_a_dead_link(change: &SeenChange, since: Nanos, network: &Network) -> bool {
    network.paths.left_a_dead_link(change.change.old, change.change.new, since, &network.links)
}

/// The event of a change with its outcome.
fn decided(change: &SeenChange, kind: PathChangeKind, network: &Network) -> Event {
    let confidence = change.change.confidence;
    let is_moved = kind == PathChangeKind::EcmpMove;
    // A link may carry no flow for lack of flows.
    let confidence = if is_moved { confidence } else { confidence.min(Confidence::Probable) };
    event(change, kind, confidence, network)
}

fn event(seen: &SeenChange, change: PathChangeKind, confidence: Confidence, network: &Network) -> Event {
    let [old, new] = [seen.change.old, seen.change.new].map(|path| network.paths[path].path.clone());
    let detail = PathChange { flow: seen.flow, change, old, new };
    let severity = match change {
        PathChangeKind::Reroute | PathChangeKind::Flap => Severity::Warning,
        PathChangeKind::EcmpMove => Severity::Info,
    };
    let (key, report) = (seen.flow.to_string(), seen.change.report);
    Event::of_report(EventDetail::PathChange(detail), severity, key, confidence, report)
}
