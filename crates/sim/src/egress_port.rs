//! An egress port: a queue and the state of its link.

use crate::egress_queue::EgressQueue;
use crate::link::{LinkConfig, Utilization};
use crate::packet::Packet;
use crate::time::Nanos;
use crate::topology::Port;

/// The sending side of a port.
#[derive(Debug)]
pub(crate) struct EgressPort {
    /// The port at the other end of the link.
    pub(crate) peer: Port,
    pub(crate) link: LinkConfig,
    pub(crate) queue: EgressQueue,
    pub(crate) utilization: Utilization,
    /// Whether a frame is being sent.
    pub(crate) busy: bool,
    /// Whether the link is in service.
    pub(crate) up: bool,
}

impl EgressPort {
    pub(crate) fn new(peer: Port, link: LinkConfig, queue_bytes: usize) -> EgressPort {
        EgressPort {
            peer,
            link,
            queue: EgressQueue::new(queue_bytes),
            utilization: Utilization::default(),
            busy: false,
            up: true,
        }
    }

    /// Starts to send `packet`; returns the time until its last bit has left.
    pub(crate) fn begin(&mut self, now: Nanos, packet: &Packet) -> Nanos {
        let transmission_ns = self.link.transmission_ns(packet.frame().len());
        self.utilization.add(now, transmission_ns);
        self.busy = true;
        transmission_ns
    }
}
