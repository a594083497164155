//! Unequal loads on links of equal cost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inband_model::{
    Confidence, EcmpImbalance, Event, EventDetail, LinkRate, Nanos, NodeId, Phase, ReportReference, Severity,
    highest_to_mean_permille, jain_permille,
};
use serde::{Deserialize, Serialize};

use crate::book::Course;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::ports::{PortIndex, Ports, Released};
use crate::purge::Purge;

use super::detector::{Common, Detector, SeenPath};

/// When links of equal cost carry unequal loads: `[events.ecmp_imbalance]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BalanceSettings {
    /// The highest rate over the mean, thousandths. Default 1300.
    pub highest_to_mean_permille: u64,
    /// Seconds over which both are averaged, 1 to 600. Default 30.
    pub for_s: u64,
    /// Jain's index below which the loads are unequal, thousandths. Default 900.
    pub jain_permille: u64,
    /// Seconds over which rates are averaged for Jain's index, 1 to 600. Default 10.
    pub window_s: u64,
    /// Reported packets a second, of all links together, below which loads are not judged where nodes report
    /// no utilisation. Default 100.
    pub least_packets: u64,
    /// Pairs of a node and a destination beyond it whose choices are remembered. Default 4096: about 2 MB.
    pub max_choices: usize,
}

impl Default for BalanceSettings {
    fn default() -> BalanceSettings {
        BalanceSettings {
            highest_to_mean_permille: 1_300,
            for_s: 30,
            jain_permille: 900,
            window_s: 10,
            least_packets: 100,
            max_choices: 4_096,
        }
    }
}

impl BalanceSettings {
    fn for_seconds(&self) -> usize {
        seconds(self.for_s)
    }

    fn window_seconds(&self) -> usize {
        seconds(self.window_s)
    }
}

fn seconds(set: u64) -> usize {
    usize::try_from(set).unwrap_or(MAX_SECONDS).clamp(1, MAX_SECONDS)
}

pub(crate) type Settings = BalanceSettings;

/// The links that nodes spread flows over, and their loads.
///
/// Links are of equal cost when a node uses them towards the same last node over the same number of hops.
#[derive(Debug)]
pub(crate) struct State {
    settings: BalanceSettings,
    choices: BTreeMap<Choice, BTreeSet<PortIndex>>,
    groups: BTreeMap<BTreeSet<PortIndex>, Group>,
    next_check: Option<Nanos>,
    purge: Purge,
}

/// A node, with the last node of a path and the number of hops left to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    node_id: NodeId,
    last_node: NodeId,
    hops_left: usize,
}

/// Links of one node that are of equal cost.
#[derive(Debug)]
struct Group {
    node_id: NodeId,
    report: ReportReference,
    /// What each live link had carried at the last check.
    carried: Vec<Carried>,
    /// What the live links carried in each of the latest seconds, latest last.
    seconds: VecDeque<Second>,
}

/// What each link of a group carried in one second.
#[derive(Debug)]
struct Second {
    ended_at: Nanos,
    rates: Vec<u64>,
    by_utilization: bool,
}

/// How unequal the loads are.
#[derive(Debug)]
struct Imbalance {
    rates: Vec<u64>,
    /// When the window over which these are means began.
    since: Nanos,
    by_utilization: bool,
}

/// What a link has carried since it became known.
#[derive(Debug, Clone, Copy)]
struct Carried {
    link: PortIndex,
    bytes: u64,
    packets: u64,
}

impl Carried {
    fn of(link: PortIndex, ports: &Ports) -> Carried {
        let (bytes, packets) = ports[link].carried();
        Carried { link, bytes, packets }
    }

    /// Bytes and packets since `before`; `None` where that belongs to another link, or to one that had the
    /// same place.
    fn since(&self, before: &Carried) -> Option<(u64, u64)> {
        let is_same = self.link == before.link;
        let since = (self.bytes.checked_sub(before.bytes)?, self.packets.checked_sub(before.packets)?);
        is_same.then_some(since)
    }
}

impl Detector for State {
    type Settings = Settings;

    fn new(settings: &Settings, _: &Common) -> Self {
        Self {
            settings: settings.clone(),
            choices: BTreeMap::new(),
            groups: BTreeMap::new(),
            next_check: None,
            purge: Purge::default(),
        }
    }

    /// Learns from a path which links its nodes use towards its end.
    fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, _: &mut Outbox) {
        let SeenPath { now, report, ports, is_whole, .. } = *path;
        let Some((last, before)) = path.hops().split_last().filter(|_| is_whole) else { return };
        for (place, (hop, port)) in before.iter().zip(ports).enumerate() {
            let Some(port) = port.filter(|_| hop.egress_interface.is_some()) else { continue };
            let choice =
                Choice { node_id: hop.node_id, last_node: last.node_id, hops_left: before.len() - place };
            let is_new = !self.choices.contains_key(&choice);
            if is_new && !self.has_room(now, network) {
                continue;
            }
            let links = self.choices.entry(choice).or_default();
            if links.len() >= MAX_LINKS || !links.insert(port) || links.len() < 2 {
                continue;
            }
            let group = Group { node_id: hop.node_id, report, carried: Vec::new(), seconds: VecDeque::new() };
            let links = links.clone();
            self.groups.retain(|known, _| !known.is_subset(&links));
            if self.groups.len() < MAX_GROUPS {
                self.groups.entry(links).or_insert(group);
            }
            self.next_check.get_or_insert(now + SECOND);
        }
    }

    fn handle_release(&mut self, released: &Released) {
        self.choices.retain(|_, links| !links.contains(&released.port));
        self.groups.retain(|links, _| !links.contains(&released.port));
    }

    fn next_timeout(&self) -> Option<Nanos> {
        self.next_check
    }

    /// Checks the loads of the links once a second.
    fn handle_timeout(&mut self, now: Nanos, network: &Network, outbox: &mut Outbox) {
        if self.next_check.is_none_or(|due| due > now) {
            return;
        }
        let (ports, alive_since) = (&network.ports, network.alive_since(now));
        let mut is_anything_alive = false;
        for (links, group) in &mut self.groups {
            // A link without any flow is out of service, not unbalanced.
            let alive: Vec<PortIndex> =
                links.iter().copied().filter(|link| ports[*link].last_seen > alive_since).collect();
            is_anything_alive |= !alive.is_empty();
            group.check(&self.settings, now, &alive, ports, outbox);
        }
        self.next_check = is_anything_alive.then_some(now + SECOND);
        if !is_anything_alive {
            self.choices.clear();
            self.groups.clear();
        }
    }
}

impl State {
    /// Whether another choice can be remembered, if need be in place of those of dead links.
    fn has_room(&mut self, now: Nanos, network: &Network) -> bool {
        if self.choices.len() >= self.settings.max_choices && self.purge.begins(now) {
            let alive_since = network.alive_since(now);
            let is_alive = |link: &PortIndex| network.ports[*link].last_seen > alive_since;
            self.choices.retain(|_, links| links.iter().any(is_alive));
        }
        self.choices.len() < self.settings.max_choices
    }
}

impl Group {
    fn check(
        &mut self,
        settings: &BalanceSettings,
        now: Nanos,
        links: &[PortIndex],
        ports: &Ports,
        outbox: &mut Outbox,
    ) {
        let before: Vec<PortIndex> = self.carried.iter().map(|carried| carried.link).collect();
        let second = self.second(settings, now, links, ports);
        if before != links || second.is_none() {
            self.seconds.clear();
        }
        let Some(second) = second else { return };
        if self.seconds.back().is_some_and(|last| last.by_utilization != second.by_utilization) {
            self.seconds.clear();
        }
        self.seconds.push_back(second);
        while self.seconds.len() > settings.for_seconds().max(settings.window_seconds()) {
            self.seconds.pop_front();
        }
        let over = self.mean(settings.for_seconds());
        let over =
            over.filter(|mean| highest_to_mean_permille(&mean.rates) > settings.highest_to_mean_permille);
        let unequal = self.mean(settings.window_seconds());
        let unequal = unequal.filter(|mean| jain_permille(&mean.rates) < settings.jain_permille);
        let Some(found) = over.or(unequal) else { return };
        let rate = |(link, rate): (&PortIndex, &u64)| LinkRate {
            egress_interface: ports[*link].egress_interface.unwrap_or(u16::MAX),
            rate: *rate,
        };
        let mut rates_of_links: Vec<LinkRate> = links.iter().zip(&found.rates).map(rate).collect();
        rates_of_links.sort_by_key(|link| link.egress_interface);
        let detail = EcmpImbalance {
            node_id: self.node_id,
            links: rates_of_links,
            highest_to_mean_permille: highest_to_mean_permille(&found.rates),
            jain_permille: jain_permille(&found.rates),
            by_utilization: found.by_utilization,
        };
        outbox.begin(self.event(now, found.since, detail), Course::until_quiet(Nanos::from_secs(5)));
    }

    /// The means over the latest `count` seconds; `None` where there are fewer.
    fn mean(&self, count: usize) -> Option<Imbalance> {
        let skipped = self.seconds.len().checked_sub(count)?;
        let first = self.seconds.get(skipped)?;
        let mut sums = vec![0_u64; first.rates.len()];
        for second in self.seconds.iter().skip(skipped) {
            for (sum, rate) in sums.iter_mut().zip(&second.rates) {
                *sum = sum.saturating_add(*rate);
            }
        }
        let rates = sums.into_iter().map(|sum| sum / count as u64).collect();
        let since = Nanos(first.ended_at.0.saturating_sub(SECOND.0));
        Some(Imbalance { rates, since, by_utilization: first.by_utilization })
    }

    /// What each link carried in the last second; `None` where there is nothing to compare.
    fn second(
        &mut self,
        settings: &BalanceSettings,
        now: Nanos,
        links: &[PortIndex],
        ports: &Ports,
    ) -> Option<Second> {
        let carried: Vec<Carried> = links.iter().map(|link| Carried::of(*link, ports)).collect();
        let before = std::mem::replace(&mut self.carried, carried);
        if links.len() < 2 {
            return None;
        }
        let utilization = links.iter().map(|link| ports[*link].mean_utilization(now).map(u64::from));
        if let Some(rates) = utilization.collect::<Option<Vec<u64>>>() {
            let is_used = rates.iter().sum::<u64>() > 0;
            return is_used.then_some(Second { ended_at: now, rates, by_utilization: true });
        }
        if before.len() != self.carried.len() {
            return None;
        }
        let since: Option<Vec<(u64, u64)>> =
            self.carried.iter().zip(&before).map(|(now, before)| now.since(before)).collect();
        let (bytes, packets): (Vec<u64>, Vec<u64>) = since?.into_iter().unzip();
        let are_enough = packets.iter().sum::<u64>() >= settings.least_packets.max(1);
        are_enough.then_some(Second { ended_at: now, rates: bytes, by_utilization: false })
    }

    fn event(&self, now: Nanos, since: Nanos, detail: EcmpImbalance) -> Event {
        let interfaces: Vec<String> =
            detail.links.iter().map(|link| link.egress_interface.to_string()).collect();
        Event {
            key: format!("node {} egress {}", self.node_id, interfaces.join(" ")),
            detail: EventDetail::EcmpImbalance(detail),
            severity: Severity::Warning,
            first: since,
            last: now,
            count: 1,
            confidence: Confidence::Probable,
            evidence: vec![self.report],
            phase: Phase::Once,
            silenced: false,
            end_reason: None,
        }
    }
}

/// Maximum number of seconds remembered for a set of links.
const MAX_SECONDS: usize = 600;
/// Maximum number of sets of links that are compared, so that checking all of them stays cheap.
const MAX_GROUPS: usize = 1_024;
/// Maximum number of links of equal cost at one node.
const MAX_LINKS: usize = 32;
const SECOND: Nanos = Nanos::from_secs(1);
