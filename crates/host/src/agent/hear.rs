//! Events of the programs, and how the agent handles them.

use std::net::SocketAddr;

use inband_node::{DeviceMetadata, Passage};
use inband_wire::int::Queue;
use inband_wire::int::metadata::NOT_AVAILABLE;
use zerocopy::FromBytes;

use super::Agent;
use super::notes::in_full;
use crate::abi::{Event, event_kind};
use crate::headers::{Headers, L3};
use crate::lease::{MESSAGE_BYTES, Unproven};

impl Agent {
    /// Handles the pending events.
    pub(super) fn hear_events(&mut self) {
        for _ in 0..MAX_EVENTS {
            let Some(item) = self.events.next() else { break };
            let Ok(event) = Event::read_from_bytes(&item) else { continue };
            drop(item);
            self.hear(&event);
        }
    }

    fn hear(&mut self, event: &Event) {
        let captured = usize::try_from(event.captured).unwrap_or(usize::MAX).min(event.bytes.len());
        let bytes = event.bytes.get(..captured).unwrap_or_default();
        if event.kind == event_kind::PROBE {
            return self.hear_probe(event, bytes);
        }
        if event.kind == event_kind::ANSWER {
            return self.hear_answer(event, bytes);
        }
        let Some(port) = self.ports.of(event.device) else { return };
        let (host, device) = (self.plan.host_interface, port.id);
        if event.kind == event_kind::UNPROVEN {
            let Some(headers) = Headers::read(bytes) else { return };
            let unproven =
                Unproven { flow: headers.flow, mtu: event.mtu, is_chosen: event.queue != NOT_CHOSEN };
            let (leaves_by, programs) = ((event.device, device), &mut self.kernel.programs);
            return self.control.handle_unproven(&unproven, bytes, leaves_by, programs, event.time);
        }
        let time = Some(event.time);
        let (ingress, egress, metadata) = match event.kind {
            event_kind::LEAVES => {
                let is_known = event.queue != NOT_AVAILABLE;
                let queue = is_known.then_some(Queue { id: 0, occupancy: event.queue });
                let metadata = DeviceMetadata {
                    egress_timestamp: time,
                    queue,
                    egress_utilization: port.utilization(),
                    ..DeviceMetadata::default()
                };
                (host, device, metadata)
            }
            event_kind::ARRIVED => {
                (device, host, DeviceMetadata { ingress_timestamp: time, ..DeviceMetadata::default() })
            }
            _ => return,
        };
        self.reporter.handle_headers(bytes, &Passage { ingress, egress, metadata });
    }

    /// Handles another agent's probe, from which the sink has removed INT.
    fn hear_probe(&mut self, event: &Event, bytes: &[u8]) {
        let Some(headers) = Headers::read(bytes) else { return };
        let is_whole = u32::try_from(L3 + headers.length).is_ok_and(|length| length == event.length);
        let message = bytes.get(headers.payload..).and_then(|payload| payload.get(..MESSAGE_BYTES));
        if let Some(message) = message.filter(|_| is_whole) {
            // Of merged datagrams the shim's far side removes INT.
            let device = self.ports.of(event.device).map_or(event.device, |port| port.device.index);
            let (from, times) = ((device, event.mtu), (event.time, self.plan.clock_offset.ns));
            self.control.handle_probe(message, &headers, from, &mut self.kernel.programs, times);
        }
    }

    /// Handles another agent's answer about a flow of a container; the container does not receive it.
    fn hear_answer(&mut self, event: &Event, bytes: &[u8]) {
        let Some(headers) = Headers::read(bytes) else { return };
        let message = bytes.get(headers.payload..).and_then(|payload| payload.get(..MESSAGE_BYTES));
        let Some(message) = message else { return };
        let from = SocketAddr::new(headers.flow.source, headers.flow.source_port);
        match self.control.handle_answer_to_container(message, from, &mut self.kernel.programs, event.time) {
            Ok(notes) => notes.into_iter().for_each(|note| self.notes.warn(note)),
            Err(error) => self.notes.warn(in_full(&error)),
        }
    }
}

/// In events of flows without a proof, in place of the queue: the destination may be a forged address.
const NOT_CHOSEN: u32 = 0;

/// Maximum number of events in one turn, so that other work gets its share.
const MAX_EVENTS: usize = 4096;
