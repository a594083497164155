//! Flows through a synthetic fabric with known paths, and the reports on them.

use std::collections::{BTreeMap, HashMap};

use inband_collector::GivenLink;
use inband_model::Flow;
use inband_wire::int::{HopMetadata, Instructions};

use super::support::{MdPacket, datagram, flow, hop_via, mx_packet, node_report, plain_packet, sink_report};

/// How nodes report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Md,
    Mx,
    Xd,
}

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) mode: Mode,
    pub(crate) flows: u32,
    /// Number of nodes on a path.
    pub(crate) hops: usize,
    pub(crate) seconds: u64,
    /// Nanoseconds between the packets of a flow.
    pub(crate) every: u64,
    /// Maximum delays of reports, before and after they are numbered.
    pub(crate) delay: [u64; 2],
    pub(crate) lost_percent: u64,
    /// Whether nodes are routers.
    pub(crate) ttl_falls: bool,
    /// Whether reports contain the time at which a packet reached a node.
    pub(crate) stamps: bool,
    /// Whether each interface has a distinct number.
    pub(crate) ports: bool,
    pub(crate) settle_ms: u64,
    /// Seconds between two changes of the path of a flow; 0: none.
    pub(crate) changes_every: u64,
}

/// A datagram in transit.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) arrives: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A hop: node, ingress and egress.
pub(crate) type Way = Vec<(u32, u16, u16)>;

/// The paths of a flow, each with the time of the first packet on it.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) flow: Flow,
    pub(crate) ways: Vec<(u64, Way)>,
}

/// A random number generator: SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.next() % end }
    }
}

/// The earliest time of the first packet.
pub(crate) const BEGIN: u64 = 1_700_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// Number of nodes at each place of a path.
const WIDTH: u64 = 4;

/// All flows of a run, and their reports in the order of arrival.
pub(crate) fn run(setup: &Setup) -> (Vec<Course>, Vec<Sent>) {
    let mut random = Random(setup.seed);
    let mut made: BTreeMap<u32, Vec<(u64, u64, Vec<u8>)>> = BTreeMap::new();
    let mut courses = Vec::new();
    for number in 1..=setup.flows {
        let flow = flow(number);
        let mut places: Vec<Option<u32>> =
            (0..setup.hops).map(|_| Some(random.below(WIDTH) as u32)).collect();
        let mut course = Course { flow, ways: vec![(0, way(setup, &places))] };
        let begin = random.below(setup.every);
        let mut next_change = BEGIN + (8 + random.below(4)) * SECOND;
        for at in (BEGIN + begin..BEGIN + setup.seconds * SECOND).step_by(setup.every as usize) {
            let is_time = setup.changes_every > 0 && at >= next_change;
            if is_time && at + 12 * SECOND < BEGIN + setup.seconds * SECOND {
                next_change = at + setup.changes_every * SECOND;
                change(setup, &mut places, &mut random);
                course.ways.push((at, way(setup, &places)));
            }
            let (_, way) = course.ways.last().expect("a flow has a way");
            for (node, bytes) in reports(setup, &flow, way, at) {
                let early = random.below(setup.delay[0] + 1);
                made.entry(node).or_default().push((at + early, random.below(setup.delay[1] + 1), bytes));
            }
        }
        course.ways[0].0 = BEGIN + begin;
        courses.push(course);
    }
    let mut sent = Vec::new();
    for reports in made.into_values() {
        let mut reports = reports;
        reports.sort_by_key(|report| report.0);
        for (sequence, (numbered_at, late, mut bytes)) in reports.into_iter().enumerate() {
            if random.below(100) < setup.lost_percent {
                continue;
            }
            let number = (sequence as u32 & 0x3f_ffff).to_be_bytes();
            let high = bytes[1] & 0xc0;
            bytes[1..4].copy_from_slice(&number[1..]);
            bytes[1] |= high;
            sent.push(Sent { arrives: numbered_at + late, bytes });
        }
    }
    sent.sort_by_key(|sent| sent.arrives);
    (courses, sent)
}

/// The links between all nodes.
pub(crate) fn topology(setup: &Setup) -> Vec<GivenLink> {
    let mut links = HashMap::new();
    for place in 0..setup.hops {
        for (from, skip, to) in (0..WIDTH)
            .flat_map(|from| [1, 2].map(|skip| (from, skip)))
            .flat_map(|(from, skip)| (0..WIDTH).map(move |to| (from as u32, skip, to as u32)))
        {
            if place + skip < setup.hops {
                let (node, interface) = (id(place, from), egress(skip, to));
                let link = GivenLink {
                    node,
                    interface,
                    to: id(place + skip, to),
                    to_interface: Some(ingress(skip, from)),
                };
                links.insert((node, interface), link);
            }
        }
    }
    links.into_values().collect()
}

fn id(place: usize, which: u32) -> u32 {
    100 * (place as u32 + 1) + which
}

fn egress(skip: usize, to: u32) -> u16 {
    (10 * skip as u32 + to) as u16
}

fn ingress(skip: usize, from: u32) -> u16 {
    (50 + 10 * skip as u32 + from) as u16
}

fn way(setup: &Setup, places: &[Option<u32>]) -> Way {
    let hops: Vec<(usize, u32)> =
        places.iter().enumerate().filter_map(|(place, which)| Some((place, (*which)?))).collect();
    let port = |number| if setup.ports { number } else { 0 };
    let mut way = Vec::new();
    for at in 0..hops.len() {
        let (place, which) = hops[at];
        let before = at.checked_sub(1).map(|before| hops[before]);
        let ingress = before.map_or(200, |(before, from)| port(ingress(place - before, from)));
        let egress = hops.get(at + 1).map_or(201, |(after, to)| port(egress(after - place, *to)));
        way.push((id(place, which), ingress, egress));
    }
    way
}

/// Replaces one or two nodes between the ends, or removes or inserts one.
fn change(setup: &Setup, places: &mut [Option<u32>], random: &mut Random) {
    let inner = setup.hops as u64 - 2;
    let at = 1 + random.below(inner) as usize;
    if random.below(4) == 0 && setup.ports && inner > 1 {
        let is_missing = places.iter().position(Option::is_none);
        match is_missing {
            Some(missing) => places[missing] = Some(random.below(WIDTH) as u32),
            None => places[at] = None,
        }
        return;
    }
    let count = 1 + random.below(inner.min(2)) as usize;
    for place in places.iter_mut().take(setup.hops - 1).skip(at).take(count) {
        if let Some(which) = place {
            *which = (*which + 1 + random.below(WIDTH - 1) as u32) % WIDTH as u32;
        } else {
            *place = Some(0);
        }
    }
}

/// The reports of the nodes on a path about a packet.
fn reports(setup: &Setup, flow: &Flow, way: &Way, at: u64) -> Vec<(u32, Vec<u8>)> {
    let metadata = |place: usize| {
        let (node, ingress, egress) = way[place];
        // Each node has a different clock.
        let came_at = at + u64::from(node) * 7_000 + place as u64 * 1_000;
        let stamp = |time| setup.stamps.then_some(time);
        HopMetadata {
            ingress_timestamp: stamp(came_at),
            egress_timestamp: stamp(came_at + 900),
            ..hop_via(node, ingress, egress, 900, 0)
        }
    };
    if setup.mode == Mode::Md {
        let hops: Vec<HopMetadata> = (0..way.len()).map(metadata).collect();
        let instructions = if setup.stamps { Instructions(0xfc00) } else { Instructions(0xf000) };
        let packet = MdPacket { flow: *flow, instructions, ..MdPacket::new(&hops) }.bytes();
        let sink = way[way.len() - 1].0;
        return vec![(sink, datagram(sink, 0, &[&sink_report(&packet)]))];
    }
    let report = |place: usize| {
        let ttl = if setup.ttl_falls { 64 - place as u8 } else { 64 };
        let packet = match setup.mode {
            Mode::Mx => mx_packet(flow, ttl),
            _ => plain_packet(flow, ttl),
        };
        let node = way[place].0;
        (node, datagram(node, 0, &[&node_report(&packet, metadata(place))]))
    };
    (0..way.len()).map(report).collect()
}
