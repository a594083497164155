//! The counters of this host.

use std::collections::BTreeMap;

use inband_linux::clock::{self, Clock};

use super::control::Control;
use super::reporter::Reporter;
use crate::clocks;
use crate::error::HostError;
use crate::lease::{FlowState, Withheld};
use crate::outcome::{Outcome, Traffic};
use crate::programs::Programs;

/// What has happened to packets and reports so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Packets by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: Vec<(Outcome, u64)>,
    /// Watched traffic, in the order of [`Traffic::ALL`].
    pub traffic: Vec<(Traffic, u64)>,
    /// Reports that were sent and not refused.
    pub reports_sent: u64,
    /// Reports that the kernel refused.
    pub reports_failed: u64,
    /// Reports that the collector's host has refused: its port is closed.
    pub reports_refused: u64,
    /// Reports that a filter held back.
    pub reports_withheld: u64,
    /// Reports that a full queue shed.
    pub reports_shed: u64,
    /// Reports over `host.reports_per_second`, or over the limit of their session.
    pub reports_limited: u64,
    /// Flows with a lease.
    pub leases_held: usize,
    /// Pairs of addresses to which this host has granted one.
    pub leases_granted: usize,
    /// Flows to peers in the last minute, by state, in the order of [`FlowState::ALL`].
    pub flows: Vec<(FlowState, usize)>,
    /// Probes that were sent.
    pub probes_sent: u64,
    /// Probes that could not be made or sent.
    pub probes_failed: u64,
    /// Probes that were due but not sent.
    pub probes_withheld: Withheld,
    /// Packets with INT counted here and at their sinks.
    pub path_packets: u64,
    /// Packets of these that were lost on the path, as far as renewed leases report it.
    pub path_lost: u64,
    /// Other hosts whose agents have answered: all, those with comparable clocks, and those that claim this
    /// host's node id.
    pub peers: [usize; 3],
    /// Dropped packets of watched flows by the kernel's reason, such as `NO_SOCKET`; some seconds old.
    pub drops: BTreeMap<String, u64>,
    /// Dropped packets of watched flows for which the kernel's table had no room.
    pub drops_not_held: u64,
    /// Memory of the programs' tables in the kernel, bytes.
    pub map_bytes: u64,
    /// How far timestamps may be off the clock they name, nanoseconds; `None`: that clock is not disciplined,
    /// or is this host's own.
    pub clock_uncertainty_ns: Option<u64>,
}

impl Tally {
    pub(super) fn read(
        programs: &Programs,
        reporter: &Reporter,
        control: &Control,
        clock: Clock,
    ) -> Result<Self, HostError> {
        let states: Vec<_> = control.states(clock::monotonic()).map(|(_, state, _)| state).collect();
        let of_state = |state| states.iter().filter(|other| **other == state).count();
        let (probes_sent, probes_failed) = control.probes();
        let (path_packets, path_lost) = control.losses();
        let mut peers = [0; 3];
        for (_, node_id, of_peer) in control.known_peers() {
            let is_comparable = of_peer.and_then(|of_peer| clocks::from_code(of_peer.kind));
            let is_comparable = is_comparable.is_some_and(|of_peer| clocks::are_comparable(clock, of_peer));
            peers[0] += 1;
            peers[1] += usize::from(is_comparable);
            peers[2] += usize::from(node_id == control.node_id());
        }
        let of = |outcome| reporter.engine.counters().get(outcome);
        let outcome = |outcome: &Outcome| Ok((*outcome, programs.count(*outcome)?));
        let outcomes = Outcome::ALL.iter().map(outcome).collect::<Result<_, HostError>>()?;
        let traffic = |traffic: &Traffic| Ok((*traffic, programs.traffic(*traffic)?));
        let traffic = Traffic::ALL.iter().map(traffic).collect::<Result<_, HostError>>()?;
        Ok(Self {
            outcomes,
            traffic,
            reports_sent: reporter.senders.outcomes.sent,
            reports_failed: reporter.senders.outcomes.failed,
            reports_refused: reporter.senders.outcomes.refused,
            reports_withheld: of(inband_node::Outcome::ReportWithheld),
            reports_shed: of(inband_node::Outcome::ReportShed),
            reports_limited: of(inband_node::Outcome::ReportLimited),
            leases_held: control.leases_held(),
            leases_granted: control.leases_granted(),
            flows: FlowState::ALL.map(|state| (state, of_state(state))).to_vec(),
            probes_sent,
            probes_failed,
            probes_withheld: control.withheld(),
            path_packets,
            path_lost,
            peers,
            drops: BTreeMap::new(),
            drops_not_held: 0,
            map_bytes: programs.memory(),
            clock_uncertainty_ns: clock.uncertainty(),
        })
    }

    /// The number of packets with `outcome`.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes.iter().find(|(other, _)| *other == outcome).map_or(0, |(_, count)| *count)
    }

    /// The amount of `traffic`.
    #[must_use]
    pub fn traffic(&self, traffic: Traffic) -> u64 {
        self.traffic.iter().find(|(other, _)| *other == traffic).map_or(0, |(_, amount)| *amount)
    }
}
