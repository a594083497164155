//! The sockets by which reports get to their collectors.

use inband_linux::connected::{Outcomes, Route, Sender};
use inband_node::config::ReportConfig;
use inband_node::{Node, Output, OwnPacket};
use inband_wire::Link;

/// A sender for each report session.
#[derive(Debug)]
pub(crate) struct Senders {
    senders: Vec<Sender>,
    pub(crate) outcomes: Outcomes,
}

impl Senders {
    /// Opens a socket for each session; a collector that cannot be reached is retried later.
    pub(crate) fn open(report: &ReportConfig) -> Self {
        let sender = |session: ReportConfig| {
            let ReportConfig { collector, source_address, source_port, dscp, .. } = session;
            Sender::open(Route { to: collector, from: source_address, source_port, dscp }, 0).0
        };
        let senders = report.sessions().into_iter().map(sender).collect();
        Self { senders, outcomes: Outcomes::default() }
    }

    /// Sends the node's reports, up to its next packet, which it returns.
    pub(crate) fn drain(&mut self, node: &mut Node, now: u64) -> Option<OwnPacket> {
        while let Some(output) = node.poll_output() {
            match output {
                Output::Report(datagram) => {
                    if let Some(sender) = self.senders.get_mut(datagram.session) {
                        sender.send(datagram.payload, now, &mut self.outcomes);
                    }
                }
                other => {
                    if let Some(own) = other.into_packet().filter(|own| own.link == Link::Ethernet) {
                        return Some(own);
                    }
                }
            }
        }
        None
    }
}
