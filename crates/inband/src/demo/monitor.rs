//! What does the collector make of the reports?

use std::net::SocketAddr;

use inband_collector::{
    Collector, CollectorSettings, CongestionSettings, EventSettings, FlowView, LatencyChangeSettings,
    LatencyObjectiveSettings, NewFlowSettings, Output, QueueView, SpikeSettings,
};
use inband_model::{Flow, Ledger, Nanos};

use super::reception::{Reception, now};

/// The collector with the settings of this fabric.
#[derive(Debug)]
pub(super) struct Monitor {
    collector: Collector,
    session: SocketAddr,
    received: u64,
}

/// Hop latency above which a queue of this fabric is congested: some packets waiting on a link of 100 Mbit/s
/// are no congestion, 2 ms of them are.
const CONGESTED_NS: u64 = 2_000_000;

impl Monitor {
    /// Creates a collector of the reports to `session`.
    pub(super) fn new(session: SocketAddr) -> Self {
        let events = EventSettings {
            queue_congestion: CongestionSettings {
                trigger_ns: CONGESTED_NS,
                quiet_ms: 100,
                ..CongestionSettings::default()
            },
            latency_spike: SpikeSettings { least_ns: CONGESTED_NS, ..SpikeSettings::default() },
            // Of what goes on all the time nobody is told: the events of the scenario are to be seen.
            latency_change: LatencyChangeSettings {
                quantum_ns: 64 * CONGESTED_NS,
                ..LatencyChangeSettings::default()
            },
            latency_objective: LatencyObjectiveSettings {
                bound_ns: 64 * CONGESTED_NS,
                ..LatencyObjectiveSettings::default()
            },
            new_flow: NewFlowSettings { per_second: 0 },
            ..EventSettings::default()
        };
        let settings = CollectorSettings { events, ..CollectorSettings::default() };
        Self { collector: Collector::new(settings), session, received: 0 }
    }

    /// Takes in what has arrived, and lets time pass.
    pub(super) fn attend(&mut self, reception: &Reception) {
        while let Some(datagram) = reception.poll() {
            self.received += 1;
            self.collector.handle_datagram(
                datagram.received_at,
                datagram.from,
                self.session,
                &datagram.payload,
            );
        }
        let shed = reception.take_shed();
        self.received += shed;
        self.collector.count_shed(shed);
        self.collector.handle_timeout(now());
    }

    /// The next thing the collector says.
    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.collector.poll_output()
    }

    /// Datagrams that came off the socket.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// Whether a gap is open that may still close.
    pub(super) fn is_waiting(&self) -> bool {
        self.collector.ledger().lost > 0
    }

    /// The totals so far.
    pub(super) fn ledger(&self) -> Ledger {
        self.collector.ledger()
    }

    /// The flows with a path: those that were seen lately first, then by the number of reports.
    pub(super) fn flows(&self) -> Vec<FlowView<'_>> {
        let mut flows: Vec<_> = self.collector.flows().filter(|flow| flow.path.is_some()).collect();
        let a_second_ago = Nanos(now().0.saturating_sub(1_000_000_000));
        flows.sort_by_key(|flow| {
            let Flow { protocol, source, source_port, .. } = flow.flow;
            (flow.last_seen < a_second_ago, protocol, source_port, source)
        });
        flows
    }

    /// All queues, those that were deepest lately first.
    pub(super) fn queues(&self) -> Vec<QueueView> {
        self.collector.deepest_queues(now(), usize::MAX)
    }
}
