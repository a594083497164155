//! Changes of the fabric and the flows in the last second, for all followers at once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use inband_collector::{LinkView, NodeView, QueueView};
use inband_model::api::{Exact, NamedFlow};
use inband_model::{Nanos, NodeId};
use serde::Serialize;
use tokio::time::MissedTickBehavior;

use super::followers::Follower;
use super::state::{Shared, State};
use crate::named::Named;
use crate::read_model::Flows;

/// The state of a second before.
#[derive(Debug, Default)]
struct Before {
    nodes: HashMap<NodeId, (u64, u64)>,
    links: HashMap<LinkKey, (bool, Option<u64>)>,
    queues: HashMap<QueueKey, (u32, bool)>,
    flows_at: Option<Nanos>,
}

type LinkKey = (NodeId, Option<u16>, NodeId, Option<u16>);
type QueueKey = (NodeId, Option<u16>, u8);

/// The changes of the fabric, in columns.
#[derive(Debug, Default, Serialize)]
struct FabricChanges {
    at: Exact,
    nodes: NodeChanges,
    links: LinkChanges,
    queues: QueueChanges,
    /// Rows left out because of `MAX_ROWS`.
    left_out: usize,
}

/// Nodes that reported, or whose reports were lost.
#[derive(Debug, Default, Serialize)]
struct NodeChanges {
    node: Vec<u32>,
    reports: Vec<u64>,
    lost: Vec<u64>,
}

/// Links that are new, changed their certainty, or whose latency changed by more than an eighth.
#[derive(Debug, Default, Serialize)]
struct LinkChanges {
    from: Vec<u32>,
    egress_interface: Vec<Option<u16>>,
    to: Vec<u32>,
    ingress_interface: Vec<Option<u16>>,
    certain: Vec<bool>,
    latency_p50: Vec<Option<u64>>,
}

/// Queues whose recent depth changed, or that became congested or calm.
#[derive(Debug, Default, Serialize)]
struct QueueChanges {
    node: Vec<u32>,
    interface: Vec<Option<u16>>,
    queue: Vec<u8>,
    recent: Vec<u32>,
    congested: Vec<bool>,
}

/// The changes of flows.
#[derive(Serialize)]
struct FlowChanges<'a> {
    at: Exact,
    /// Flows reported since the previous message.
    reported: usize,
    /// Flows that are new or changed path first, then those with the longest hops.
    flows: Vec<NamedFlow<'a>>,
}

/// Adds a follower; the first one starts the comparing.
pub(super) fn follow(state: &Shared) -> Follower {
    let (follower, begins) = state.followers.begin();
    if let Some(turn) = begins {
        tokio::spawn(compare(Arc::downgrade(state), turn));
    }
    follower
}

/// Compares once a second while there are followers.
async fn compare(state: Weak<State>, turn: u64) {
    let mut seconds = tokio::time::interval(SECOND);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before = Before::default();
    loop {
        seconds.tick().await;
        let Some(state) = state.upgrade() else { return };
        if !state.followers.is_followed(turn) {
            return;
        }
        // A collector that does not answer may do so a second later.
        let read = &state.read;
        let (Ok(now), Ok(nodes), Ok(links), Ok(queues), Ok(flows)) = (
            read.now().await,
            read.nodes().await,
            read.links().await,
            read.queues().await,
            read.flows().await,
        ) else {
            continue;
        };
        let names = Arc::clone(&state.names);
        let compared = tokio::task::spawn_blocking(move || {
            let fabric = before.fabric(now, &nodes, &links, &queues);
            let chosen = before.flows(now, &flows);
            let places = chosen.1.iter().map(|place| flows.all().flow(*place)).collect::<Vec<_>>();
            let flows = places.iter().map(|flow| names.of_flow(flow)).collect();
            let flows = FlowChanges { at: now.into(), reported: chosen.0, flows };
            let text = |what: Result<String, serde_json::Error>| what.unwrap_or_default();
            (text(serde_json::to_string(&fabric)), text(serde_json::to_string(&flows)), before)
        });
        let Ok((fabric, flows, then)) = compared.await else { return };
        before = then;
        state.live.tell_text("map", fabric);
        state.live.tell_text("flows", flows);
    }
}

impl Before {
    fn fabric(
        &mut self,
        now: Nanos,
        nodes: &[NodeView],
        links: &[LinkView],
        queues: &[QueueView],
    ) -> FabricChanges {
        let mut changes = FabricChanges { at: now.into(), ..FabricChanges::default() };
        let mut rows = 0;
        let mut has_room = |left_out: &mut usize| {
            rows += 1;
            *left_out += usize::from(rows > MAX_ROWS);
            rows <= MAX_ROWS
        };
        for node in nodes {
            let known = (node.reports, node.lost);
            if self.nodes.get(&node.node_id) != Some(&known) && has_room(&mut changes.left_out) {
                self.nodes.insert(node.node_id, known);
                changes.nodes.node.push(node.node_id.0);
                changes.nodes.reports.push(node.reports);
                changes.nodes.lost.push(node.lost);
            }
        }
        for queue in queues {
            let key = (queue.node_id, queue.egress_interface, queue.queue_id);
            let known = (queue.recent, queue.congested);
            if self.queues.get(&key) != Some(&known) && has_room(&mut changes.left_out) {
                self.queues.insert(key, known);
                changes.queues.node.push(queue.node_id.0);
                changes.queues.interface.push(queue.egress_interface);
                changes.queues.queue.push(queue.queue_id);
                changes.queues.recent.push(queue.recent);
                changes.queues.congested.push(queue.congested);
            }
        }
        for link in links {
            let key = (link.from, link.egress_interface, link.to, link.ingress_interface);
            let known = (link.certain, link.latency.map(|latency| latency.p50.0));
            let is_same = self.links.get(&key).is_some_and(|before| is_about(*before, known));
            if !is_same && has_room(&mut changes.left_out) {
                self.links.insert(key, known);
                changes.links.from.push(link.from.0);
                changes.links.egress_interface.push(link.egress_interface);
                changes.links.to.push(link.to.0);
                changes.links.ingress_interface.push(link.ingress_interface);
                changes.links.certain.push(known.0);
                changes.links.latency_p50.push(known.1);
            }
        }
        // What the collector has evicted is removed here.
        if self.nodes.len() > nodes.len()
            || self.links.len() > links.len()
            || self.queues.len() > queues.len()
        {
            self.nodes.retain(|id, _| nodes.binary_search_by_key(id, |node| node.node_id).is_ok());
            if self.links.len() > 2 * links.len() + MAX_ROWS
                || self.queues.len() > 2 * queues.len() + MAX_ROWS
            {
                self.links.clear();
                self.queues.clear();
            }
        }
        changes
    }

    /// The number of flows reported since the previous message, and the places of those to send.
    fn flows(&mut self, now: Nanos, flows: &Flows) -> (usize, Vec<usize>) {
        let all = flows.all();
        let since = self.flows_at.replace(now).unwrap_or(Nanos(now.0.saturating_sub(SECOND_NS)));
        let mut reported: Vec<usize> =
            (0..all.len()).filter(|place| all.flow(*place).last_seen > since).collect();
        let count = reported.len();
        let rank = |place: &usize| {
            let flow = all.flow(*place);
            let has_moved = flow.path.is_some() && flow.path_since > since;
            let longest = flow.hop_latency.iter().flatten().max().copied();
            std::cmp::Reverse((has_moved, longest, flow.id))
        };
        if reported.len() > MAX_FLOWS {
            reported.select_nth_unstable_by_key(MAX_FLOWS, rank);
            reported.truncate(MAX_FLOWS);
        }
        reported.sort_by_key(rank);
        (count, reported)
    }
}

/// Whether a link is unchanged, except for up to an eighth of its latency.
fn is_about(before: (bool, Option<u64>), now: (bool, Option<u64>)) -> bool {
    let is_near = match (before.1, now.1) {
        (Some(before), Some(now)) => before.abs_diff(now) <= before / 8,
        (before, now) => before == now,
    };
    before.0 == now.0 && is_near
}

const SECOND: Duration = Duration::from_secs(1);
const SECOND_NS: u64 = 1_000_000_000;
/// Maximum number of rows of a message on the fabric.
const MAX_ROWS: usize = 10_000;
/// Maximum number of flows of a message.
const MAX_FLOWS: usize = 200;
