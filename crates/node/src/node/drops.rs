//! Reports of packets that the device dropped.

use inband_wire::FiveTuple;
use inband_wire::layers::{Layers, Link, Strictness};
use inband_wire::report::Drop;
use inband_wire::tunnel::behind_labels;

use crate::config::Actions;
use crate::counters::Outcome;
use crate::encapsulation::IntSpan;
use crate::loss::{Gap, Loss, Source};
use crate::passage::{Hop, Passage};
use crate::reported::Tracking;
use crate::smart::Congestion;

use super::Node;
use super::smart::{carries_report, is_report};
use super::visit::Visit;

/// The parts of a dropped packet that could be parsed.
#[derive(Clone, Copy, Default)]
struct Dropped {
    flow: FiveTuple,
    /// Which of its bytes are INT, if it carries INT.
    int: Option<IntSpan>,
    is_watched: bool,
}

/// Drops of a flow for which the device reports only a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDrops {
    /// The flow.
    pub flow: FiveTuple,
    /// Number of dropped packets.
    pub packets: u32,
    /// When the first of them was dropped, nanoseconds of the device's clock.
    pub since: u64,
    /// Identifier of the ingress interface.
    pub ingress: u16,
    /// Identifier of the intended egress interface; 0: none was chosen.
    pub egress: u16,
}

impl Node {
    /// Reports, at `now`, packets of a watched flow that the device dropped.
    ///
    /// They are reported like a sink's losses, with this node at both ends.
    pub fn handle_flow_drops(&mut self, drops: &FlowDrops, now: u64) {
        self.counters.add(Outcome::Dropped, u64::from(drops.packets));
        if is_report(&self.profile.report.collectors, &drops.flow) {
            return;
        }
        let node_id = self.profile.identity.node_id.unwrap_or(u32::MAX);
        let source = Source { node_id, ingress: drops.ingress };
        let gap = Gap { after: 0, missing: drops.packets, opened_at: drops.since };
        let loss = Loss { flow: drops.flow, source, egress: drops.egress, gap };
        let summary = loss.summary(node_id);
        self.sessions.report_loss(&loss, &summary, self.profile.loss.domain, now, &mut self.counters);
    }

    /// Handles a packet, as received, that the device dropped for the reason with this code.
    ///
    /// It is reported if the packet carries INT or an entry of the flow watchlist requests drop reports; a
    /// packet dropped by a full watched queue is reported under the queue's quota as well. `passage` has
    /// egress 0 and no queue if the packet was dropped before the device had chosen them.
    // report-2.0/individual-08
    // sd-fabric-1.0/drop-01
    pub fn handle_drop(&mut self, link: Link, packet: &[u8], passage: &Passage, reason: u8) {
        self.counters.count(Outcome::Dropped);
        if carries_report(&self.profile.report.collectors, link, packet) {
            return;
        }
        let hop = self.profile.hop(passage);
        let dropped = self.inspect(link, packet, hop);
        let queue = self.is_tail_drop(&hop, reason);
        if !dropped.is_watched && !queue {
            return;
        }
        if let (Some(settings), Some(smart)) = (&self.profile.smart, &mut self.smart)
            && !queue
            && !smart.reports_drop(settings, dropped.flow, reason, &hop)
        {
            return self.counters.count(Outcome::ReportWithheld);
        }
        let queue_id = hop.device.queue.map_or(0, |queue| queue.id);
        let drop = Some(Drop { queue_id, reason });
        let tracking = Tracking { flow: dropped.int.is_some(), queue, drop };
        let int = dropped.int.unwrap_or_default();
        self.report_as(link, packet, (&dropped.flow, int), &hop, tracking);
    }

    fn inspect(&mut self, link: Link, packet: &[u8], hop: Hop<'_>) -> Dropped {
        let layers = match Layers::parse(link, packet, Strictness::Truncated) {
            Ok(Some(layers)) => layers,
            Ok(None) if link == Link::Ethernet => match behind_labels(packet) {
                Some(inner) => inner.layers,
                None => return Dropped::default(),
            },
            _ => return Dropped::default(),
        };
        let (flow, int) = self.flow_and_int(link, packet);
        // A packet with INT belongs to a tracked flow: a watchlist selected it at its source.
        let is_watched = int.is_some()
            || self.watch(packet, &Visit::new(link, layers, hop)).contain(Actions::REPORT_DROPS);
        Dropped { flow, int, is_watched }
    }

    /// Whether a full queue with thresholds dropped the packet, and its quota is not exhausted.
    fn is_tail_drop(&mut self, hop: &Hop<'_>, reason: u8) -> bool {
        if !self.profile.drop_reasons.is_tail_drop(reason) {
            return false;
        }
        let (Some(settings), Some(smart)) = (&self.profile.smart, &mut self.smart) else { return false };
        let congestion = smart.tail_drop(settings, hop);
        if congestion == Congestion::OverQuota {
            self.counters.count(Outcome::QueueOverQuota);
        }
        congestion == Congestion::Reported
    }
}
