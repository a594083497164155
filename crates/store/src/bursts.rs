//! Episodes of congestion, with what packets found in the queue.
//!
//! The collector announces when a queue was congested; the hops of that time are kept here longer than other
//! hops.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use inband_model::table::{BurstRow, EventRow};
use inband_model::{EventKind, Flow, FlowId, HopColumns, HopField, Nanos, NodeId, Phase};
use serde::Deserialize;
use serde_json::json;

use crate::mixer::Seed;

/// Node, interface, queue.
type Place = (u32, Option<u16>, Option<u8>);

/// An episode, and the packets in it.
#[derive(Debug)]
struct Episode {
    kind: EventKind,
    place: Place,
    first: Nanos,
    last: Nanos,
    found: Vec<Found>,
}

/// What one packet found.
#[derive(Debug, Clone, Copy)]
struct Found {
    received_at: Nanos,
    egress: Option<u64>,
    occupancy: Option<u32>,
    latency: Option<u64>,
    flow: Option<Flow>,
}

/// Where a congestion event happened.
#[derive(Debug, Deserialize)]
struct Where {
    node_id: u32,
    egress_interface: Option<u16>,
    queue_id: Option<u8>,
}

/// The episodes that these rows announce, in order of time.
pub(crate) fn bursts<'a>(
    events: impl Iterator<Item = &'a EventRow>,
    parts: impl Iterator<Item = &'a HopColumns>,
) -> Vec<BurstRow> {
    let mut episodes = episodes(events);
    if episodes.is_empty() {
        return Vec::new();
    }
    let mut by_place: HashMap<Place, Vec<usize>, Seed> = HashMap::default();
    for (at, episode) in episodes.iter().enumerate() {
        by_place.entry(episode.place).or_default().push(at);
    }
    for columns in parts {
        for (index, report) in columns.reports().iter().enumerate() {
            for hop in columns.hops_of(index) {
                let number = |field| columns.value(field, hop);
                let narrow = |field| number(field).and_then(|value| u32::try_from(value).ok());
                let interface = narrow(HopField::EgressInterface).and_then(|value| u16::try_from(value).ok());
                let queue = narrow(HopField::QueueId).and_then(|value| u8::try_from(value).ok());
                let node = narrow(HopField::NodeId).unwrap_or(0);
                // An event may leave out the queue if the node reports only one.
                let known = [(node, interface, queue), (node, interface, None)];
                let Some(all) = known.iter().find_map(|place| by_place.get(place)) else { continue };
                for at in all {
                    let episode = &mut episodes[*at];
                    if episode.first <= report.received_at && report.received_at <= episode.last {
                        episode.found.push(Found {
                            received_at: report.received_at,
                            egress: number(HopField::EgressTimestamp),
                            occupancy: narrow(HopField::QueueOccupancy),
                            latency: number(HopField::Latency),
                            flow: report.flow,
                        });
                    }
                }
            }
        }
    }
    let mut rows: Vec<BurstRow> = episodes.into_iter().filter_map(Episode::into_row).collect();
    rows.sort_by_key(|row| (row.first, row.node_id, row.egress_interface, row.queue_id, row.kind));
    rows
}

/// What was congested and when: up to the end, if one was announced.
fn episodes<'a>(events: impl Iterator<Item = &'a EventRow>) -> Vec<Episode> {
    let mut episodes: HashMap<(EventKind, Place, Nanos), Episode, Seed> = HashMap::default();
    for event in events {
        let kinds = [EventKind::QueueCongestion, EventKind::Microburst];
        let Some(kind) = kinds.into_iter().find(|kind| kind.name() == event.kind) else { continue };
        let Ok(Where { node_id, egress_interface, queue_id }) = serde_json::from_str(&event.detail) else {
            continue;
        };
        let place = (node_id, egress_interface, queue_id);
        // It has not ended within these rows.
        let last = if event.phase == Phase::Begin { Nanos(u64::MAX) } else { event.last };
        let made = Episode { kind, place, first: event.first, last, found: Vec::new() };
        let episode = episodes.entry((kind, place, event.first)).or_insert(made);
        episode.last = episode.last.min(last);
    }
    let mut episodes: Vec<Episode> = episodes.into_values().collect();
    // The longest ones, if there are too many.
    episodes.sort_by_key(|episode| {
        let length = episode.last.0.saturating_sub(episode.first.0);
        (Reverse(length), episode.first, episode.place, episode.kind.name())
    });
    episodes.truncate(MAX_BURSTS);
    episodes
}

impl Episode {
    /// `None` if no report is from the episode.
    fn into_row(self) -> Option<BurstRow> {
        let Self { kind, place: (node, egress_interface, queue_id), mut found, .. } = self;
        let is_node_clock = found.iter().all(|found| found.egress.is_some());
        let time = |found: &Found| match found.egress {
            Some(egress) if is_node_clock => egress,
            _ => found.received_at.0,
        };
        found.sort_by_key(|found| (time(found), found.occupancy, found.latency, found.flow));
        let base = time(found.first()?);
        let (flows, places) = flows(&found);
        let row = BurstRow {
            first: found.iter().map(|found| found.received_at).min()?,
            last: found.iter().map(|found| found.received_at).max()?,
            node_id: NodeId(node),
            egress_interface,
            queue_id,
            kind: kind.name(),
            reports: found.len() as u64,
            latency_max: found.iter().filter_map(|found| found.latency).max().map(Nanos),
            queue_occupancy_max: found.iter().filter_map(|found| found.occupancy).max(),
            is_node_clock,
            base,
            samples: String::new(),
            flows,
        };
        let found = chosen(found);
        let mut samples = String::new();
        for one in &found {
            let separator = if samples.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(samples, "{separator}{}", time(one) - base);
            let place = one.flow.and_then(|flow| places.get(&flow).copied());
            for value in [one.occupancy.map(u64::from), one.latency, place] {
                let _ = match value {
                    Some(value) => write!(samples, ":{value}"),
                    None => write!(samples, ":-"),
                };
            }
        }
        Some(BurstRow { samples, ..row })
    }
}

/// At most [`MAX_SAMPLES`] of the packets: a random one of each run of equal length, whatever its flow; the
/// deepest of all is always included.
fn chosen(found: Vec<Found>) -> Vec<Found> {
    let length = found.len().div_ceil(MAX_SAMPLES);
    if length <= 1 {
        return found;
    }
    let depth = |found: &Found| (found.occupancy, found.latency);
    let deepest = found.iter().map(depth).max();
    let mut state = 0_u64;
    let one_of = |some: &[Found]| {
        // A fixed position would favor one of several flows that alternate.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(state >> 33).unwrap_or(0) % some.len();
        some.iter().find(|found| Some(depth(found)) == deepest).copied().unwrap_or(some[place])
    };
    found.chunks(length).map(one_of).collect()
}

/// The flows with the most reports as JSON, and the position of each.
fn flows(found: &[Found]) -> (String, HashMap<Flow, u64, Seed>) {
    let mut counted: HashMap<Flow, (u64, Option<u64>), Seed> = HashMap::default();
    for found in found {
        let Some(flow) = found.flow else { continue };
        let (reports, longest) = counted.entry(flow).or_default();
        *reports += 1;
        *longest = (*longest).max(found.latency);
    }
    let mut counted: Vec<(Flow, (u64, Option<u64>))> = counted.into_iter().collect();
    counted.sort_by_key(|(flow, (reports, _))| (Reverse(*reports), *flow));
    counted.truncate(MAX_FLOWS);
    let told: Vec<_> = counted
        .iter()
        .map(|(flow, (reports, longest))| {
            let FlowId(id) = flow.id();
            json!({
                "id": id.to_string(), "source": flow.source, "destination": flow.destination, "protocol": flow.protocol,
                "source_port": flow.source_port, "destination_port": flow.destination_port, "reports": reports,
                "latency_max": longest,
            })
        })
        .collect();
    let places = counted.iter().zip(0..).map(|((flow, _), place)| (*flow, place)).collect();
    (json!(told).to_string(), places)
}

/// Maximum episodes per log.
const MAX_BURSTS: usize = 1_024;
/// Maximum samples per episode.
const MAX_SAMPLES: usize = 4_096;
/// Maximum flows per episode.
const MAX_FLOWS: usize = 64;

#[cfg(test)]
mod tests {
    use inband_model::table::{BurstRow, EventRow};
    use inband_model::{Confidence, EventId, Flow, HopColumns, HopRecord, Nanos, NodeId, Phase, Severity};

    use super::bursts;

    fn event(phase: Phase, first: u64, last: u64) -> EventRow {
        EventRow {
            kind: "queue-congestion".to_owned(),
            severity: Severity::Warning,
            confidence: Confidence::Probable,
            key: "node 7 egress 2 queue 0".to_owned(),
            first: Nanos(first),
            last: Nanos(last),
            count: 3,
            detail: r#"{"node_id":7,"egress_interface":2,"queue_id":0,"phase":"end","truncated":false}"#
                .to_owned(),
            evidence: "[]".to_owned(),
            phase,
            silenced: false,
            end_reason: None,
            id: EventId(0),
            nodes: " 7 ".to_owned(),
        }
    }

    fn hop(at: u64, occupancy: u32, source_port: u16) -> HopRecord {
        HopRecord {
            received_at: Nanos(at),
            sequence: u32::try_from(at).unwrap(),
            hop_count: 1,
            node_id: NodeId(7),
            egress_interface: Some(2),
            queue_id: Some(0),
            queue_occupancy: Some(occupancy),
            latency: Some(Nanos(u64::from(occupancy) * 10)),
            egress_timestamp: Some(5_000 + at),
            flow: Some(Flow { source_port, ..Flow::default() }),
            ..HopRecord::default()
        }
    }

    fn of(events: &[EventRow], hops: &[HopRecord]) -> Vec<BurstRow> {
        let columns = HopColumns::from(hops);
        bursts(events.iter(), std::iter::once(&columns))
    }

    #[test]
    fn an_episode_has_what_packets_found_in_its_time_and_place() {
        let mut elsewhere = hop(125, 99, 1);
        elsewhere.egress_interface = Some(3);
        let hops = [hop(99, 1, 1), hop(110, 5, 1), hop(120, 9, 2), elsewhere, hop(130, 6, 1), hop(131, 2, 1)];
        let rows = of(&[event(Phase::Begin, 100, 110), event(Phase::End, 100, 130)], &hops);

        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.first, row.last, row.reports), (Nanos(110), Nanos(130), 3));
        assert_eq!((row.base, row.is_node_clock), (5_110, true));
        assert_eq!(row.samples, "0:5:50:0 10:9:90:1 20:6:60:0");
        assert_eq!((row.latency_max, row.queue_occupancy_max), (Some(Nanos(90)), Some(9)));
        let flows: serde_json::Value = serde_json::from_str(&row.flows).unwrap();
        assert_eq!((&flows[0]["reports"], &flows[1]["source_port"]), (&2.into(), &2.into()), "{flows}");
    }

    #[test]
    fn an_episode_whose_end_is_in_a_later_log_has_what_is_in_this_one() {
        let rows = of(&[event(Phase::Begin, 100, 110)], &[hop(110, 5, 1), hop(500, 7, 1)]);
        assert_eq!((rows.len(), rows[0].last, rows[0].reports), (1, Nanos(500), 2));
    }

    #[test]
    fn of_many_packets_the_deepest_stays_and_each_flow_has_its_share() {
        let flow_of = |at: u64| u16::try_from(at % 3).unwrap();
        let mut hops: Vec<HopRecord> = (0..12_000).map(|at| hop(100 + at, 50, flow_of(at))).collect();
        hops[7_777] = hop(7_877, 5_000, 1);
        let rows = of(&[event(Phase::End, 100, 100_000)], &hops);
        let samples: Vec<&str> = rows[0].samples.split(' ').collect();
        assert!(samples.len() <= 4_096, "{}", samples.len());
        assert!(samples.iter().any(|sample| sample.starts_with("7777:5000:50000:")), "{:?}", &samples[..9]);
        for flow in 0..3 {
            let share = samples.iter().filter(|sample| sample.ends_with(&format!(":{flow}"))).count();
            assert!((1_200..1_470).contains(&share), "{share} of {} are of flow {flow}", samples.len());
        }
        assert_eq!(rows[0].reports, 12_000);
    }
}
