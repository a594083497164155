//! Generation of probe packets.

use std::sync::Arc;

use inband_wire::layers::{Layers, Link, Strictness};

use crate::counters::Outcome;
use crate::frame::{Frame, with_headroom};
use crate::interfaces::Interface;
use crate::output::OwnPacket;
use crate::passage::{DeviceMetadata, Hop};
use crate::probes::Probe;

use super::Node;
use super::visit::Visit;

impl Node {
    /// Generates the probes that are due at `now`.
    // int-2.1/modes-04, int-2.1/modes-06
    #[cold]
    pub(super) fn make_probes(&mut self, now: u64) {
        let profile = Arc::clone(&self.profile);
        for index in self.probes.take_due(&profile.probes, now) {
            let Some(probe) = profile.probes.get(index) else { continue };
            let outcome = self.make_probe(probe, now);
            self.counters.count(outcome);
        }
    }

    fn make_probe(&mut self, probe: &Probe, now: u64) -> Outcome {
        // Only the time of the probe is known; nothing was measured.
        let made_at = DeviceMetadata { ingress_timestamp: Some(now), ..DeviceMetadata::default() };
        let device = made_at.without(self.profile.withheld);
        let egress = self.profile.interfaces.get(probe.egress);
        let hop = Hop { identity: self.profile.identity, ingress: Interface::NONE, egress, device: &device };
        let parsed = Layers::parse(Link::Ethernet, &probe.frame, Strictness::Whole);
        let Ok(Some(layers)) = parsed else { return Outcome::NotCarried };
        let mut visit = Visit { discard: Some(probe.discard), ..Visit::new(Link::Ethernet, layers, hop) };
        let mut buffer = with_headroom(&probe.frame);
        let Some(mut frame) = Frame::behind_headroom(&mut buffer) else { return Outcome::NotStartedHeadroom };
        match self.start(&mut frame, &mut visit) {
            // A probe whose path ends here was reported and is not sent.
            Ok(Outcome::Discarded) => Outcome::ProbeMade,
            Ok(_) => {
                let bytes = frame.bytes().to_vec();
                let packet = OwnPacket { egress: probe.egress, link: Link::Ethernet, bytes };
                if self.probes.push(packet) { Outcome::ProbeMade } else { Outcome::ProbeShed }
            }
            Err(reason) => reason,
        }
    }
}
