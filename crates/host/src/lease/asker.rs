//! The source side of leases: which flows to probe, and when.

use std::collections::HashMap;
use std::net::IpAddr;

use super::bucket::Bucket;
use super::clock::PeerClock;
use super::flow::Flow;
use super::message::{Body, Message, Refusal};
use super::state::FlowState;

/// A source's leases. Times are of the monotonic clock, nanoseconds.
#[derive(Debug)]
pub(crate) struct Asker {
    node_id: u32,
    dialect: u64,
    lease_ms: u32,
    limits: Limits,
    new: Bucket,
    renewals: Bucket,
    flows: HashMap<Flow, Probed>,
    /// The flow of each nonce.
    nonces: HashMap<u64, Flow>,
    destinations: HashMap<IpAddr, Destination>,
    withheld: Withheld,
    /// The address asked with each nonce.
    asks: HashMap<u64, IpAddr>,
}

/// Rate limits of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// New flows, per second.
    pub(crate) per_second: u32,
    /// A destination that does not answer, per minute.
    pub(crate) per_minute: u32,
}

/// Probes that were due but not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// `probes_per_second`, or ten times that for renewals, was reached.
    pub per_second: u64,
    /// `probes_per_minute` was reached for a destination that does not answer.
    pub per_minute: u64,
    /// The destination refused INT a moment before.
    pub refused: u64,
    /// The table of flows or destinations was full.
    pub full: u64,
}

/// The state of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct Probed {
    /// When one of its packets last asked for a probe.
    used: u64,
    nonce: u64,
    at: u64,
    /// The end of its lease; 0: none.
    until: u64,
    /// The nonce of the grant.
    granted: u64,
    /// Length of the latest probe, bytes of IP.
    length: u32,
    /// Probes since the last grant.
    tries: u32,
    /// Whether the latest probe has arrived.
    has_arrived: bool,
    /// Whether the rate limit prevented a probe.
    is_limited: bool,
    /// Whether its lease was taken back.
    is_ended: bool,
}

/// The state of one destination.
#[derive(Clone, Copy, Debug)]
struct Destination {
    /// Limits unanswered probes and questions.
    silent: Bucket,
    nonce: u64,
    at: u64,
    /// When its agent last agreed to remove INT; 0: never.
    agreed_at: u64,
    /// Its refusal, if that is its last answer.
    refusal: Option<Refusal>,
    /// The node id of its agent; `None`: no answer yet.
    node_id: Option<u32>,
    clock: Option<PeerClock>,
}

/// A packet of a flow without a proof, or with one that expires soon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unproven {
    pub(crate) flow: Flow,
    /// The largest packet known to pass, bytes of IP.
    pub(crate) mtu: u32,
    /// Whether this host has chosen the destination, which otherwise may be a forged address that it answers.
    pub(crate) is_chosen: bool,
}

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) message: Message,
    /// Length with INT, bytes of IP.
    pub(crate) length: u32,
}

/// The effect of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// INT may be started in the flow until `until`, in packets up to `mtu`; it is probed again from
    /// `renew_at`.
    Proof { flow: Flow, until: u64, renew_at: u64, mtu: u32 },
    /// The destination ends all leases, and expects an acknowledgement.
    Withdrawn { flows: Vec<Flow>, message: Message },
    /// The destination refuses INT.
    Refused { address: IpAddr, flows: Vec<Flow>, refusal: Refusal },
}

/// Maximum number of flows probed at a time, and the size of the kernel's table of proofs.
pub(super) const MAX_FLOWS: usize = 16_384;
/// Maximum number of destinations.
pub(super) const MAX_DESTINATIONS: usize = 4096;
/// How long a flow whose probe is unanswered is not probed again.
pub(super) const PAUSE_NS: u64 = 1_000_000_000;
/// How long a destination that refuses is not probed.
pub(super) const REFUSED_NS: u64 = 5_000_000_000;
/// How long flows and destinations without traffic are kept.
pub(super) const FORGET_NS: u64 = 60_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;
/// Renewals for each new probe that the limit allows.
const RENEWALS: u32 = 10;
/// After this many unanswered probes, as many with the minimum MTU are tried.
const TRIES: u32 = 2;
/// The minimum MTU of IPv6 links.
const SMALL_MTU: u32 = 1280;
/// Maximum length of a lease, whatever a destination grants.
pub(crate) const MAX_LEASE_MS: u32 = 60_000;

/// Whether probe number `tries` is a small one.
const fn is_small(tries: u32) -> bool {
    tries > 0 && (tries - 1) / TRIES % 2 == 1
}

impl Limits {
    /// For a destination that does not answer: half of a minute's probes at once, the other half over time.
    fn silent(self) -> Bucket {
        let half = self.per_minute.div_ceil(2);
        Bucket::new(half, half, MINUTE_NS)
    }
}

impl Asker {
    pub(crate) fn new(node_id: u32, dialect: u64, lease_ms: u32, limits: Limits) -> Self {
        let Limits { per_second, .. } = limits;
        let renewals = per_second.saturating_mul(RENEWALS);
        Self {
            node_id,
            dialect,
            lease_ms,
            limits,
            new: Bucket::new(per_second, per_second, 1_000_000_000),
            renewals: Bucket::new(renewals, renewals, 1_000_000_000),
            flows: HashMap::new(),
            nonces: HashMap::new(),
            destinations: HashMap::new(),
            withheld: Withheld::default(),
            asks: HashMap::new(),
        }
    }

    /// Handles an outgoing packet of a flow without a proof, or with one that expires soon; returns the probe
    /// that is due.
    pub(crate) fn handle_unproven(
        &mut self,
        unproven: &Unproven,
        reply_port: u16,
        now: u64,
        nonce: u64,
    ) -> Option<Probe> {
        let flow = unproven.flow;
        if self.flows.len() >= MAX_FLOWS && !self.flows.contains_key(&flow) {
            self.withheld.full += 1;
            return None;
        }
        let probed = self.flows.entry(flow).or_default();
        probed.used = now;
        let probed = *probed;
        let is_held = probed.until > now;
        let pause = if is_held { self.lease_ns() / 6 } else { PAUSE_NS };
        if probed.at > 0 && now.saturating_sub(probed.at) < pause {
            return None;
        }
        if !self.may_probe(unproven, is_held, now) {
            self.flows.entry(flow).or_default().is_limited = true;
            return None;
        }
        if probed.nonce != probed.granted {
            self.nonces.remove(&probed.nonce);
        }
        let tries = if is_held { probed.tries } else { probed.tries.saturating_add(1) };
        let length = if is_small(tries) { unproven.mtu.min(SMALL_MTU) } else { unproven.mtu };
        let probed = Probed {
            nonce,
            at: now,
            length,
            tries,
            has_arrived: false,
            is_limited: false,
            is_ended: false,
            ..probed
        };
        self.flows.insert(flow, probed);
        self.nonces.insert(nonce, flow);
        let body = Body::Probe {
            lease_ms: self.lease_ms,
            dialect: self.dialect,
            ports: (flow.source_port, flow.destination_port),
            protocol: flow.protocol,
            reply_port,
            length: 0,
        };
        let Flow { source, destination, .. } = flow;
        Some(Probe { message: Message { nonce, node_id: self.node_id, source, destination, body }, length })
    }

    /// The question to the agent of `flow`'s destination, if one is due; it accompanies a probe.
    pub(crate) fn ask(&mut self, flow: &Flow, now: u64, nonce: u64) -> Option<Message> {
        let destination = self.destinations.get_mut(&flow.destination)?;
        if destination.at > 0 && now.saturating_sub(destination.at) < PAUSE_NS {
            return None;
        }
        self.asks.remove(&destination.nonce);
        (destination.nonce, destination.at) = (nonce, now);
        self.asks.insert(nonce, flow.destination);
        let body = Body::Ask { dialect: self.dialect };
        let (source, destination) = (flow.source, flow.destination);
        Some(Message { nonce, node_id: self.node_id, source, destination, body })
    }

    /// The effect of a message.
    pub(crate) fn handle(&mut self, message: &Message, now: u64) -> Option<Change> {
        let flow = self.nonces.get(&message.nonce).copied();
        let address = flow.map(|flow| flow.destination).or_else(|| self.asks.get(&message.nonce).copied())?;
        let is_of_flow = flow.is_none_or(|flow| flow.source == message.source);
        if message.destination != address || !is_of_flow {
            return None;
        }
        let destination = self.destinations.get_mut(&address)?;
        destination.silent.fill();
        destination.node_id = Some(message.node_id);
        match message.body {
            Body::Agree => {
                (destination.agreed_at, destination.refusal) = (now, None);
                None
            }
            Body::Seen(stamp) => {
                let probed = self.flows.get_mut(&flow?)?;
                if probed.nonce == message.nonce {
                    probed.has_arrived = true;
                    destination.clock = PeerClock::better(destination.clock, stamp, probed.at, now);
                }
                None
            }
            Body::Grant { lease_ms, .. } => self.handle_grant(flow?, message.nonce, lease_ms, now),
            Body::Refuse(refusal) => {
                destination.refusal = Some(refusal);
                destination.at = now;
                Some(Change::Refused {
                    address,
                    flows: self.end_leases(|flow| flow.destination == address),
                    refusal,
                })
            }
            Body::Withdraw => {
                let flows = self.end_leases(|flow| flow.destination == address);
                Some(Change::Withdrawn { flows, message: Message { body: Body::Withdrawn, ..*message } })
            }
            Body::Ask { .. } | Body::Probe { .. } | Body::Withdrawn => None,
        }
    }

    /// The number of flows with a proof.
    pub(crate) fn held(&self, now: u64) -> usize {
        self.flows.values().filter(|probed| probed.until > now).count()
    }

    /// Every known flow, what keeps INT from it, and the end of its lease.
    pub(crate) fn states(&self, now: u64) -> impl Iterator<Item = (Flow, FlowState, u64)> {
        self.flows.iter().map(move |(flow, probed)| (*flow, self.state(flow, probed, now), probed.until))
    }

    fn state(&self, flow: &Flow, probed: &Probed, now: u64) -> FlowState {
        let destination = self.destinations.get(&flow.destination);
        match () {
            () if probed.until > now => FlowState::Proven,
            () if destination.is_some_and(|destination| destination.refusal.is_some()) => FlowState::Refused,
            () if probed.has_arrived => FlowState::OnlyProbesArrive,
            // A flow that was probed once has its reason, whenever the next probe is due.
            () if probed.is_limited && probed.at == 0 => FlowState::Limited,
            () if destination.is_some_and(|destination| destination.agreed_at > 0) => FlowState::ProbesLost,
            () => FlowState::NoAnswer,
        }
    }

    /// Every destination whose agent has answered: its address, its node id and its clock.
    pub(crate) fn peers(&self) -> impl Iterator<Item = (IpAddr, u32, Option<PeerClock>)> {
        let known = self.destinations.iter();
        known.filter_map(|(address, known)| Some((*address, known.node_id?, known.clock)))
    }

    /// The numbers of probes that were not sent, by cause.
    pub(crate) const fn withheld(&self) -> Withheld {
        self.withheld
    }

    /// The flow whose last probe has this nonce.
    pub(crate) fn flow_of(&self, nonce: u64) -> Option<Flow> {
        self.nonces.get(&nonce).copied()
    }

    /// Removes flows and destinations without traffic; returns the flows that had a proof.
    pub(crate) fn forget_old(&mut self, now: u64) -> Vec<Flow> {
        let is_old = |at: u64| now.saturating_sub(at) > FORGET_NS;
        let ended = self.forget(|_, probed| probed.until <= now && is_old(probed.used));
        let asks = &mut self.asks;
        self.destinations.retain(|_, destination| {
            let is_kept = !is_old(destination.at) || !destination.silent.is_full(now);
            if !is_kept {
                asks.remove(&destination.nonce);
            }
            is_kept
        });
        ended
    }

    /// Removes all flows but those to addresses that `is_peer` accepts; returns those that had a proof.
    pub(crate) fn forget_unless(&mut self, is_peer: impl Fn(IpAddr) -> bool) -> Vec<Flow> {
        self.forget(|flow, _| !is_peer(flow.destination))
    }

    fn handle_grant(&mut self, flow: Flow, nonce: u64, lease_ms: u32, now: u64) -> Option<Change> {
        let lease_ns = u64::from(lease_ms.min(self.lease_ms).min(MAX_LEASE_MS)) * 1_000_000;
        // A copy of a grant brings nothing back.
        let is_latest = |probed: &&mut Probed| probed.nonce == nonce && !probed.is_ended;
        let probed = self.flows.get_mut(&flow).filter(is_latest)?;
        // From the time of the probe: the sink counts from a later one.
        let until = probed.at + lease_ns;
        if until <= now {
            return None;
        }
        if probed.granted != nonce {
            self.nonces.remove(&probed.granted);
        }
        // A path that only small probes pass is renewed with small ones.
        let tries = if is_small(probed.tries) { probed.tries } else { 0 };
        (probed.until, probed.granted, probed.tries, probed.has_arrived) = (until, nonce, tries, true);
        Some(Change::Proof { flow, until, renew_at: probed.at + lease_ns / 3, mtu: probed.length })
    }

    /// Whether another probe may be sent; takes its token.
    fn may_probe(&mut self, unproven: &Unproven, is_held: bool, now: u64) -> bool {
        let address = unproven.flow.destination;
        if self.destinations.len() >= MAX_DESTINATIONS && !self.destinations.contains_key(&address) {
            self.withheld.full += 1;
            return false;
        }
        let silent = self.limits.silent();
        let fresh = || Destination {
            silent,
            nonce: 0,
            at: 0,
            agreed_at: 0,
            refusal: None,
            node_id: None,
            clock: None,
        };
        let destination = self.destinations.entry(address).or_insert_with(fresh);
        if destination.refusal.is_some() && now.saturating_sub(destination.at) < REFUSED_NS {
            self.withheld.refused += 1;
            return false;
        }
        if is_held {
            let is_sent = self.renewals.take(now, 0);
            self.withheld.per_second += u64::from(!is_sent);
            return is_sent;
        }
        // Half of the probes are reserved for destinations that this host has chosen.
        let reserve = if unproven.is_chosen { 0 } else { self.limits.per_second / 2 };
        if !destination.silent.take(now, 0) {
            self.withheld.per_minute += 1;
            return false;
        }
        let is_sent = self.new.take(now, reserve);
        self.withheld.per_second += u64::from(!is_sent);
        is_sent
    }

    fn end_leases(&mut self, is_meant: impl Fn(&Flow) -> bool) -> Vec<Flow> {
        let meant = self.flows.iter_mut().filter(|(flow, probed)| probed.until > 0 && is_meant(flow));
        meant
            .map(|(flow, probed)| {
                (probed.until, probed.is_ended) = (0, true);
                *flow
            })
            .collect()
    }

    fn forget(&mut self, is_meant: impl Fn(&Flow, &Probed) -> bool) -> Vec<Flow> {
        let mut ended = Vec::new();
        self.flows.retain(|flow, probed| {
            if !is_meant(flow, probed) {
                return true;
            }
            self.nonces.remove(&probed.nonce);
            self.nonces.remove(&probed.granted);
            ended.extend((probed.until > 0).then_some(*flow));
            false
        });
        ended
    }

    fn lease_ns(&self) -> u64 {
        u64::from(self.lease_ms) * 1_000_000
    }
}
