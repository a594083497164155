//! The engine, which makes reports of copies of headers, and the senders of its reports.

use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{Node, Output, Passage};
use inband_wire::layers::Link;

use super::senders::Senders;

/// What makes and sends reports.
pub(super) struct Reporter {
    pub(super) engine: Node,
    pub(super) senders: Senders,
    /// A packet at a time, behind headroom.
    buffer: Vec<u8>,
}

impl Reporter {
    pub(super) const fn new(engine: Node, senders: Senders) -> Self {
        Self { engine, senders, buffer: Vec::new() }
    }

    /// Shows the engine the headers of a packet, and sends what it reports of it.
    pub(super) fn handle_headers(&mut self, bytes: &[u8], passage: &Passage) {
        self.buffer.clear();
        self.buffer.resize(MAX_GROWTH, 0);
        self.buffer.extend_from_slice(bytes);
        let Some(mut frame) = Frame::behind_headroom(&mut self.buffer) else { return };
        // The packet itself has gone on its way; this is a copy of its headers, for the report.
        let _ = self.engine.handle_frame(Link::Ethernet, &mut frame, passage);
        self.send();
    }

    /// Lets the engine do what is due at `now`, of the clock of timestamps.
    pub(super) fn handle_timeout(&mut self, now: u64) {
        self.engine.handle_timeout(now);
        self.send();
    }

    /// Sends everything that waits in the engine, also what it would hold longer.
    pub(super) fn flush(&mut self) {
        self.engine.flush_reports();
        self.send();
    }

    /// Sends the reports that are due.
    fn send(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            // The engine sees copies of headers: what it would send beside reports has gone on its way already.
            if let Output::Report(datagram) = output {
                self.senders.send(&datagram);
            }
        }
    }
}
