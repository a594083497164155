//! The engine, which turns copies of headers into reports, and the senders of its reports.

use inband_node::frame::{Frame, MAX_GROWTH};
use inband_node::{Node, Output, Passage};
use inband_wire::layers::Link;

use super::senders::Senders;

/// The maker and sender of reports.
pub(super) struct Reporter {
    pub(super) engine: Node,
    pub(super) senders: Senders,
    /// One packet at a time, with headroom.
    buffer: Vec<u8>,
}

impl Reporter {
    pub(super) const fn new(engine: Node, senders: Senders) -> Self {
        Self { engine, senders, buffer: Vec::new() }
    }

    /// Passes the headers of a packet to the engine, and sends the resulting reports.
    pub(super) fn handle_headers(&mut self, bytes: &[u8], passage: &Passage) {
        self.buffer.clear();
        self.buffer.resize(MAX_GROWTH, 0);
        self.buffer.extend_from_slice(bytes);
        let Some(mut frame) = Frame::behind_headroom(&mut self.buffer) else { return };
        // The packet itself is already on its way; this is a copy of its headers, for the report.
        let _ = self.engine.handle_frame(Link::Ethernet, &mut frame, passage);
        self.send();
    }

    /// Lets the engine do its work that is due at `now`, of the clock of timestamps.
    pub(super) fn handle_timeout(&mut self, now: u64) {
        self.engine.handle_timeout(now);
        self.send();
    }

    /// Sends everything pending in the engine, including what it would hold longer.
    pub(super) fn flush(&mut self) {
        self.engine.flush_reports();
        self.send();
    }

    /// Sends the reports that are due.
    fn send(&mut self) {
        while let Some(output) = self.engine.poll_output() {
            // The engine works on copies of headers: everything else that it would send has already left.
            if let Output::Report(datagram) = output {
                self.senders.send(&datagram);
            }
        }
    }
}
