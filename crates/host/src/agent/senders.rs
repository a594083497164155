//! The sockets by which reports get to their collectors.

use inband_linux::clock;
use inband_linux::connected::{Outcomes, Route, Sender};
use inband_node::ReportDatagram;
use inband_node::config::ReportConfig;

use super::notes::in_full;
use crate::error::HostError;

/// A sender for each report session.
#[derive(Debug)]
pub(super) struct Senders {
    senders: Vec<Sender>,
    pub(super) outcomes: Outcomes,
}

/// When the route to a collector that cannot be reached at the start is next looked up, nanoseconds.
const RETRY_NS: u64 = 1_000_000_000;

impl Senders {
    /// Opens a socket for each session; a collector that cannot be reached is noted and retried later.
    pub(super) fn open(report: &ReportConfig) -> (Self, Vec<String>) {
        let (mut senders, mut notes) = (Vec::new(), Vec::new());
        for ReportConfig { collector, source_address, source_port, dscp, .. } in report.sessions() {
            let route = Route { to: collector, from: source_address, source_port, dscp };
            let (sender, error) = Sender::open(route, clock::monotonic() + RETRY_NS);
            notes.extend(error.map(|reason| {
                let error = HostError::system(format!("send reports to {collector}"), reason);
                format!("note: {}; it is tried again", in_full(&error))
            }));
            senders.push(sender);
        }
        (Self { senders, outcomes: Outcomes::default() }, notes)
    }

    /// Sends a datagram to its collector, and counts the outcome.
    pub(super) fn send(&mut self, datagram: &ReportDatagram<'_>) {
        let Some(sender) = self.senders.get_mut(datagram.session) else { return };
        sender.send(datagram.payload, clock::monotonic(), &mut self.outcomes);
    }
}
