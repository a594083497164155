//! What do the programs tell of packets, and what becomes of it? The engine's reports.

use std::net::IpAddr;

use inband_node::frame::{Frame, MOST_GROWTH};
use inband_node::{DeviceMetadata, Output, Passage};
use inband_wire::int::Queue;
use inband_wire::int::metadata::NOT_AVAILABLE;
use inband_wire::layers::Link;
use zerocopy::FromBytes;

use super::Agent;
use super::port::Port;
use crate::abi::{Event, event_kind};

impl Agent {
    /// Takes what the programs have told.
    pub(super) fn hear_events(&mut self) {
        for _ in 0..MOST_EVENTS {
            let Some(item) = self.events.next() else { break };
            let Ok(event) = Event::read_from_bytes(&item) else { continue };
            drop(item);
            self.hear(&event);
        }
    }

    fn hear(&mut self, event: &Event) {
        if event.kind == event_kind::UNLEASED {
            if let Some(destination) = destination(&event.bytes) {
                self.control.handle_unleased(destination, event.time);
            }
            return;
        }
        let is_there = |port: &&Port| port.device.index == event.device || port.is_shim(event.device);
        let Some(port) = self.ports.iter().find(is_there) else { return };
        let (host, device) = (self.plan.host_interface, port.id);
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
        let captured = usize::try_from(event.captured).unwrap_or(usize::MAX).min(event.bytes.len());
        self.buffer.clear();
        self.buffer.resize(MOST_GROWTH, 0);
        self.buffer.extend_from_slice(event.bytes.get(..captured).unwrap_or_default());
        let Some(mut frame) = Frame::behind_headroom(&mut self.buffer) else { return };
        // The packet itself has gone on its way; this is a copy of its headers, for the report.
        let _ = self.engine.handle_frame(Link::Ethernet, &mut frame, &Passage { ingress, egress, metadata });
        self.send_reports();
    }

    pub(super) fn send_reports(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            // The engine sees copies of headers: what it would send beside reports has gone on its way already.
            if let Output::Report(datagram) = output {
                self.senders.send(&datagram);
            }
        }
    }
}

/// Where a packet goes, from the fixed parts of its frame.
fn destination(frame: &[u8]) -> Option<IpAddr> {
    match frame.get(12..14)? {
        [0x08, 0x00] => frame.get(30..)?.first_chunk::<4>().map(|address| IpAddr::from(*address)),
        [0x86, 0xdd] => frame.get(38..)?.first_chunk::<16>().map(|address| IpAddr::from(*address)),
        _ => None,
    }
}

/// Most events of one turn: other things have their turn, too.
const MOST_EVENTS: usize = 4096;
