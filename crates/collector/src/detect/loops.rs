//! Packets that pass the same place twice.

mod seen;

use hashbrown::HashMap;
use inband_model::{
    Confidence, Event, EventDetail, Flow, Hop, Loop, LoopSupport, Nanos, NodeId, Path, Severity,
};
use serde::{Deserialize, Serialize};

use crate::book::{Course, Signs};
use crate::flows::{FlowEntry, FlowIndex};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::purge::Purge;
use crate::report::StackState;
use crate::sighting::Sighting;

use self::seen::{Seen, SeenPackets};
use super::detector::{Common, Detector, SeenStack};

/// Detection of loops: `[events.loop]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoopSettings {
    /// Nodes that packets may pass twice by different interfaces: hairpins and service chains. Default: none.
    pub allow_nodes: Vec<u32>,
    /// Seconds without another looping packet after which the event of a flow ends, at least 3: smart nodes
    /// report a flow every 1.07 s. Default 60.
    pub quiet_s: u64,
}

impl Default for LoopSettings {
    fn default() -> LoopSettings {
        LoopSettings { allow_nodes: Vec::new(), quiet_s: 60 }
    }
}

impl LoopSettings {
    /// The course of the event of a flow.
    fn course(&self) -> Course {
        Course::until_quiet(Nanos::from_secs(self.quiet_s.max(MIN_LOOP_QUIET_S)))
    }
}

pub(crate) type Settings = LoopSettings;

/// The flows whose packets loop.
#[derive(Debug)]
pub(crate) struct State {
    settings: LoopSettings,
    /// The signs of each followed flow that has looped.
    signs: HashMap<FlowIndex, Signs>,
    /// Packets of flows whose TTL at a node varies, as it does where they loop, of at most [`MAX_VARYING`]
    /// flows.
    varying: HashMap<FlowIndex, SeenPackets>,
    purge: Purge,
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        let (signs, varying) = (HashMap::new(), HashMap::new());
        Self { settings: settings.clone(), signs, varying, purge: Purge::default() }
    }

    #[inline]
    fn handle_stack(&mut self, stack: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        // A known path has been checked; it is checked again only where it loops.
        if !stack.is_known_path || self.signs.contains_key(&stack.flow) {
            self.look_at(stack, network, outbox);
        }
    }

    fn handle_postcard(&mut self, postcard: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let SeenStack { flow, sighting, .. } = *postcard;
        let entry = &network.flows[flow];
        let Some(packet) = Seen::read(sighting) else { return };
        let known = entry.postcards.of(sighting.report.node_id).and_then(Seen::of);
        let varies = known.is_some_and(|known| known.ttl != packet.ttl);
        let earlier = match self.varying.get_mut(&flow) {
            Some(packets) => packets.replace(packet),
            None if varies => self.follow(flow, sighting.now).and_then(|packets| packets.replace(packet)),
            None => None,
        };
        let came_before = [known, earlier].into_iter().flatten().find(|known| packet.came_again_after(known));
        if let Some(known) = came_before {
            self.announce(flow, entry.flow, came_again(&known, &packet), sighting, outbox);
        }
    }

    fn handle_eviction(&mut self, index: FlowIndex, _: &FlowEntry, _: Nanos, _: &mut Outbox) {
        self.signs.remove(&index);
        self.varying.remove(&index);
    }
}

impl State {
    /// Begins to follow the packets of a flow; `None` where there is no room.
    fn follow(&mut self, flow: FlowIndex, now: Nanos) -> Option<&mut SeenPackets> {
        if self.varying.len() >= MAX_VARYING && self.purge.begins(now) {
            self.varying.retain(|_, packets| packets.are_recent(now));
        }
        (self.varying.len() < MAX_VARYING).then(|| self.varying.entry(flow).or_default())
    }

    fn look_at(&mut self, stack: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let SeenStack { flow, sighting, .. } = *stack;
        let entry = &network.flows[flow];
        let is_recent = |at: Nanos| sighting.now.since(at) <= Nanos::from_secs(self.settings.quiet_s);
        let ttl_ran_out = entry.ttl_zero_at.is_some_and(is_recent);
        if let Some(found) = find(&self.settings, sighting, ttl_ran_out) {
            self.announce(flow, entry.flow, found, sighting, outbox);
        }
    }

    fn announce(
        &mut self,
        index: FlowIndex,
        flow: Flow,
        found: Found,
        sighting: &Sighting<'_>,
        outbox: &mut Outbox,
    ) {
        let course = self.settings.course();
        let signs = self.signs.entry(index).or_default();
        if let Some(count) = signs.take(sighting.now, course) {
            outbox.begin_counting(Event { count, ..found.event(flow, sighting) }, course, signs);
        }
    }
}

/// A place that a packet passed twice.
#[derive(Debug)]
struct Found {
    hop: Hop,
    support: Vec<LoopSupport>,
    confidence: Confidence,
}

/// Finds a place that appears twice in one metadata stack.
///
/// The same node and ingress interface twice is certainly a loop. The same node by different or unreported
/// interfaces may be a hairpin: such nodes are listed in the settings.
fn find(settings: &LoopSettings, sighting: &Sighting<'_>, ttl_ran_out: bool) -> Option<Found> {
    let ran_out = matches!(sighting.reading.stack, StackState::Partial { max_hop_count_exceeded: true });
    let mut support = Vec::new();
    support.extend(ran_out.then_some(LoopSupport::MaxHopsExceeded));
    support.extend(ttl_ran_out.then_some(LoopSupport::TtlZeroDrop));
    let is_allowed = |hop: &Hop| settings.allow_nodes.contains(&hop.node_id.0);
    let (hop, confidence) = repeated(sighting, |a, b| {
        a.ingress_interface.is_some() && a.ingress_interface == b.ingress_interface
    })
    .map(|hop| (hop, Confidence::Certain))
    .or_else(|| {
        let hop = repeated(sighting, |hop, _| ran_out || !is_allowed(hop))?;
        Some((Hop { ingress_interface: None, ..hop }, Confidence::Probable))
    })?;
    Some(Found { hop, support, confidence })
}

/// The place that a packet reached again after passing routers in between.
fn came_again(known: &Seen, packet: &Seen) -> Found {
    let ingress = packet.hop.ingress_interface.filter(|id| Some(*id) == known.hop.ingress_interface);
    let hop = Hop { ingress_interface: ingress, ..packet.hop };
    Found { hop, support: vec![LoopSupport::SmallerTtl], confidence: Confidence::Certain }
}

impl Found {
    /// The event that the packet of a report shows.
    fn event(self, flow: Flow, sighting: &Sighting<'_>) -> Event {
        let Self { hop, support, confidence } = self;
        let is_sure = confidence == Confidence::Certain || !support.is_empty();
        let hops: Vec<Hop> = sighting.hops.iter().map(|reading| reading.hop).collect();
        let Hop { node_id, ingress_interface, .. } = hop;
        let detail = Loop { flow, node_id, ingress_interface, path: Path::new(&hops), support };
        let severity = if is_sure { Severity::Critical } else { Severity::Warning };
        Event::of_report(EventDetail::Loop(detail), severity, flow.to_string(), confidence, sighting.report)
    }
}

/// The first hop whose node appears again later, where both hops are also `alike`.
fn repeated(sighting: &Sighting<'_>, alike: impl Fn(&Hop, &Hop) -> bool) -> Option<Hop> {
    let hops = sighting.hops;
    hops.iter().enumerate().find_map(|(place, reading)| {
        let hop = reading.hop;
        let is_known = hop.node_id != NodeId::NOT_AVAILABLE;
        let comes_again = |later: &Hop| later.node_id == hop.node_id && alike(&hop, later);
        let is_repeated = hops[place + 1..].iter().any(|later| comes_again(&later.hop));
        (is_known && is_repeated).then_some(hop)
    })
}

/// Maximum number of flows whose packets are remembered: about 3 MB.
const MAX_VARYING: usize = 1_024;
/// Reports of a smart node on one flow are less than this apart.
const MIN_LOOP_QUIET_S: u64 = 3;
