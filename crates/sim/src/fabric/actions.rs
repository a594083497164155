//! Planned changes.

use inband_wire::FiveTuple;

use crate::fabric::{Event, Fabric, FlowError};
use crate::flow::{FlowConfig, Traffic};
use crate::ledger::DropReason;
use crate::scenario::{Action, Incast};
use crate::time::Nanos;
use crate::topology::{Device, Port};

impl Fabric {
    /// Plans a change for the time `at`, or immediately if that has passed.
    pub fn schedule(&mut self, at: Nanos, action: Action) {
        self.events.schedule(at.max(self.now), Event::Action(action));
    }

    /// Adds the flows of an incast and returns their five-tuples.
    ///
    /// # Errors
    /// `FlowError` gives the reason a flow cannot be added; those before it stay.
    pub fn add_incast(&mut self, incast: &Incast) -> Result<Vec<FiveTuple>, FlowError> {
        let ports = (0..=u16::MAX).map(|place| incast.port.wrapping_add(place));
        let flow = |(&source, source_port)| FlowConfig {
            source,
            destination: incast.destination,
            source_port,
            destination_port: incast.port,
            dscp: 0,
            start_ns: incast.start_ns,
            traffic: Traffic::Udp(incast.traffic()),
        };
        incast.sources.iter().zip(ports).map(|place| self.add_flow(flow(place))).collect()
    }

    pub(super) fn handle_action(&mut self, action: &Action) {
        match *action {
            Action::FailLink { leaf, spine } => self.set_link(leaf, spine, false),
            Action::RestoreLink { leaf, spine } => self.set_link(leaf, spine, true),
            Action::SetWeight { leaf, spine, weight } => {
                if self.has_link(leaf, spine) {
                    self.routing.set_weight(leaf, spine, weight);
                }
            }
            Action::Pin { flow, spine } => {
                if self.has_link(0, spine) && self.flows.index.contains_key(&flow) {
                    self.routing.pin(flow, spine);
                }
            }
            Action::Unpin { flow } => self.routing.unpin(&flow),
        }
    }

    fn set_link(&mut self, leaf: usize, spine: usize, up: bool) {
        if !self.has_link(leaf, spine) {
            return;
        }
        self.routing.set_up(leaf, spine, up);
        let topology = self.config.topology;
        let ends = [
            Port { device: Device::Switch(leaf), number: topology.uplink(spine) },
            Port { device: Device::Switch(topology.spine(spine)), number: leaf },
        ];
        for port in ends {
            self.egress_port(port).up = up;
            while let Some(packet) = self.egress_port(port).queue.dequeue() {
                self.drop_packet(packet, DropReason::LinkDown);
            }
        }
    }

    fn has_link(&self, leaf: usize, spine: usize) -> bool {
        leaf < self.config.topology.leaves && spine < self.config.topology.spines
    }
}
