//! How does a datagram become observations and events?

use std::net::SocketAddr;

use inband_model::{Ledger, LedgerView, Nanos, NodeId};
use inband_wire::report::ReportGroup;

use crate::ledger::{ReportLedger, StreamKey};
use crate::outbox::{Outbox, Output};
use crate::report::{Fault, Faults};
use crate::settings::CollectorSettings;

/// Takes telemetry reports in, and gives observations and events out.
///
/// It owns no socket and no clock: the caller hands in datagrams and the time, then polls until there is
/// nothing more.
#[derive(Debug)]
pub struct Collector {
    ledger: ReportLedger,
    malformed: Faults,
    outbox: Outbox,
}

impl Collector {
    /// Makes a collector that has seen nothing yet.
    #[must_use]
    pub fn new(settings: CollectorSettings) -> Collector {
        Collector {
            ledger: ReportLedger::new(settings.ledger),
            malformed: Faults::default(),
            outbox: Outbox::new(settings.max_outputs),
        }
    }

    /// Takes a datagram that arrived at `now` from one socket to another.
    ///
    /// A stream is named by the node id in it, not by where it comes from: addresses may change on the way.
    pub fn handle_datagram(&mut self, now: Nanos, _from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        self.ledger.receive();
        let group = match ReportGroup::parse(datagram) {
            Ok(group) => group,
            Err(error) => {
                self.malformed.count(&error);
                return self.ledger.reject();
            }
        };
        let node_id = NodeId(group.header.node_id());
        let key = StreamKey { node_id, hw_id: group.header.hw_id(), session: to };
        let noted = self.ledger.note(now, key, group.header.sequence(), &mut self.outbox);
        let mut reports = 0;
        for report in group.reports() {
            if let Err(error) = report {
                self.malformed.count(&error);
                return self.ledger.reject();
            }
            reports += 1;
        }
        self.ledger.count(now, noted, reports);
    }

    /// Does what has become due.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.ledger.handle_timeout(now, &mut self.outbox);
    }

    /// When `handle_timeout` has something to do; `None` when nothing is pending.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Nanos> {
        self.ledger.next_timeout()
    }

    /// Gives out the next observation or event, oldest first; `None` when there is no more.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outbox.pop()
    }

    /// Counts datagrams that came off the socket and were dropped there, because a queue was full.
    pub fn count_shed(&mut self, datagrams: u64) {
        self.ledger.shed(datagrams);
    }

    /// Counts datagrams the kernel dropped before the socket was read.
    pub fn count_kernel_dropped(&mut self, datagrams: u64) {
        self.ledger.kernel_dropped(datagrams);
    }

    /// The totals so far.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.ledger.total()
    }

    /// The totals so far, and every stream.
    #[must_use]
    pub fn ledger_view(&self) -> LedgerView {
        self.ledger.view()
    }

    /// What was wrong with the malformed datagrams.
    pub fn malformed(&self) -> impl Iterator<Item = Fault> {
        self.malformed.iter()
    }

    /// What was dropped or forgotten because a table was full.
    #[must_use]
    pub fn overflows(&self) -> Overflows {
        Overflows {
            forgotten_streams: self.ledger.forgotten_streams(),
            unfollowed_datagrams: self.ledger.unfollowed(),
            dropped_outputs: self.outbox.dropped(),
        }
    }
}

/// What was dropped or forgotten because a table was full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overflows {
    /// Streams forgotten to make room for new ones.
    pub forgotten_streams: u64,
    /// Datagrams of streams for which there was no room: accepted, but their losses are not known.
    pub unfollowed_datagrams: u64,
    /// Outputs nobody polled in time.
    pub dropped_outputs: u64,
}

#[cfg(test)]
mod tests;
